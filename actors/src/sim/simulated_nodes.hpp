// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../runtime/worker_body.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/sim/connection.hpp"
#include "world.hpp"

namespace twinkle::sim {

/// The processes of a simulated cluster, each with the gateway, the store and the halls of a real one, and the wires
/// between nodes: of each plane one each way, on which nothing overtakes. A process that has lost the run ends,
/// and is started again.
class simulated_nodes {
 public:
  using worker_maker =
      std::function<std::unique_ptr<actor_role>(const std::shared_ptr<runtime::stage_kit>&, std::size_t index)>;

  struct circumstances {
    network links = {};
    std::uint64_t run_seed = 0;
    worker_maker make = nullptr;  ///< workers on nodes other than the first
  };

  /// All processes are there, and have joined, before any time has passed.
  simulated_nodes(world& in, chooser_seam& chooser, const place::layout& placed, circumstances how);
  ~simulated_nodes();
  simulated_nodes(const simulated_nodes&) = delete;
  simulated_nodes& operator=(const simulated_nodes&) = delete;

  /// What the workers of a stage on the first node share.
  [[nodiscard]] std::shared_ptr<runtime::stage_kit> kit(const stage_plan& stage);

  // For the world: where actors may be on several nodes.
  void post(const address& from, const address& to, message&& content);
  /// Has a worker made on its own node, if that is not the first.
  void spawn(const address& who);

  /// A node is gone with all that was on it and on its way, and nobody is told.
  void die(std::size_t node);
  /// Undoes one death; several may overlap. Then it is there again, with a process that knows nothing.
  void revive(std::size_t node);
  [[nodiscard]] bool running(std::size_t node) const { return processes_[node] != nullptr; }
  void cut(std::size_t node, std::size_t other);
  void heal(std::size_t node, std::size_t other);

  [[nodiscard]] std::size_t bytes_kept() const;
  /// By node, from others, since the beginning.
  [[nodiscard]] const std::vector<std::size_t>& bytes_fetched() const { return fetched_; }
  /// Of nodes that can be reached, those that still keep rows for others: "node 'b' keeps 4096 bytes".
  [[nodiscard]] std::vector<std::string> keepers() const;
  /// After so long whatever is on its way has arrived, and what was said of it, if nothing is cut.
  [[nodiscard]] duration settles_within() const;

 private:
  class process;
  enum class plane : std::uint8_t { control, bulk };
  struct way {
    std::size_t from = 0;
    std::size_t to = 0;
    plane over = plane::control;

    friend auto operator<=>(const way&, const way&) = default;
  };
  struct wire {
    connection on;
    bool awaited = false;  // there is a timer for what arrives next
  };

  [[nodiscard]] duration latency();
  void travel(const way& along, std::function<void()> what);
  void await_arrival(const way& along);
  [[nodiscard]] static std::array<way, 4> ways_between(std::size_t node, std::size_t other);
  [[nodiscard]] process* find(std::size_t node, std::uint64_t incarnation) const;
  void start(std::size_t node);
  void end(std::size_t node);
  void begin_again(std::size_t node, std::uint64_t incarnation);
  void kill_workers(std::size_t node);

  world& in_;
  chooser_seam& chooser_;
  const place::layout& placed_;
  circumstances how_;
  std::vector<std::unique_ptr<process>> processes_;  // by node; null: there is none
  std::vector<std::size_t> deaths_;                  // by node, not yet undone
  std::map<way, wire> wires_;
  std::vector<std::size_t> fetched_;                 // by node, bytes
  std::uint64_t last_peer_ = 0;
  std::uint64_t last_incarnation_ = 0;
  std::uint64_t last_fetch_ = 0;
  bool complete_ = false;
};

}  // namespace twinkle::sim
