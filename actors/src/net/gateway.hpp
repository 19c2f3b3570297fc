// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway_world.hpp"
#include "ledger.hpp"
#include "porter.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/place/membership.hpp"

namespace twinkle::net {

/// What a gateway tells its process. Called from any thread, and never under a lock of the gateway.
struct gateway_events {
  std::function<void()> complete = {};                      ///< every node is there; of one that does not lead: it was taken
  std::function<void(std::string why)> failed = {};         ///< the run cannot begin, or cannot go on here
  std::function<void()> interrupt = {};                     ///< somebody at another node wants the run to end
  std::function<void(int code)> goodbye = {};               ///< the run is over, and how this process is to end
  std::function<void(const address& worker)> spawn = {};    ///< one of this node is to be there, with a new object
  std::function<void(std::string line)> log = {};           ///< who came and went
};

struct gateway_options {
  place::cluster machines;
  std::size_t node = 0;                  ///< who we are; the first of the cluster leads
  std::uint64_t graph = 0;
  std::uint64_t incarnation = 0;
  std::string host;                      ///< where this node serves rows
  std::uint16_t port = 0;
  duration join_within = std::chrono::seconds(30);
  place::pulse::rhythm rhythm = {};
  std::size_t inline_bytes_max = std::size_t{64} << 10;  ///< of rows that ride in a control message
};

/// One a node: the only way from the actors of one node to those of another. Routers, the session and clients live on the
/// node that leads; the other nodes have workers. So it carries tasks there and replies back, as bytes; elements of rows
/// stay on the node that made them until one that works on them fetches them:
///
///     sampler on b:  reply, rows kept on b   ->  a (leads): a description  ->  trainer on c: fetches from b
///                    released on b           <-  a: the last batch that shows them is gone
///
/// Safe from many threads.
class gateway {
 public:
  gateway(gateway_options how, const place::layout& placed, gateway_world& world, gateway_events to);
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;

  [[nodiscard]] std::size_t here() const { return how_.node; }
  [[nodiscard]] bool leads() const { return how_.node == 0; }
  [[nodiscard]] std::size_t node_of(const address& who) const;

  /// Whether a message of an actor here goes over it: to another node, or to one who reads what may be elsewhere, or who
  /// gets such messages among others.
  [[nodiscard]] bool concerns(const address& to, const message& content) const;
  void post(const address& from, const address& to, message&& content);
  /// A worker is there anew. One on another node is made there.
  void spawn(const address& worker);
  /// Somebody here wants the run to end.
  void interrupt();
  /// The run is over: all nodes are told how to end.
  void say_goodbye(int code);

  // From the control plane.
  void up(std::uint64_t peer);
  void arrived(std::uint64_t peer, std::vector<std::byte> bytes);
  void down(std::uint64_t peer, const std::string& why);
  /// From the bulk plane: nothing came from this process there.
  void silent(std::size_t node, std::uint64_t incarnation, const std::string& why);

  void tick();
  [[nodiscard]] time_point next_deadline() const;
  /// Whether a connection to the node that leads is wanted: there is none, and this node was not taken yet.
  [[nodiscard]] bool awaits_leader() const;
  /// Connections to other nodes that are up.
  [[nodiscard]] std::size_t peers() const;
  /// Nothing is delivered or sent any more, and nothing that comes matters.
  void close();

 private:
  using happened = std::vector<std::function<void()>>;

  /// Does what has happened in its order, without the lock: by whoever does so already, if there is one.
  void carry_out(happened&& then);
  void handle(std::uint64_t peer, const place::node_letter& what);
  void on(std::uint64_t peer, const place::letter::post& what);
  [[nodiscard]] bool is_member(std::uint64_t peer) const;
  void follow(const place::letter::nodes& all);
  void act(std::vector<place::membership::event> events, happened& then);
  void on_joined(const place::membership::joined& who, happened& then);
  void on_lost(std::size_t node, const std::string& why, happened& then);
  void tell_where_all_are(happened& then);
  void distrust(std::uint64_t peer, const std::string& why);
  void send(std::uint64_t peer, const place::node_letter& what);
  [[nodiscard]] std::optional<std::uint64_t> peer_of(std::size_t node) const;
  [[nodiscard]] bool is_lost(const address& worker) const;
  [[nodiscard]] std::shared_ptr<const far_bytes> own(const far_bytes& where);
  /// The keys under which they are kept.
  [[nodiscard]] std::vector<std::uint64_t> leave_rows(const address& to, message& content);
  /// What is told in place of a message that cannot be delivered.
  void fail(const address& to, message&& content, const std::string& cause);
  [[nodiscard]] envelope fault_instead(const address& to, message&& content, const std::string& cause) const;
  [[nodiscard]] message read(const place::letter::post& what, std::size_t from_node);

  gateway_options how_;
  const place::layout& placed_;
  gateway_world& world_;
  gateway_events to_;
  ledger ledger_;
  porter porter_;
  mutable std::mutex mutex_;
  std::optional<place::membership> members_;      // where this node leads
  std::optional<std::uint64_t> leader_;           // where it does not
  place::pulse leader_pulse_;
  bool taken_ = false;
  bool over_ = false;
  bool closed_ = false;
  std::deque<std::function<void()>> to_do_;
  bool doing_ = false;
  std::vector<bulk_peer> servers_;                // by node
  std::set<address> lost_;                        // workers, until they are there anew: their node may be back before
};

}  // namespace twinkle::net
