// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/identity.hpp"

#include <algorithm>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {

identity child_of(const identity& parent, std::uint32_t index, std::uint32_t count) {
  if (parent.depth == identity::depth_max)
    throw error("row " + to_string(parent) + " lies " + std::to_string(identity::depth_max) +
                " expansions deep, which is the most; it cannot be expanded again");
  identity id = parent;
  id.path[id.depth++] = {index, count};
  return id;
}

identity parent_of(identity id) {
  ensure(id.depth > 0, "a row with a parent");
  id.path[--id.depth] = {};
  return id;
}

bool descends(const identity& id, const identity& ancestor) {
  if (id.source != ancestor.source || id.sequence != ancestor.sequence || id.depth < ancestor.depth)
    return false;
  for (std::uint32_t at = 0; at < ancestor.depth; ++at)
    if (id.path[at] != ancestor.path[at])
      return false;
  return true;
}

bool precedes(const identity& a, const identity& b) {
  if (a.source != b.source)
    return a.source < b.source;
  if (a.sequence != b.sequence)
    return a.sequence < b.sequence;
  for (std::size_t at = 0; at < std::min(a.depth, b.depth); ++at)
    if (a.path[at] != b.path[at])
      return a.path[at] < b.path[at];
  return a.depth < b.depth;
}

std::string to_string(const identity& id) {
  std::string text = std::to_string(id.source) + ":" + std::to_string(id.sequence);
  for (std::uint32_t at = 0; at < id.depth; ++at)
    text += "/" + std::to_string(id.path[at].index);
  return text;
}

generator random_of(std::uint64_t seed, const identity& id, std::string_view purpose) {
  digest key;
  key.add(seed).add(purpose).add(id.source).add(id.sequence).add(id.depth);
  for (std::uint32_t at = 0; at < id.depth; ++at)
    key.add(id.path[at].index);
  return generator{key.value()};
}

}  // namespace twinkle
