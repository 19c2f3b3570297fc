// SPDX-License-Identifier: Apache-2.0
#include "rank_order.hpp"

#include <algorithm>

namespace twinkle::runtime {
namespace {

template <class T>
void add(const buffer& from, reduction how, std::vector<std::byte>& into) {
  auto* out = reinterpret_cast<T*>(into.data());
  const T* in = from.as<T>();
  const std::size_t count = into.size() / sizeof(T);
  if (how == reduction::max)
    for (std::size_t at = 0; at < count; ++at)
      out[at] = std::max(out[at], in[at]);
  else
    for (std::size_t at = 0; at < count; ++at)
      out[at] = static_cast<T>(out[at] + in[at]);
}

void add(element type, const buffer& from, reduction how, std::vector<std::byte>& into) {
  switch (type) {
    case element::u8: return add<std::uint8_t>(from, how, into);
    case element::i32: return add<std::int32_t>(from, how, into);
    case element::i64: return add<std::int64_t>(from, how, into);
    case element::f32: return add<float>(from, how, into);
    case element::f64: return add<double>(from, how, into);
  }
}

}  // namespace

std::vector<std::byte> add_in_rank_order(element type, reduction how, std::span<const buffer> ranks) {
  const buffer& first = ranks.front();
  std::vector<std::byte> sum(first.data(), first.data() + first.bytes());
  for (const buffer& each : ranks.subspan(1))
    add(type, each, how, sum);
  return sum;
}

}  // namespace twinkle::runtime
