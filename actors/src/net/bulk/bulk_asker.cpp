// SPDX-License-Identifier: Apache-2.0
#include "bulk_asker.hpp"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bulk_core.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net {

bulk_asker::bulk_asker(bulk_core& core, std::size_t node, bulk_peer who)
    : core_(core), node_(node), who_(std::move(who)) {}

void bulk_asker::fetch(std::uint64_t id, request what) {
  waiting_.emplace_back(id, std::move(what));
  connect();
  pump();
}

bool bulk_asker::cancel(std::uint64_t id) {
  if (under_way_.contains(id)) {
    connection_->put({.kind = frame_kind::cancel, .id = id});
    answered(id, "cancelled");
    return true;
  }
  const auto found = std::ranges::find(waiting_, id, [](const auto& each) { return each.first; });
  if (found == waiting_.end())
    return false;
  const bulk_plane::done then = std::move(found->second.then);
  waiting_.erase(found);
  then("cancelled");
  return true;
}

void bulk_asker::send(std::vector<std::byte> head, buffer body) {
  const std::size_t before = unsent_bytes_ + (connection_ ? connection_->unsent_bytes() : 0);
  const std::size_t unsent = before + head.size() + body.bytes();
  unsent_bytes_ += head.size() + body.bytes();
  unsent_.push_back({std::move(head), std::move(body)});
  connect();
  pump();
  if (before > 0 && unsent > core_.how().unsent_bytes_max)
    connection_->fall(std::to_string(unsent) + " bytes of messages wait to be sent to it, at most " +
                      std::to_string(core_.how().unsent_bytes_max) + " may");
}

void bulk_asker::connect() {
  if (connection_)
    return;
  connection_ = core_.connection();
  connection_->put({.kind = frame_kind::hello}, to_bytes(core_.ours()));
  connection_->start(shared_from_this(), [alive = shared_from_this()](channel& over) { return alive->open(over); });
}

asio::awaitable<void> bulk_asker::open(channel& over) const {
  tcp::resolver resolver(over.socket().get_executor());
  const tcp::resolver::results_type ends =
      co_await resolver.async_resolve(who_.host, std::to_string(who_.port), asio::use_awaitable);
  co_await asio::async_connect(over.socket(), ends, asio::use_awaitable);
  co_await over.open(true);
}

void bulk_asker::begin(const frame_header& header) {
  const bool greeted = connection_->is_greeted();
  const bool may_come = header.kind == frame_kind::refused || (header.kind == frame_kind::welcome && !greeted) ||
                        (header.kind == frame_kind::data && greeted) || header.kind == frame_kind::ping;
  if (!may_come)
    throw error("a frame of kind " + std::string(to_string(header.kind)) + " came, which may not come now");
  data_ = header.kind == frame_kind::data ? header : frame_header{};
  const auto found = under_way_.find(header.id);
  if (found == under_way_.end())
    return;  // cancelled
  const request& of = found->second;
  if (header.offset != of.there || header.body_bytes > of.into.size() - of.there)
    throw error("data [" + std::to_string(header.offset) + ", " + std::to_string(header.offset + header.body_bytes) +
                ") came where " + std::to_string(of.there) + " of " + std::to_string(of.into.size()) +
                " bytes were there");
}

std::span<std::byte> bulk_asker::room() {
  const auto found = under_way_.find(data_.id);
  if (found == under_way_.end())
    return {};
  return found->second.into.subspan(found->second.there, data_.body_bytes);
}

void bulk_asker::end(const frame_header& header, std::vector<std::byte> head) {
  switch (header.kind) {
    case frame_kind::welcome: return welcome(greeting_of(head, core_.how().limits));
    case frame_kind::refused: {
      const std::string why(reinterpret_cast<const char*>(head.data()), head.size());
      if (header.id == 0)
        throw error("it refuses this node: " + why);
      return answered(header.id, core_.name_of(node_) + ": " + why);
    }
    case frame_kind::data: {
      const auto found = under_way_.find(header.id);
      if (found == under_way_.end())
        return;
      found->second.there += header.body_bytes;
      if (found->second.there == found->second.into.size())
        answered(header.id, std::nullopt);
      return;
    }
    default: return;
  }
}

void bulk_asker::welcome(const greeting& they) {
  if (const auto wrong = mismatch({core_.how().cluster, core_.how().graph, node_, who_.incarnation}, they))
    throw error("another is there: " + *wrong);
  connection_->greeted();
  core_.connected(node_);
  pump();
}

void bulk_asker::pump() {
  if (!connection_ || !connection_->is_greeted())
    return;
  for (; !unsent_.empty(); unsent_.pop_front()) {
    message& next = unsent_.front();
    unsent_bytes_ -= next.head.size() + next.body.bytes();
    connection_->put({.kind = frame_kind::message}, std::move(next.head), std::move(next.body));
  }
  while (!waiting_.empty() && under_way_.size() < core_.how().fetches_max) {
    auto [id, next] = std::move(waiting_.front());
    waiting_.pop_front();
    std::vector<std::byte> ranges = to_bytes(next.what);
    under_way_.emplace(id, std::move(next));
    connection_->put({.kind = frame_kind::fetch, .id = id}, std::move(ranges));
  }
}

void bulk_asker::answered(std::uint64_t id, std::optional<std::string> cause) {
  const auto found = under_way_.find(id);
  if (found == under_way_.end())
    return;
  const bulk_plane::done then = std::move(found->second.then);
  under_way_.erase(found);
  pump();
  then(std::move(cause));
}

void bulk_asker::wrong(const std::string& why) { connection_->fall(why); }

void bulk_asker::fallen(const std::string& why) {
  const bool was_greeted = connection_ && connection_->is_greeted();
  const std::string said = core_.name_of(node_) + (was_greeted ? ": " : " cannot be reached: ") + why;
  if (was_greeted || !unsent_.empty())
    core_.gone(node_, said, !unsent_.empty());
  give_up(said);
}

void bulk_asker::give_up(const std::string& why) {
  const auto connection = std::exchange(connection_, nullptr);
  auto fetches = std::exchange(waiting_, {});
  for (auto& each : std::exchange(under_way_, {}))
    fetches.emplace_back(each.first, std::move(each.second));
  unsent_.clear();
  unsent_bytes_ = 0;
  if (connection)
    connection->fall(why);
  for (auto& [id, each] : fetches)
    each.then(why);
}

}  // namespace twinkle::net
