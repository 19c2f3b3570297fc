// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/control/control_link.hpp"

namespace links {

namespace tk = twinkle;

inline std::vector<std::byte> bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

inline std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What a link has told.
struct told {
  std::vector<std::uint64_t> up;
  std::map<std::uint64_t, std::vector<std::string>> arrived;
  std::vector<std::pair<std::uint64_t, std::string>> down;
  bool two_at_once = false;
};

/// A link that keeps all that it told. What is waited for has a minute: only a failure takes that long.
class link_end {
 public:
  explicit link_end(tk::net::control::link_options how = {}) {
    link_ = std::make_unique<tk::net::control::control_link>(
        std::move(how),
        tk::net::control::link_events{
            .up = [this](std::uint64_t peer) { note([&] { told_.up.push_back(peer); }); },
            .arrived =
                [this](std::uint64_t peer, std::vector<std::byte> what) {
                  if (echoes)
                    link_->send(peer, what);
                  note([&] { told_.arrived[peer].push_back(text(what)); });
                },
            .down =
                [this](std::uint64_t peer, const std::string& why) {
                  note([&] { told_.down.emplace_back(peer, why); });
                }});
  }

  tk::net::control::control_link* operator->() { return link_.get(); }

  /// Returns what it told until its end.
  told end() {
    link_.reset();
    return told_;
  }

  template <class Holds>
  bool wait(const Holds& holds) {
    std::unique_lock lock(mutex_);
    // What is waited for may be no event: then it is looked at again from time to time.
    for (int in_vain = 0; in_vain < 6000;) {
      if (holds(told_))
        return true;
      in_vain += changed_.wait_for(lock, std::chrono::milliseconds(10)) == std::cv_status::timeout ? 1 : 0;
    }
    return false;
  }

  /// The peer that came up as number `nth` of all.
  std::uint64_t peer(std::size_t nth = 0) {
    REQUIRE(wait([&](const told& now) { return now.up.size() > nth; }));
    const std::lock_guard lock(mutex_);
    return told_.up[nth];
  }

  std::vector<std::string> arrived(std::uint64_t from, std::size_t messages) {
    REQUIRE(wait([&](told& now) { return now.arrived[from].size() >= messages; }));
    const std::lock_guard lock(mutex_);
    return told_.arrived[from];
  }

  /// Why the first to go is down.
  std::string why_down() {
    REQUIRE(wait([](const told& now) { return !now.down.empty(); }));
    const std::lock_guard lock(mutex_);
    return told_.down.front().second;
  }

  /// The next failure to connect that reads so.
  bool fails(std::uint16_t port, const std::string& with) {
    const bool did = wait([&](const told&) {
      return link_->last_failure("127.0.0.1", port).find(with) != std::string::npos;
    });
    INFO("last failure: ", link_->last_failure("127.0.0.1", port));
    CHECK(did);
    return did;
  }

  bool echoes = false;

 private:
  template <class Change>
  void note(const Change& change) {
    const std::unique_lock alone(events_, std::try_to_lock);
    const std::lock_guard lock(mutex_);
    told_.two_at_once = told_.two_at_once || !alone.owns_lock();
    change();
    changed_.notify_all();
  }

  std::mutex events_;
  std::mutex mutex_;
  std::condition_variable changed_;
  told told_;
  std::unique_ptr<tk::net::control::control_link> link_;
};

}  // namespace links
