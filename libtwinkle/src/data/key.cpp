// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/key.hpp"

namespace twinkle {

std::string to_string(const column_type& type) {
  if (type.kind == column_type::form::text)
    return "text";
  std::string name(name_of(type.type));
  if (type.kind == column_type::form::ragged)
    return "ragged " + name;
  if (type.shape.rank == 0)
    return name;
  std::string sizes;
  for (std::uint32_t at = 0; at < type.shape.rank; ++at)
    sizes += (at == 0 ? "" : ",") + std::to_string(type.shape.sizes[at]);
  return name + "[" + sizes + "]";
}

}  // namespace twinkle
