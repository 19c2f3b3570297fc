// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/seen.hpp"
#include "twinkle/sim/swarm.hpp"

namespace twinkle::sim {

/// A simulated run as a test tells it: where, at what cost, what goes wrong, and what has to hold. It runs the very
/// function that main runs. For doctest there is `simulation`, a fixture, in twinkle/testing/simulation.hpp.
class story {
 public:
  /// What goes wrong at one time.
  class moment {
   public:
    moment(story& of, time_point at) : of_(of), at_(at) {}

    /// A worker is gone with its object; it can be built again when it has lasted.
    moment& crash(std::string stage, std::size_t worker, duration lasts);
    moment& crash_node(std::size_t node, duration lasts);
    /// Nodes are cut off from all others.
    moment& cut(std::vector<std::size_t> nodes, duration lasts);
    /// Two nodes are cut off from each other, and from no others.
    moment& cut_between(std::size_t node, std::size_t other, duration lasts);
    moment& freeze(std::size_t node, duration lasts);
    /// Bodies of a worker take `factor` times as long.
    moment& slow(std::string stage, std::size_t worker, double factor, duration lasts);
    /// The next body of a worker takes longer.
    moment& drag(std::string stage, std::size_t worker, duration lasts);
    /// The next body of a worker that works on rows throws.
    moment& fail(std::string stage, std::size_t worker);
    /// The next body of a worker that works on rows does not end by itself.
    moment& hang(std::string stage, std::size_t worker);
    /// No body of a stage begins.
    moment& stall(std::string stage, duration lasts);
    moment& late_weights(std::string stage, duration lasts);

   private:
    moment& add(mishap what);
    [[nodiscard]] std::string node(std::size_t index) const;

    story& of_;
    time_point at_;
  };

  /// The name of the graph; else "simulation".
  story& named(std::string graph) {
    name_ = std::move(graph);
    return *this;
  }
  /// "node-0", "node-1", …, with as many devices each; the session and all routers are on the first. Without this there is one
  /// node, with all that the graph asks for.
  story& nodes(std::size_t count, std::size_t devices);
  /// These nodes, the first of which has the session and all routers.
  story& cluster(std::vector<place::cluster::node> nodes);
  story& latency(duration least, duration most);
  /// Of rows that ride in a message between nodes (64 KiB); more are fetched. With 0 all are.
  story& inline_rows(std::size_t bytes_max);
  /// How long a node may be silent before it is taken to be lost.
  story& patience(duration most);
  /// An option of the graph, as the program's flag of that name.
  template <class T>
  story& option(const std::string& name, const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
      given_[name] = std::to_string(value);
    else
      given_[name] = value;
    return *this;
  }

  /// A body of `member` takes as long as `lasts` says, in virtual time.
  template <class Member>
  story& cost(std::string stage, Member member, std::function<duration(const work&)> lasts) {
    how_.rules.push_back(sim::cost(std::move(stage), member, std::move(lasts)));
    return *this;
  }
  /// The same of all bodies that work on rows, where nothing is said of them.
  story& cost(std::function<duration(const work&)> lasts) {
    how_.lasts = std::move(lasts);
    return *this;
  }
  /// Whether anything is said of what bodies cost.
  [[nodiscard]] bool has_costs() const;
  /// `function` is called in place of `member`, with the same arguments but the worker.
  template <class Member, class Function>
  story& fake(std::string stage, Member member, Function function) {
    how_.rules.push_back(sim::fake(std::move(stage), member, std::move(function)));
    return *this;
  }

  [[nodiscard]] moment at(time_point when) { return {*this, when}; }
  /// Besides, mishaps and latencies are drawn from the seed of each run, within what the graph is made to survive; its patience is the
  /// story's.
  story& swarm(const swarm_options& how = {});

  /// Under how many seeds it is run, 1, 2, …. The environment may say otherwise: TWINKLE_SEED is the only one, and
  /// TWINKLE_SEEDS as many.
  story& seeds(std::size_t count);
  /// What has to hold under every seed; what does not is shrunk and explained.
  story& expect(std::string what, std::function<bool(const seen&)> holds);
  /// The run may end with a fault; else it is wrong if it does.
  story& allow_fault();

  /// What there is to say of a run.
  struct told {
    seen what;
    std::vector<std::string> wrong = {};  ///< a promise or an expectation that is broken, each in words
    std::string explained = {};           ///< when, which mishaps were needed, who waits, how to run it again
  };

  [[nodiscard]] std::vector<std::uint64_t> seeds() const;
  /// "TWINKLE_SEED=0x2a", which asks for one seed.
  [[nodiscard]] static std::string in_environment(std::uint64_t seed);
  /// Runs what `build` builds for as long as `until`. `again`: the line that repeats it. A run is wrong by
  /// itself where a promise is broken, where it is not over in time, and where, run `twice`, it has another history.
  [[nodiscard]] told tell(const std::function<void(graph&)>& build, duration until, std::uint64_t seed,
                          const std::string& again, bool twice = false) const;

 private:
  struct expectation {
    std::string what;
    std::function<bool(const seen&)> holds;
  };
  class telling;

  std::string name_ = "simulation";
  options how_;
  std::map<std::string, std::string> given_ = {};
  std::optional<swarm_options> swarm_ = std::nullopt;
  bool latency_set_ = false;
  std::size_t seeds_ = 1;
  std::vector<expectation> expected_ = {};
  bool may_fail_ = false;
};

}  // namespace twinkle::sim
