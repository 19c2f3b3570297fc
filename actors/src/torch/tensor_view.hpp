// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/buffer.hpp"

namespace twinkle::torch_policy {

/// A dense column as a tensor of [rows, row shape…] on the batch's own memory, which the tensor keeps alive. Others
/// read that memory too: it is for reading, and whoever wants to write clones it. Throws `error` for what is no dense
/// column.
[[nodiscard]] at::Tensor tensor_view(const batch& rows, std::string_view name);

/// The numbers of a tensor in row-major order: its own memory, which the buffer keeps alive. Nobody may write to the
/// tensor from then on. Throws `error` for a tensor that is not contiguous or not in main memory.
[[nodiscard]] buffer buffer_of(const at::Tensor& values);

}  // namespace twinkle::torch_policy
