// SPDX-License-Identifier: Apache-2.0
#include "meeting_hall.hpp"

#include <algorithm>

#include "meeting_visit.hpp"
#include "rank_order.hpp"
#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::runtime {
namespace {

std::string name_of(const hall_letter& letter) {
  const meeting_key& where = letter.meeting;
  return std::string(letter.what == hall_letter::kind::sum ? "the sum" : "the values") + " of member " +
         std::to_string(letter.from) + " for meeting " + std::to_string(where.ordinal) + " of workers " +
         list_of_numbers(where.members) + " in call " + std::to_string(where.call);
}

std::string reducing(std::string_view what, element type, reduction how, std::size_t bytes) {
  return std::string(what) + (how == reduction::max ? " (max) of " : " of ") +
         std::to_string(bytes / bytes_of(type)) + " " + std::string(twinkle::name_of(type));
}

[[noreturn]] void refuse(const hall_letter& letter, const std::string& why) {
  throw error("another node sends " + name_of(letter) + ", but " + why);
}

}  // namespace

bool meeting_hall::is_here(std::size_t worker) const {
  return outside_ == nullptr || outside_->node_of(worker) == outside_->here();
}

meeting_hall::spread meeting_hall::spread_of(const key& where) const {
  const std::size_t size = where.members.size();
  spread found;
  if (outside_ == nullptr) {
    found.count = size;
    found.here.push_back({0, size});
    return found;
  }
  for (std::size_t index = 0; index < size; ++index) {
    const std::size_t node = outside_->node_of(where.members[index]);
    std::vector<interval>& runs = node == outside_->here() ? found.here : found.elsewhere[node];
    found.count += node == outside_->here() ? 1 : 0;
    if (!runs.empty() && runs.back().end == index)
      runs.back().end = index + 1;
    else
      runs.push_back({index, index + 1});
  }
  return found;
}

const std::shared_ptr<meeting>& meeting_hall::open(const key& where) {
  std::shared_ptr<meeting>& at = meetings_[where];
  if (!at)
    at = std::make_shared<meeting>(where.members.size());
  return at;
}

bool meeting_hall::all_through(const key& where) const {
  return std::all_of(where.members.begin(), where.members.end(), [&](std::size_t worker) {
    return !is_here(worker) || (worker < first_left_.size() && first_left_[worker] > where.call);
  });
}

void meeting_hall::through(std::size_t worker, route::call_id first_left) {
  if (worker >= first_left_.size())
    first_left_.resize(worker + 1);
  first_left_[worker] = std::max(first_left_[worker], first_left);
  for (auto each = meetings_.begin(); each != meetings_.end() && each->first.call < first_left;)
    if (each->second->inside == 0 && all_through(each->first))
      each = meetings_.erase(each);
    else
      ++each;
}

void meeting_hall::begins(std::size_t worker, route::call_id call) {
  const std::lock_guard lock(mutex_);
  through(worker, call);
}

void meeting_hall::check(const hall_letter& letter, const spread& members) const {
  const key& where = letter.meeting;
  if (letter.from >= where.members.size())
    refuse(letter, "there are only " + std::to_string(where.members.size()) + " members");
  if (is_here(where.members[letter.from]))
    refuse(letter, "that worker is here");
  if (members.count == 0)
    refuse(letter, "none of those workers is here");
  if (letter.part.first > letter.part.end || letter.part.size() != letter.values.bytes())
    refuse(letter, "says that they are bytes " + to_string(letter.part) + ", where " +
                       std::to_string(letter.values.bytes()) + " are");
}

void meeting_hall::arrived(hall_letter&& letter) {
  ensure(outside_ != nullptr, "letters come to a hall that has an outside");
  const key& where = letter.meeting;
  const spread members = spread_of(where);
  check(letter, members);
  const bool is_sum = letter.what == hall_letter::kind::sum;
  const std::lock_guard lock(mutex_);
  if (meetings_.find(where) == meetings_.end() && all_through(where))
    return;
  meeting& at = *open(where);
  if (is_sum ? at.sums[letter.from].has_value() : at.laid[letter.from].size() == members.here.size())
    refuse(letter, "they are there already");
  at.hear(letter.agenda);
  if (is_sum)
    at.add(letter.from, {letter.part, std::move(letter.values)}, nullptr);
  else
    at.lay(letter.from, {letter.part, std::move(letter.values)}, nullptr);
}

std::size_t meeting_hall::meetings() const {
  const std::lock_guard lock(mutex_);
  return meetings_.size();
}

void meeting_hall::all_reduce(const key& where, std::size_t index, interruption& body, element type, reduction how,
                              std::span<std::byte> values) {
  const even_parts parts{values.size(), where.members.size(), bytes_of(type)};
  visit here(*this, where, index, body, reducing("all-reduce", type, how, values.size()));
  here.lay_for_owners(values, parts, true);
  here.add(parts.of(index), buffer::of(add_in_rank_order(type, how, here.laid_in(parts.of(index), bytes_of(type)))));
  here.take_sums(values, parts);
}

void meeting_hall::reduce_scatter(const key& where, std::size_t index, interruption& body, element type,
                                  reduction how, std::span<std::byte> values) {
  const even_parts parts{values.size(), where.members.size(), bytes_of(type)};
  const interval own = parts.of(index);
  visit here(*this, where, index, body, reducing("reduce-scatter", type, how, values.size()));
  here.lay_for_owners(values, parts, false);
  const std::vector<std::byte> sum = add_in_rank_order(type, how, here.laid_in(own, bytes_of(type)));
  std::copy(sum.begin(), sum.end(), values.begin() + static_cast<std::ptrdiff_t>(own.first));
}

void meeting_hall::all_gather(const key& where, std::size_t index, interruption& body, element type,
                              std::span<std::byte> values) {
  const even_parts parts{values.size(), where.members.size(), bytes_of(type)};
  visit here(*this, where, index, body, reducing("all-gather", type, reduction::sum, values.size()));
  here.lay_for_all(values, parts.of(index));
  for (std::size_t member = 0; member < where.members.size(); ++member)
    here.take(member, parts.of(member), values);
}

void meeting_hall::send(const key& where, interruption& body, std::span<const std::byte> values) {
  visit here(*this, where, 0, body, "a message of " + std::to_string(values.size()) + " bytes");
  here.send(values);
}

void meeting_hall::receive(const key& where, interruption& body, std::span<std::byte> values) {
  visit here(*this, where, 1, body, "a message of " + std::to_string(values.size()) + " bytes");
  here.receive();
  here.take(0, {0, values.size()}, values);
}

void meeting_hall::broadcast(const key& where, std::size_t index, interruption& body, std::span<std::byte> values,
                             std::size_t root) {
  if (root >= where.members.size())
    throw error("broadcast from " + std::to_string(root) + ", but there are only " +
                std::to_string(where.members.size()) + " workers in this collective");
  visit here(*this, where, index, body,
             "broadcast of " + std::to_string(values.size()) + " bytes from " + std::to_string(root));
  const interval all{0, values.size()};
  here.lay_for_all(values, index == root ? all : interval{});
  here.take(root, all, values);
}

}  // namespace twinkle::runtime
