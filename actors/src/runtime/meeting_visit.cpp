// SPDX-License-Identifier: Apache-2.0
#include "meeting_visit.hpp"

#include <cstring>

#include "twinkle/base/error.hpp"

namespace twinkle::runtime {
namespace {

buffer copy_of(std::span<const std::byte> bytes) {
  return buffer::of(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void put(const buffer& from, interval part, std::span<std::byte> into) {
  if (!part.empty())
    std::memcpy(into.data() + part.first, from.data(), part.size());
}

}  // namespace

meeting_hall::visit::visit(meeting_hall& hall, const key& where, std::size_t index, interruption& body,
                           std::string agenda)
    : hall_(hall),
      where_(where),
      index_(index),
      body_(body),
      agenda_(std::move(agenda)),
      members_(hall.spread_of(where)) {}

meeting_hall::visit::~visit() {
  if (!at_)
    return;
  const std::lock_guard lock(hall_.mutex_);
  std::erase(at_->waiting, &body_.blocking());
  --at_->inside;
  ++at_->left;
  const auto found = hall_.meetings_.find(where_);
  const bool over = at_->left == members_.count || (at_->inside == 0 && hall_.all_through(where_));
  if (over && found != hall_.meetings_.end() && found->second == at_)
    hall_.meetings_.erase(found);
}

void meeting_hall::visit::tell(std::size_t node, hall_letter::kind what, interval part, buffer values) const {
  hall_.outside_->send(node, {where_, what, index_, part, std::move(values), agenda_});
}

void meeting_hall::visit::lay_for_owners(std::span<const std::byte> values, const even_parts& parts,
                                         bool sums_are_told) {
  const buffer all = copy_of(values);
  for (const auto& [node, runs] : members_.elsewhere)
    for (const interval& owners : runs) {
      const interval part = parts.of(owners);
      tell(node, hall_letter::kind::values, part, all.part(part.first, part.size()));
    }
  const std::size_t far = where_.members.size() - members_.count;
  enter(meeting_piece{{0, values.size()}, all}, members_.count + far * members_.here.size(),
        sums_are_told ? parts.filled() : 0);
}

void meeting_hall::visit::lay_for_all(std::span<const std::byte> values, interval part) {
  const buffer mine = copy_of(values.subspan(part.first, part.size()));
  for (const auto& [node, runs] : members_.elsewhere)
    tell(node, hall_letter::kind::values, part, mine);
  enter(meeting_piece{part, mine}, where_.members.size(), 0);
}

void meeting_hall::visit::send(std::span<const std::byte> values) {
  const interval all{0, values.size()};
  const buffer mine = copy_of(values);
  for (const auto& [node, runs] : members_.elsewhere)
    tell(node, hall_letter::kind::values, all, mine);
  if (members_.elsewhere.empty())
    enter(meeting_piece{all, mine}, 1, 0);
}

void meeting_hall::visit::receive() { enter(std::nullopt, 1, 0); }

void meeting_hall::visit::enter(std::optional<meeting_piece> mine, std::size_t pieces_due,
                                std::size_t sums_due) {
  const gate* self = &body_.blocking();
  const std::lock_guard lock(hall_.mutex_);
  at_ = hall_.open(where_);
  ++at_->inside;
  at_->waiting.push_back(&body_.blocking());
  at_->pieces_due = pieces_due;
  at_->sums_due = sums_due;
  at_->hear(agenda_);
  if (mine)
    at_->lay(index_, *std::move(mine), self);
}

void meeting_hall::visit::await(std::unique_lock<std::mutex>& lock, const std::size_t& there,
                                const std::size_t& due) {
  try {
    body_.await(lock, [&] { return there >= due || at_->another; });
  } catch (...) {  // it is called away, and may be gone before the others come
    if (!lock.owns_lock())
      lock.lock();
    hall_.through(where_.members[index_], where_.call + 1);
    throw;
  }
  if (at_->another)
    throw error("the workers of a collective disagree: one wants " + agenda_ + ", another " +
                (agenda_ == *at_->agenda ? *at_->another : *at_->agenda));
}

buffer meeting_hall::visit::laid_by(std::size_t member, interval part, std::size_t element_bytes) const {
  if (part.empty())
    return {};
  for (const meeting_piece& each : at_->laid[member])
    if (each.part.first <= part.first && part.end <= each.part.end && each.part.first % element_bytes == 0)
      return each.values.part(part.first - each.part.first, part.size());
  throw error(agenda_ + ": worker " + std::to_string(where_.members[member]) + " laid down no bytes " +
              to_string(part) + " of its values");
}

std::vector<buffer> meeting_hall::visit::laid_in(interval part, std::size_t element_bytes) {
  std::unique_lock lock(hall_.mutex_);
  await(lock, at_->pieces, at_->pieces_due);
  std::vector<buffer> laid;
  laid.reserve(where_.members.size());
  for (std::size_t member = 0; member < where_.members.size(); ++member)
    laid.push_back(laid_by(member, part, element_bytes));
  return laid;
}

void meeting_hall::visit::take(std::size_t member, interval part, std::span<std::byte> values) {
  std::unique_lock lock(hall_.mutex_);
  await(lock, at_->pieces, at_->pieces_due);
  if (member == index_)
    return;
  const buffer laid = laid_by(member, part, 1);
  lock.unlock();
  put(laid, part, values);
}

void meeting_hall::visit::add(interval own, buffer sum) {
  if (own.empty())
    return;
  for (const auto& [node, runs] : members_.elsewhere)
    tell(node, hall_letter::kind::sum, own, sum);
  const std::lock_guard lock(hall_.mutex_);
  at_->add(index_, {own, std::move(sum)}, &body_.blocking());
}

void meeting_hall::visit::take_sums(std::span<std::byte> values, const even_parts& parts) {
  std::unique_lock lock(hall_.mutex_);
  await(lock, at_->summed, at_->sums_due);
  const std::vector<std::optional<meeting_piece>> sums = at_->sums;
  lock.unlock();
  for (std::size_t owner = 0; owner < parts.filled(); ++owner) {
    if (!sums[owner] || sums[owner]->part != parts.of(owner))
      throw error(agenda_ + ": worker " + std::to_string(where_.members[owner]) + " sent no sum of bytes " +
                  to_string(parts.of(owner)));
    put(sums[owner]->values, parts.of(owner), values);
  }
}

}  // namespace twinkle::runtime
