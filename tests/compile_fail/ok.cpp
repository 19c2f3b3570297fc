// SPDX-License-Identifier: Apache-2.0
// The control: all that the others do wrong, done right.
#include "workers.hpp"

inline constexpr tk::column<float> reward{"reward"};

float build(tk::graph& g, const tk::batch& rows) {
  auto source = g.spawn<origin>("source", {host}, std::size_t{4});
  auto trainer = g.spawn<model>("model", {host, tk::device_mesh::from_sizes({.dp_size = 1, .tp_size = 1})});
  source.emits(&origin::next).to(trainer, &model::train).stop_after(1);
  trainer.publishes(&model::state, {.after = &model::train}).to(trainer, &model::load);
  const tk::dense_view<float> rewards = rows[reward];
  return rewards[0];
}
