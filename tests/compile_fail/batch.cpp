// SPDX-License-Identifier: Apache-2.0
// An endpoint that returns a number for a batch.
// expect: twinkle: what a stream goes to must be batch, metrics or void \(context&, batch\) of the worker
// expect: concept twinkle::batch_endpoint
#include "workers.hpp"

void build(tk::graph& g) {
  auto source = g.spawn<origin>("source", {host}, std::size_t{4});
  auto trainer = g.spawn<model>("model", {host});
  (void)source.emits(&origin::next).to(trainer, &model::count);
}
