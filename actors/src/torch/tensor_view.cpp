// SPDX-License-Identifier: Apache-2.0
#include "tensor_view.hpp"

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "twinkle/base/error.hpp"

namespace twinkle::torch_policy {
namespace {

template <storable T>
at::Tensor view_of(const batch& rows, std::string_view name, const row_shape& shape) {
  const dense_view<T> values = rows[column<T>{name, shape}];
  std::vector<std::int64_t> sizes{static_cast<std::int64_t>(rows.rows())};
  for (std::uint32_t at = 0; at < shape.rank; ++at)
    sizes.push_back(shape.sizes[at]);
  // libtorch has no tensors of constant numbers: that nobody writes is a promise.
  return at::from_blob(const_cast<T*>(values.values().data()), sizes, [values](void*) {},
                       at::TensorOptions(c10::CppTypeToScalarType<T>::value));
}

}  // namespace

at::Tensor tensor_view(const batch& rows, std::string_view name) {
  const column_type type = rows.type(name);
  if (type.kind != column_type::form::dense)
    throw error("column '" + std::string(name) + "' is " + to_string(type) + "; only a dense column is a tensor");
  switch (type.type) {
    case element::u8: return view_of<std::uint8_t>(rows, name, type.shape);
    case element::i32: return view_of<std::int32_t>(rows, name, type.shape);
    case element::i64: return view_of<std::int64_t>(rows, name, type.shape);
    case element::f32: return view_of<float>(rows, name, type.shape);
    case element::f64: break;
  }
  return view_of<double>(rows, name, type.shape);
}

buffer buffer_of(const at::Tensor& values) {
  if (!values.is_contiguous() || !values.device().is_cpu())
    throw error("a tensor that is not contiguous in main memory cannot be borrowed; call contiguous() or cpu() first");
  return {values.data_ptr(), values.nbytes(), std::make_shared<const at::Tensor>(values)};
}

}  // namespace twinkle::torch_policy
