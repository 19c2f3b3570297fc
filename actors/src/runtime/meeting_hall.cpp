// SPDX-License-Identifier: Apache-2.0
#include "meeting_hall.hpp"

#include <algorithm>
#include <cstring>

#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::runtime {
namespace {

template <class T>
void add_in_order(const std::vector<std::vector<std::byte>>& laid, interval part, reduction how,
                  std::vector<std::byte>& into) {
  auto* out = reinterpret_cast<T*>(into.data());
  for (std::size_t rank = 0; rank < laid.size(); ++rank) {
    const auto* in = reinterpret_cast<const T*>(laid[rank].data());
    for (std::size_t at = part.first; at < part.end; ++at)
      if (rank == 0)
        out[at] = in[at];
      else if (how == reduction::max)
        out[at] = std::max(out[at], in[at]);
      else
        out[at] = static_cast<T>(out[at] + in[at]);
  }
}

void add_in_order(element type, const std::vector<std::vector<std::byte>>& laid, interval part, reduction how,
                  std::vector<std::byte>& into) {
  switch (type) {
    case element::u8: return add_in_order<std::uint8_t>(laid, part, how, into);
    case element::i32: return add_in_order<std::int32_t>(laid, part, how, into);
    case element::i64: return add_in_order<std::int64_t>(laid, part, how, into);
    case element::f32: return add_in_order<float>(laid, part, how, into);
    case element::f64: return add_in_order<double>(laid, part, how, into);
  }
}

}  // namespace

std::shared_ptr<meeting_hall::meeting> meeting_hall::enter(const key& where, std::size_t index, interruption& body,
                                                           const std::string& agenda,
                                                           std::span<const std::byte> values) {
  std::shared_ptr<meeting>& at = meetings_[where];
  if (!at) {
    at = std::make_shared<meeting>();
    at->agenda = agenda;
    at->laid.resize(where.members.size());
  }
  at->disagreed = at->disagreed || at->agenda != agenda;
  at->laid[index].assign(values.begin(), values.end());
  at->waiting.push_back(&body.blocking());
  return at;
}

// One more has come this far; returns when all have.
void meeting_hall::gather(std::unique_lock<std::mutex>& lock, meeting& at, std::size_t& counter, std::size_t size,
                          interruption& body, const std::string& agenda) {
  ++counter;
  if (counter == size || at.disagreed)
    for (gate* each : at.waiting)
      if (each != &body.blocking())
        each->wake();
  try {
    body.await(lock, [&] { return counter == size || at.disagreed; });
  } catch (...) {  // it is called away, and may be gone before the others come
    if (!lock.owns_lock())
      lock.lock();
    std::erase(at.waiting, &body.blocking());
    throw;
  }
  if (at.disagreed)
    throw error("the workers of a collective disagree: one wants " + agenda + ", another " +
                (agenda == at.agenda ? "something else" : at.agenda));
}

void meeting_hall::leave(const key& where, meeting& at) {
  if (++at.left == where.members.size())
    meetings_.erase(where);
}

void meeting_hall::all_reduce(const key& where, std::size_t index, interruption& body, element type, reduction how,
                              std::span<std::byte> values) {
  const std::size_t size = where.members.size();
  const std::size_t count = values.size() / bytes_of(type);
  const std::string agenda = "all-reduce " + std::string(how == reduction::max ? "(max) of " : "of ") +
                             std::to_string(count) + " " + std::string(name_of(type));
  std::unique_lock lock(mutex_);
  const std::shared_ptr<meeting> at = enter(where, index, body, agenda, values);
  if (at->sum.size() != values.size())
    at->sum.resize(values.size());
  gather(lock, *at, at->arrived, size, body, agenda);
  lock.unlock();
  add_in_order(type, at->laid, even_part(count, size, index), how, at->sum);
  lock.lock();
  gather(lock, *at, at->added, size, body, agenda);
  leave(where, *at);
  lock.unlock();
  if (!values.empty())
    std::memcpy(values.data(), at->sum.data(), values.size());
}

void meeting_hall::broadcast(const key& where, std::size_t index, interruption& body, std::span<std::byte> values,
                             std::size_t root) {
  if (root >= where.members.size())
    throw error("broadcast from " + std::to_string(root) + ", but there are only " +
                std::to_string(where.members.size()) + " workers in this collective");
  const std::string agenda =
      "broadcast of " + std::to_string(values.size()) + " bytes from " + std::to_string(root);
  std::unique_lock lock(mutex_);
  const std::span<const std::byte> laid = index == root ? std::span<const std::byte>(values) : std::span<const std::byte>();
  const std::shared_ptr<meeting> at = enter(where, index, body, agenda, laid);
  gather(lock, *at, at->arrived, where.members.size(), body, agenda);
  leave(where, *at);
  lock.unlock();
  if (!values.empty() && index != root)
    std::memcpy(values.data(), at->laid[root].data(), values.size());
}

}  // namespace twinkle::runtime
