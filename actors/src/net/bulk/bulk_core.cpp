// SPDX-License-Identifier: Apache-2.0
#include "bulk_core.hpp"

#include <boost/asio/post.hpp>
#include <cstring>
#include <utility>

#include "bulk_answerer.hpp"
#include "bulk_asker.hpp"
#include "tls_channel.hpp"
#include "twinkle/base/ensure.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

constexpr auto accept_again = std::chrono::milliseconds(50);  // after a failure, such as too many files

}  // namespace

bulk_core::bulk_core(bulk_options how, bulk_store& kept) : how_(std::move(how)), kept_(kept) {
  ensure(how_.chunk_bytes > 0 && how_.chunk_bytes <= how_.limits.data_bytes_max, "a chunk is data that is taken");
  if (how_.tls)
    tls_ = asio_context(*how_.tls);
}

bulk_core::~bulk_core() = default;

void bulk_core::post(std::function<void()> what) { asio::post(pool_, std::move(what)); }

void bulk_core::listen() {
  const std::string where = how_.bind_host + ":" + std::to_string(how_.port);
  try {
    const tcp::endpoint end =
        tcp::resolver(pool_).resolve(how_.bind_host, std::to_string(how_.port), tcp::resolver::passive)->endpoint();
    acceptor_.open(end.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(end);
    acceptor_.listen();
  } catch (const boost::system::system_error& failed) {
    throw error("node '" + how_.name + "' cannot listen on " + where + ": " + failed.code().message() +
                "; give it an address of this host and a port that is free (0: any)");
  }
  port_ = acceptor_.local_endpoint().port();
  post([this] { accept(); });
}

void bulk_core::accept() {
  const auto from = connection();
  acceptor_.async_accept(from->socket(), [this, from](error_code failed) {
    if (stopping_)
      return;
    if (!failed) {
      take(from);
      return accept();
    }
    later_.expires_after(accept_again);
    later_.async_wait([this](error_code stopped) {
      if (!stopped && !stopping_)
        accept();
    });
  });
}

void bulk_core::take(std::shared_ptr<bulk_connection> from) {
  if (strangers_.size() >= how_.strangers_max)
    std::shared_ptr(strangers_.front())->close("it made room for others that had not greeted");
  strangers_.push_back(std::make_shared<bulk_answerer>(*this, std::move(from)));
  strangers_.back()->start();
}

std::shared_ptr<bulk_connection> bulk_core::connection() {
  const asio::any_io_executor on = pool_.get_executor();
  return std::make_shared<bulk_connection>(tls_ ? tls_channel(on, *tls_) : plain_channel(on), how_, traffic_);
}

void bulk_core::stop() {
  post([this] { shut(); });
  pool_.join();
}

void bulk_core::shut() {
  stopping_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  later_.cancel();
  const std::string why = "node '" + how_.name + "' stops";
  for (const auto& [node, each] : std::exchange(askers_, {}))
    each->give_up(why);
  for (const auto& [node, each] : std::map(answerers_))
    each->close(why);
  for (const auto& each : std::list(strangers_))
    each->close(why);
}

bulk_counts bulk_core::counted() const {
  return {traffic_.sent, traffic_.received, refused_strangers_, traffic_.connections};
}

void bulk_core::know(std::vector<bulk_peer> peers) {
  const std::vector<bulk_peer> before = std::exchange(peers_, std::move(peers));
  for (std::size_t node = 0; node < before.size(); ++node)
    if (node >= peers_.size() || peers_[node] != before[node])
      forget(node);
  for (const auto& each : std::list(strangers_))
    each->heard_news();
}

// Whoever says who is there knows already: nobody is told.
void bulk_core::forget(std::size_t node) {
  const std::string why = name_of(node) + ": another is known there now";
  connected_.erase(node);
  if (const auto found = askers_.extract(node))
    found.mapped()->give_up(why);
  if (const auto found = answerers_.extract(node))
    found.mapped()->close(why);
}

std::shared_ptr<bulk_asker> bulk_core::asker(std::size_t node) {
  std::shared_ptr<bulk_asker>& there = askers_[node];
  if (!there)
    there = std::make_shared<bulk_asker>(*this, node, peers_[node]);
  return there;
}

void bulk_core::fetch(std::uint64_t id, std::size_t from, std::vector<bulk_range> what, std::span<std::byte> into,
                      bulk_plane::done then) {
  if (stopping_)
    return then("node '" + how_.name + "' stops");
  if (into.empty())
    return then(std::nullopt);
  if (from != how_.node && from >= peers_.size())
    return then("node " + std::to_string(from) + " is not known here");
  if (from != how_.node)
    return asker(from)->fetch(id, {std::move(what), into, std::move(then)});
  std::optional<std::string> cause;
  try {
    for (const buffer& piece : pieces(what)) {
      std::memcpy(into.data(), piece.data(), piece.bytes());
      into = into.subspan(piece.bytes());
    }
  } catch (const error& wrong) {
    cause = "node '" + how_.name + "': " + wrong.what();
  }
  then(std::move(cause));
}

void bulk_core::cancel(std::uint64_t id) {
  for (const auto& [node, each] : askers_)
    if (each->cancel(id))
      return;
}

void bulk_core::send(std::size_t to, std::vector<std::byte> head, buffer body) {
  if (stopping_)
    return;
  if (to == how_.node) {
    if (on_message)
      on_message(to, std::move(head), std::move(body));
  } else if (to < peers_.size()) {
    asker(to)->send(std::move(head), std::move(body));
  } else if (on_silent) {
    on_silent(to, 0, "node " + std::to_string(to) + " is not known here");
  }
}

std::optional<greeting> bulk_core::expected(std::uint64_t node) const {
  if (node >= peers_.size() || node == how_.node)
    return std::nullopt;
  return greeting{how_.cluster, how_.graph, node, peers_[node].incarnation};
}

std::string bulk_core::name_of(std::size_t node) const {
  if (node >= peers_.size())
    return "node " + std::to_string(node);
  return "node '" + peers_[node].name + "' at " + peers_[node].host + ":" + std::to_string(peers_[node].port);
}

std::vector<buffer> bulk_core::pieces(const std::vector<bulk_range>& what) const {
  std::vector<buffer> found;
  found.reserve(what.size());
  std::size_t bytes = 0;
  for (const bulk_range& each : what) {
    const auto kept = kept_.find(each.key);
    if (!kept)
      throw error("nothing is kept under key " + std::to_string(each.key) + "; it was released, or never kept");
    if (each.first > kept->bytes() || each.bytes > kept->bytes() - each.first)
      throw error(std::to_string(each.bytes) + " bytes from " + std::to_string(each.first) + " of key " +
                  std::to_string(each.key) + ", which has " + std::to_string(kept->bytes()));
    if (each.bytes > 0)
      found.push_back(kept->part(each.first, each.bytes));
    bytes += each.bytes;
  }
  if (bytes == 0)
    throw error("a fetch of nothing");
  return found;
}

void bulk_core::connected(std::size_t node) { connected_.insert(node); }

void bulk_core::gone(std::size_t node, const std::string& why, bool must_tell) {
  const bool was_there = connected_.erase(node) > 0;
  if (const auto found = askers_.find(node); found != askers_.end())
    std::shared_ptr(found->second)->give_up(why);
  if (const auto found = answerers_.extract(node))
    found.mapped()->close(why);
  if ((was_there || must_tell) && !stopping_ && on_silent)
    on_silent(node, node < peers_.size() ? peers_[node].incarnation : 0, why);
}

void bulk_core::left(const std::shared_ptr<bulk_answerer>& who, bool greeted) {
  if (!greeted && !stopping_)
    ++refused_strangers_;
  strangers_.remove(who);
  if (const auto found = answerers_.find(who->node()); found != answerers_.end() && found->second == who)
    answerers_.erase(found);
}

void bulk_core::greeted(const std::shared_ptr<bulk_answerer>& who) {
  strangers_.remove(who);
  if (answerers_.contains(who->node()))
    gone(who->node(), name_of(who->node()) + ": it connected anew, what was under way is lost");
  answerers_.emplace(who->node(), who);
  connected(who->node());
}

}  // namespace twinkle::net
