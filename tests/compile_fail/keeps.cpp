// SPDX-License-Identifier: Apache-2.0
// A stage that is to be given back something else than what it saved.
// expect: twinkle: what restores a stage must be void\(context&, weights\) of the worker
// expect: concept twinkle::restore_endpoint
#include "workers.hpp"

void build(tk::graph& g) {
  auto trainer = g.spawn<model>("model", {host});
  trainer.keeps(&model::state, &model::load_rows);
}
