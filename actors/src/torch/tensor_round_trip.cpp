// SPDX-License-Identifier: Apache-2.0
#include "tensor_round_trip.hpp"

#include <ATen/ATen.h>

#include <utility>

#include "tensor_view.hpp"

namespace twinkle::torch_policy {

tensor_round_trip round_trip(batch rows, std::string_view name, bool transposed) {
  at::Tensor lent = tensor_view(std::exchange(rows, batch{}), name);
  if (transposed)
    lent = lent.t();
  return {{lent.sizes().begin(), lent.sizes().end()}, lent.sum().item<double>(), buffer_of(lent)};
}

}  // namespace twinkle::torch_policy
