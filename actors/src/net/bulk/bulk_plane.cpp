// SPDX-License-Identifier: Apache-2.0
#include "bulk_plane.hpp"

#include <algorithm>
#include <utility>

#include "bulk_core.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

void check(const char* what, std::size_t there, std::size_t most) {
  if (there > most)
    throw error("bulk plane: " + std::to_string(there) + " " + what + "; at most " + std::to_string(most) + " may be");
}

// Of all ranges; throws what a peer would refuse.
std::size_t bytes_of(const std::vector<bulk_range>& what, const frame_limits& limits) {
  check("ranges in one fetch", what.size(), limits.ranges_max);
  std::size_t all = 0;
  for (const bulk_range& each : what) {
    check("bytes in one range", each.bytes, limits.answer_bytes_max);
    all += each.bytes;
    check("bytes in one fetch", all, limits.answer_bytes_max);
  }
  return all;
}

}  // namespace

bulk_plane::bulk_plane(bulk_options how, bulk_store& kept) : core_(std::make_unique<bulk_core>(std::move(how), kept)) {
  core_->listen();
}

bulk_plane::~bulk_plane() { stop(); }

void bulk_plane::stop() { core_->stop(); }

std::uint16_t bulk_plane::port() const { return core_->port(); }

void bulk_plane::know(std::vector<bulk_peer> peers) {
  core_->post([core = core_.get(), peers = std::move(peers)]() mutable { core->know(std::move(peers)); });
}

std::uint64_t bulk_plane::fetch(std::size_t from, std::vector<bulk_range> what, std::span<std::byte> into, done then) {
  const std::size_t bytes = bytes_of(what, core_->how().limits);
  if (bytes != into.size())
    throw error("bulk plane: a fetch of " + std::to_string(bytes) + " bytes into " + std::to_string(into.size()) +
                "; they must be as many");
  const std::uint64_t id = core_->next_id();
  core_->post([core = core_.get(), id, from, what = std::move(what), into, then = std::move(then)]() mutable {
    core->fetch(id, from, std::move(what), into, std::move(then));
  });
  return id;
}

void bulk_plane::cancel(std::uint64_t fetch) {
  core_->post([core = core_.get(), fetch] { core->cancel(fetch); });
}

void bulk_plane::send(std::size_t to, std::vector<std::byte> head, buffer body) {
  check("bytes in the head of a message", head.size(), core_->how().limits.head_bytes_max);
  check("bytes in the body of a message", body.bytes(), core_->how().limits.body_bytes_max);
  core_->post([core = core_.get(), to, head = std::move(head), body = std::move(body)]() mutable {
    core->send(to, std::move(head), std::move(body));
  });
}

void bulk_plane::on_message(std::function<void(std::size_t, std::vector<std::byte>, buffer)> to) {
  core_->post([core = core_.get(), to = std::move(to)]() mutable { core->on_message = std::move(to); });
}

void bulk_plane::on_silent(std::function<void(std::size_t, std::uint64_t, std::string)> to) {
  core_->post([core = core_.get(), to = std::move(to)]() mutable { core->on_silent = std::move(to); });
}

bulk_counts bulk_plane::counted() const { return core_->counted(); }

}  // namespace twinkle::net
