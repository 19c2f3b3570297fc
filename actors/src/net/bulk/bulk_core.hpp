// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bulk_connection.hpp"
#include "bulk_plane.hpp"

namespace twinkle::net {

class bulk_asker;
class bulk_answerer;

/// What the connections of a plane have in common: who is known, who is there, and what to call. Everything but what is
/// said to be for any thread happens on the plane's thread.
class bulk_core {
 public:
  bulk_core(bulk_options how, bulk_store& kept);
  ~bulk_core();

  /// For any thread: later, on the plane's.
  void post(std::function<void()> what);
  void listen();
  /// Answers everything, and waits for the plane's thread to end. From another thread.
  void stop();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bulk_counts counted() const;
  [[nodiscard]] std::uint64_t next_id() { return next_id_++; }

  void know(std::vector<bulk_peer> peers);
  void fetch(std::uint64_t id, std::size_t from, std::vector<bulk_range> what, std::span<std::byte> into,
             bulk_plane::done then);
  void cancel(std::uint64_t id);
  void send(std::size_t to, std::vector<std::byte> head, buffer body);

  /// For connections.
  [[nodiscard]] const bulk_options& how() const { return how_; }
  [[nodiscard]] greeting ours() const { return {how_.cluster, how_.graph, how_.node, how_.incarnation}; }
  /// Who has to be there under this number; nullopt if nobody is known there.
  [[nodiscard]] std::optional<greeting> expected(std::uint64_t node) const;
  /// "node 'b' at 127.0.0.1:7070".
  [[nodiscard]] std::string name_of(std::size_t node) const;
  [[nodiscard]] std::shared_ptr<bulk_connection> connection();
  /// The parts of an answer, or `error` saying what is not there.
  [[nodiscard]] std::vector<buffer> pieces(const std::vector<bulk_range>& what) const;

  /// There is a connection with this node.
  void connected(std::size_t node);
  /// A connection with it fell, or it `must_tell` since it cannot be reached: everything with it ends.
  void gone(std::size_t node, const std::string& why, bool must_tell = false);
  /// Somebody who connected is through; had not even `greeted`.
  void left(const std::shared_ptr<bulk_answerer>& who, bool greeted);
  /// It takes the place of an earlier connection from the same node, if there is one.
  void greeted(const std::shared_ptr<bulk_answerer>& who);

  std::function<void(std::size_t, std::vector<std::byte>, buffer)> on_message;
  std::function<void(std::size_t, std::uint64_t, std::string)> on_silent;

 private:
  void accept();
  void take(std::shared_ptr<bulk_connection> from);
  void shut();
  [[nodiscard]] std::shared_ptr<bulk_asker> asker(std::size_t node);
  void forget(std::size_t node);

  const bulk_options how_;
  bulk_store& kept_;
  std::shared_ptr<asio::ssl::context> tls_;
  bulk_traffic traffic_;
  std::atomic<std::uint64_t> next_id_ = 1;
  std::atomic<std::size_t> refused_strangers_ = 0;
  std::vector<bulk_peer> peers_;
  std::map<std::size_t, std::shared_ptr<bulk_asker>> askers_;
  std::list<std::shared_ptr<bulk_answerer>> strangers_;  // by age
  std::map<std::size_t, std::shared_ptr<bulk_answerer>> answerers_;
  std::set<std::size_t> connected_;
  std::uint16_t port_ = 0;
  bool stopping_ = false;
  asio::thread_pool pool_{1};
  tcp::acceptor acceptor_{pool_};
  asio::steady_timer later_{pool_};
};

}  // namespace twinkle::net
