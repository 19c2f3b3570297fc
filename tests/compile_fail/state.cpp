// SPDX-License-Identifier: Apache-2.0
// A publication of what is no weights.
// expect: twinkle: what a stage publishes must be weights\(context&\) of the worker
// expect: concept twinkle::state_endpoint
#include "workers.hpp"

void build(tk::graph& g) {
  auto trainer = g.spawn<model>("model", {host});
  (void)trainer.publishes(&model::train, {.after = &model::train});
}
