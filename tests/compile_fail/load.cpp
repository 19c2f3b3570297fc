// SPDX-License-Identifier: Apache-2.0
// Weights into an endpoint that takes rows.
// expect: twinkle: what weights are published to must be void or metrics \(context&, weights\) of the worker
// expect: concept twinkle::load_endpoint
#include "workers.hpp"

void build(tk::graph& g) {
  auto trainer = g.spawn<model>("model", {host});
  (void)trainer.publishes(&model::state, {.after = &model::train}).to(trainer, &model::load_rows);
}
