// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/bulk/bulk_plane.hpp"

/// Nodes of one process that talk over loopback.
namespace bulk {

namespace tk = twinkle;
using bytes = std::vector<std::byte>;

inline constexpr auto patience = std::chrono::seconds(120);  // far more than anything takes

/// Numbers that differ everywhere.
inline bytes numbered(std::size_t count, std::uint64_t seed = 1) {
  bytes made(count);
  for (std::byte& each : made)
    each = static_cast<std::byte>((seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >> 56);
  return made;
}

/// What is said by another thread, one after the other.
template <class T>
class heard {
 public:
  void say(T what) {
    {
      const std::lock_guard lock(mutex_);
      said_.push_back(std::move(what));
    }
    changed_.notify_one();
  }
  T next() {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, patience, [&] { return !said_.empty(); }));
    T first = std::move(said_.front());
    said_.pop_front();
    return first;
  }
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return said_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> said_;
};

struct silence {
  std::size_t node = 0;
  std::string why;
};
struct message {
  std::size_t from = 0;
  bytes head;
  bytes body;
};

/// "a" is node 0, "b" node 1 and so on.
inline tk::net::bulk_options options(std::size_t node) {
  tk::net::bulk_options how;
  how.cluster = "test";
  how.graph = 7;
  how.node = node;
  how.name = std::string(1, static_cast<char>('a' + node));
  how.incarnation = 100 + node;
  how.silence = std::chrono::seconds(60);
  how.heard_within = std::chrono::milliseconds(50);
  return how;
}

/// A fetch under way.
struct pending {
  std::uint64_t id = 0;
  std::future<std::optional<std::string>> cause;

  /// "" if everything is there.
  std::string outcome() {
    REQUIRE(cause.wait_for(patience) == std::future_status::ready);
    return cause.get().value_or("");
  }
};

class node {
 public:
  explicit node(tk::net::bulk_options how) : how_(std::move(how)) { start(); }

  void start() {
    plane_ = std::make_unique<tk::net::bulk_plane>(how_, kept);
    plane_->on_silent([this](std::size_t who, std::uint64_t, std::string why) { silent.say({who, std::move(why)}); });
    plane_->on_message([this](std::size_t from, bytes head, tk::buffer body) {
      messages.say({from, std::move(head), bytes(body.data(), body.data() + body.bytes())});
    });
  }
  void stop() { plane_.reset(); }

  [[nodiscard]] tk::net::bulk_plane& plane() { return *plane_; }
  [[nodiscard]] tk::net::bulk_options& how() { return how_; }
  [[nodiscard]] tk::net::bulk_peer peer() const { return {how_.name, "127.0.0.1", plane_->port(), how_.incarnation}; }

  std::uint64_t keep(bytes what) { return kept.keep(tk::buffer::of(std::move(what))); }
  pending fetch(std::size_t from, std::vector<tk::bulk_range> what, std::span<std::byte> into) {
    auto end = std::make_shared<std::promise<std::optional<std::string>>>();
    auto cause = end->get_future();
    return {plane_->fetch(from, std::move(what), into, [end](std::optional<std::string> why) { end->set_value(why); }),
            std::move(cause)};
  }
  /// Everything of one piece, or why not.
  std::string fetch_all(std::size_t from, std::uint64_t key, bytes& into) {
    return fetch(from, {{key, 0, into.size()}}, into).outcome();
  }
  /// What the plane has begun until now is through afterwards.
  void settle() {
    std::byte one{};
    const std::uint64_t key = keep({std::byte{1}});
    CHECK(fetch(how_.node, {{key, 0, 1}}, {&one, 1}).outcome().empty());
    kept.release(key);
  }

  /// How many strangers it has refused, as soon as it is this many. A stranger may see that it is refused before the
  /// plane has counted it.
  std::size_t refused(std::size_t many) {
    for (int looks = 0; looks < 10'000 && plane_->counted().refused_strangers < many; ++looks)
      settle();
    return plane_->counted().refused_strangers;
  }

  tk::net::bulk_store kept;
  heard<silence> silent;
  heard<message> messages;

 private:
  tk::net::bulk_options how_;
  std::unique_ptr<tk::net::bulk_plane> plane_;
};

inline void acquaint(const std::vector<node*>& nodes) {
  std::vector<tk::net::bulk_peer> peers;
  for (const node* each : nodes)
    peers.push_back(each->peer());
  for (node* each : nodes)
    each->plane().know(peers);
}

/// Nodes a and b, which know each other.
struct two_nodes {
  node a{options(0)};
  node b{options(1)};

  two_nodes() { acquaint({&a, &b}); }
};

}  // namespace bulk
