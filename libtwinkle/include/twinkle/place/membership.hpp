// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "twinkle/base/time.hpp"
#include "twinkle/place/cluster.hpp"
#include "twinkle/place/node_letter.hpp"
#include "twinkle/place/pulse.hpp"

namespace twinkle::place {

/// Decides for the node that leads, which is the first of the cluster, who belongs to the run: connections, letters and
/// the time come in, what has changed goes out. A connection is a peer, whose number is never used twice. One that says
/// nothing, or no hello, within the silence is closed, and so is the oldest of more such strangers than there are nodes and
/// 64. A node whose process was started again joins again, as another incarnation: the one before it is lost first.
class membership {
 public:
  struct terms {
    cluster machines;
    std::uint64_t graph = 0;                          ///< a digest that must be the same on all nodes
    duration join_within = std::chrono::seconds(30);  ///< for all nodes, from the beginning
    pulse::rhythm rhythm = {};
  };

  struct joined {
    std::size_t node = 0;
    std::uint64_t peer = 0;
    letter::hello who;
  };
  struct lost {
    std::size_t node = 0;
    std::string why;  ///< "nothing came from it for 5 s"
  };
  struct say {
    std::uint64_t peer = 0;
    node_letter what;
  };
  struct close {
    std::uint64_t peer = 0;
  };
  /// Not all came in time: which did not, and what became of those that tried.
  struct incomplete {
    std::string why;
  };
  using event = std::variant<joined, lost, say, close, incomplete>;

  membership(terms agreed, time_point now);

  [[nodiscard]] std::vector<event> up(std::uint64_t peer, time_point now);
  [[nodiscard]] std::vector<event> hello(std::uint64_t peer, const letter::hello& who, time_point now);
  [[nodiscard]] std::vector<event> down(std::uint64_t peer, const std::string& why);
  /// Somebody cannot reach the process of a node; of an earlier one that is no news.
  [[nodiscard]] std::vector<event> unreachable(std::size_t node, std::uint64_t incarnation, const std::string& why);
  [[nodiscard]] std::vector<event> tick(time_point now);
  void heard(std::uint64_t peer, time_point now);

  [[nodiscard]] bool complete() const;
  /// The node that a peer is; nothing for a stranger.
  [[nodiscard]] std::optional<std::size_t> node_of(std::uint64_t peer) const;
  [[nodiscard]] std::optional<std::uint64_t> peer_of(std::size_t node) const;
  /// When it wants a tick.
  [[nodiscard]] time_point next_deadline() const;

 private:
  struct connection {
    pulse alive;
    std::optional<std::size_t> node = std::nullopt;
    bool refused = false;
  };
  struct member {
    std::optional<std::uint64_t> peer = std::nullopt;
    std::uint64_t incarnation = 0;
    std::string refused = {};  // why it was, when it last tried
  };

  [[nodiscard]] std::optional<std::string> objection(const letter::hello& who, std::optional<std::size_t> node) const;
  void lose(std::size_t node, const std::string& why, std::vector<event>& out);
  [[nodiscard]] std::string missing() const;

  terms agreed_;
  time_point join_by_;
  bool was_complete_ = false;
  std::optional<std::string> over_ = std::nullopt;  // why the run does not begin
  std::vector<member> members_;  // by node; the first is this one
  std::map<std::uint64_t, connection> peers_;
};

}  // namespace twinkle::place
