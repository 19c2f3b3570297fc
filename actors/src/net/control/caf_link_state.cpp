// SPDX-License-Identifier: Apache-2.0
#include "caf_link_state.hpp"

#include <caf/send.hpp>

#include "caf_parcel.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net::control {
namespace {

link_options checked(link_options how) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const std::size_t piled = how.unacknowledged_bytes_max;
  if (piled > most || piled < 64 || how.message_bytes_max > piled - 64)
    throw error("a link with message_bytes_max " + std::to_string(how.message_bytes_max) +
                " and unacknowledged_bytes_max " + std::to_string(piled) +
                ": let the second hold a message and 64 bytes, and be at most " + std::to_string(most));
  return how;
}

}  // namespace

link_state::link_state(link_options options, link_events events)
    : how(checked(std::move(options))), to(std::move(events)) {
  if (how.tls)
    tls_ = tls_context(*how.tls);
}

std::unique_ptr<link_channel> link_state::open(int socket, bool calls) const {
  return tls_ ? tls_link_channel(tls_, socket, calls) : plain_link_channel(socket);
}

void link_state::begin(caf::actor gateway) {
  const std::lock_guard lock(mutex_);
  gateway_ = std::move(gateway);
}

caf::actor link_state::finish() {
  const std::lock_guard lock(mutex_);
  return std::exchange(gateway_, nullptr);
}

caf::actor link_state::gateway() const {
  const std::lock_guard lock(mutex_);
  return gateway_;
}

std::shared_ptr<connection> link_state::admit(int socket) {
  const std::lock_guard lock(mutex_);
  if (!gateway_)
    return nullptr;
  return std::make_shared<connection>(++last_number_, socket, [weak = weak_from_this()](std::uint64_t number) {
    const auto state = weak.lock();
    if (const caf::actor gateway = state ? state->gateway() : nullptr)
      caf::anon_send(gateway, gone{number});
  });
}

void link_state::put(std::uint64_t number, peer who) {
  const std::lock_guard lock(mutex_);
  peers_[number] = std::move(who);
}

void link_state::erase(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  peers_.erase(number);
}

std::optional<link_state::peer> link_state::find(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto there = peers_.find(number);
  return there == peers_.end() ? std::nullopt : std::optional(there->second);
}

void link_state::set_failure(const endpoint& where, const std::string& why) {
  const std::lock_guard lock(mutex_);
  failures_[where] = why;
}

std::string link_state::failure(const endpoint& where) const {
  const std::lock_guard lock(mutex_);
  const auto there = failures_.find(where);
  return there == failures_.end() ? "" : there->second;
}

}  // namespace twinkle::net::control
