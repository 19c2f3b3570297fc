// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/sharding.hpp"

#include <algorithm>

#include "twinkle/base/error.hpp"

namespace twinkle {

namespace {

std::vector<std::size_t> ranks_that_share(const sharding& how, const device_mesh& mesh, std::size_t rank) {
  return mesh.group(rank, axis_list(how.axes.begin(), how.axes.end()));
}

}  // namespace

std::optional<std::string> problem_of(const sharding& how) try {
  if (how.axes.empty())
    return ".shards names no axis; give the axes of the mesh whose ranks share a tensor";
  (void)ranks_that_share(how, device_mesh{}, 0);
  return how.along ? std::nullopt
                   : std::optional<std::string>(".shards does not say along which dimension; give it .along");
} catch (const error& wrong) {
  return ".shards: " + std::string(wrong.what());
}

share share_of(const sharding& how, const worker_place& who) {
  const std::vector<std::size_t> group = ranks_that_share(how, *who.mesh, who.ranks.front());
  share found{{group.size(), 0}, group.size()};
  for (std::size_t part = 0; part < group.size(); ++part)
    if (std::find(who.ranks.begin(), who.ranks.end(), group[part]) != who.ranks.end())
      found.parts = {std::min(found.parts.first, part), part + 1};
  return found;
}

shard_rule shards_for(const sharding& how, const worker_place& who) {
  const share has = share_of(how, who);
  if (has.parts.size() == has.of || !how.along)
    return nullptr;
  return [has, along = how.along](std::string_view name, std::span<const std::size_t> shape) -> std::optional<shard> {
    const std::optional<std::size_t> dimension = along(name, shape);
    if (!dimension)
      return std::nullopt;
    const std::size_t whole = *dimension < shape.size() ? shape[*dimension] : 0;
    return shard{*dimension,
                 {even_part(whole, has.of, has.parts.first).first, even_part(whole, has.of, has.parts.end - 1).end},
                 whole};
  };
}

}  // namespace twinkle
