// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <twinkle/flow/graph.hpp>
#include <twinkle/torch/torch_model.hpp>

// Linking is the test: the model's code and libtorch's are pulled in.
int main() {
  twinkle::graph g{"learner"};
  const twinkle::device_group trainer{.name = "trainer", .ranks = 1};
  static_cast<void>(g.spawn<twinkle::torch_model>("model", {trainer}, twinkle::torch_model::options{}));
  std::printf("%zu stage\n", g.plan().stages.size());
}
