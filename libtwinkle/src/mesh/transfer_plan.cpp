// SPDX-License-Identifier: Apache-2.0
#include "twinkle/mesh/transfer_plan.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

// Sums of what is moved cannot wrap around below this.
constexpr std::size_t extent_max = std::size_t{1} << 40;

void check(const layout& given, std::string_view side) {
  const std::string who = "transfer plan: the " + std::string(side) + " layout";
  if (given.extent > extent_max)
    throw error(who + " has an extent of " + std::to_string(given.extent) + "; it must be at most " +
                std::to_string(extent_max));
  if (!given.places.empty() && given.places.size() != given.held.size())
    throw error(who + " has " + std::to_string(given.held.size()) + " ranks, but the places of " +
                std::to_string(given.places.size()) + "; give one for each rank, or none");
  for (std::size_t rank = 0; rank < given.held.size(); ++rank)
    if (given.held[rank].first > given.held[rank].end || given.held[rank].end > given.extent)
      throw error(who + " gives " + to_string(given.held[rank]) + " to rank " + std::to_string(rank) +
                  ", which is no interval of [0," + std::to_string(given.extent) + ")");
}

struct holder {
  std::size_t place = 0;
  interval rows;
  std::size_t rank = 0;
  std::size_t furthest = 0;  // who reaches furthest of those that begin no later: the first of its replicas
  std::size_t replicas = 0;  // counted at the first of them, as are their turns
  std::size_t turn = 0;
};

// Holders of one place lie together, by where they begin; indices count from the first of their place.
std::vector<holder> index_of(const layout& source, bool by_place) {
  std::vector<holder> holders;
  holders.reserve(source.held.size());
  for (std::size_t rank = 0; rank < source.held.size(); ++rank)
    if (!source.held[rank].empty())
      holders.push_back({by_place ? source.places[rank] : 0, source.held[rank], rank});
  std::sort(holders.begin(), holders.end(), [](const holder& a, const holder& b) {
    return std::tie(a.place, a.rows.first, a.rows.end, a.rank) < std::tie(b.place, b.rows.first, b.rows.end, b.rank);
  });
  std::size_t place = 0;
  std::size_t replica = 0;
  std::size_t furthest = 0;
  for (std::size_t at = 0; at < holders.size(); ++at) {
    if (holders[at].place != holders[place].place)
      place = replica = furthest = at;
    if (holders[at].rows != holders[replica].rows)
      replica = at;
    ++holders[replica].replicas;
    if (holders[at].rows.end >= holders[furthest].rows.end)
      furthest = replica;
    holders[at].furthest = furthest - place;
  }
  return holders;
}

std::span<holder> at_place(std::vector<holder>& holders, std::size_t place) {
  const auto [first, end] = std::ranges::equal_range(holders, place, {}, &holder::place);
  return {first, end};
}

// Goes along `wanted` in the fewest steps: take(rank, rows) for what `among` holds, lack(rows) for what it does not.
template <class Take, class Lack>
void cover(std::span<holder> among, interval wanted, Take&& take, Lack&& lack) {
  for (std::size_t at = wanted.first; at < wanted.end;) {
    const auto later =
        std::ranges::upper_bound(among, at, {}, [](const holder& each) { return each.rows.first; });
    const std::size_t best = later == among.begin() ? among.size() : std::prev(later)->furthest;
    interval part{at, wanted.end};
    if (best < among.size() && among[best].rows.end > at) {
      holder& chosen = among[best];
      part.end = std::min(part.end, chosen.rows.end);
      take(among[best + chosen.turn++ % chosen.replicas].rank, part);
    } else {
      if (later != among.end())
        part.end = std::min(part.end, later->rows.first);
      lack(part);
    }
    at = part.end;
  }
}

}  // namespace

std::size_t transfer_plan::rows_moved() const {
  std::size_t rows = 0;
  for (const transfer& each : transfers)
    rows += each.rows.size();
  return rows;
}

transfer_plan plan_transfers(const layout& source, const layout& target) {
  check(source, "source");
  check(target, "target");
  if (source.extent != target.extent)
    throw error("transfer plan: the source layout has an extent of " + std::to_string(source.extent) +
                ", the target layout one of " + std::to_string(target.extent) + "; they must be the same");
  const bool placed = !source.places.empty() && !target.places.empty();
  std::vector<holder> everywhere = index_of(source, false);
  std::vector<holder> local = placed ? index_of(source, true) : std::vector<holder>{};
  transfer_plan plan;
  for (std::size_t rank = 0; rank < target.held.size(); ++rank) {
    const auto stay = [&](std::size_t from, interval rows) { plan.in_place.push_back({from, rank, rows}); };
    const auto move = [&](std::size_t from, interval rows) { plan.transfers.push_back({from, rank, rows}); };
    const auto fail = [&](interval rows) {
      throw error("transfer plan: target rank " + std::to_string(rank) + " needs " + to_string(rows) +
                  ", which no source rank holds");
    };
    const auto fetch = [&](interval rows) { cover(everywhere, rows, move, fail); };
    if (placed)
      cover(at_place(local, target.places[rank]), target.held[rank], stay, fetch);
    else
      fetch(target.held[rank]);
  }
  return plan;
}

}  // namespace twinkle
