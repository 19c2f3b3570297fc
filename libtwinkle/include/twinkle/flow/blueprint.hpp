// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/base/time.hpp"
#include "twinkle/flow/call.hpp"
#include "twinkle/flow/emission.hpp"
#include "twinkle/flow/endpoint.hpp"
#include "twinkle/flow/regroup.hpp"
#include "twinkle/flow/sharding.hpp"
#include "twinkle/mesh/device_group.hpp"
#include "twinkle/mesh/device_mesh.hpp"

namespace twinkle {

class context;
class caller;

/// A graph as data: what check, plan, place, run and simulate read. Stages and endpoints are named by their ordinals.
struct blueprint {
  enum class role : std::uint8_t { source, work, state, load, called, save, restore };

  struct endpoint_spec {
    std::string name;  ///< given, or "file.cpp:12" of the declaring call
    role kind = role::work;
    endpoint target = {};
    dispatch_rule how = {};
    collect_rule result = {};
    small fewer = small::unset;
    std::shared_ptr<const micro_batch_rule> micro_batches = nullptr;
    std::shared_ptr<const std::vector<std::string>> reads = nullptr;  ///< columns; null: all
    std::shared_ptr<const sharding> shards = nullptr;                 ///< of a load; null: whole tensors
    duration deadline = std::chrono::minutes(10);
    std::size_t retries = 0;
    failing failed = failing::ends_run;
  };

  struct stage {
    std::string name;
    device_group group = {};
    std::optional<device_mesh> mesh = std::nullopt;
    bodies run = bodies::own_thread;
    std::size_t respawns = 0;  ///< how many workers that are gone are replaced
    std::function<std::shared_ptr<void>(context&)> make = nullptr;
    /// Passes over rows of a source that were emitted before; null: it is run from its beginning.
    std::function<void(void* worker, std::uint64_t rows)> skip = nullptr;
    emission emits = {};
    std::vector<endpoint_spec> endpoints = {};
  };

  struct regroup {
    enum class kind : std::uint8_t { group_by_parent, rebatch, filter };

    kind how = kind::group_by_parent;
    std::size_t rows = 0;                              ///< of a rebatch
    std::optional<std::size_t> buffer = std::nullopt;  ///< in rows; unset: as large as it must be
    bool refill = false;                               ///< of a rebatch: tombstones do not fill it
    row_filter keeps = nullptr;                        ///< of a filter
    std::string reason = {};                           ///< of a filter
    std::string unrouted = {};                         ///< the column that a filter reads, where its key is not routed
  };

  /// An endpoint, by ordinals.
  struct port {
    std::size_t stage = 0;
    std::size_t endpoint = 0;

    friend bool operator==(const port&, const port&) = default;
  };

  struct edge {
    port from;
    port to;
    std::vector<regroup> regroups = {};
    bool as_completed = false;  ///< rows leave as their workers return them, in no promised order
    bool grouped = false;  ///< siblings have been brought together upstream, and stay together
    std::optional<std::size_t> credits = std::nullopt;  ///< in rows; unset: two batches of the producer
    std::optional<std::size_t> max_staleness = std::nullopt;
    std::optional<std::size_t> expands = std::nullopt;  ///< rows that `to` returns for one
    bool beside = false;  ///< the second of two that are zipped; the one before it is the first
  };

  struct subscription {
    port to;
    std::size_t every = 1;
  };

  struct publication {
    std::size_t stage = 0;
    std::size_t state = 0;  ///< endpoint
    std::size_t after = 0;  ///< endpoint
    std::vector<subscription> subscribers = {};
  };

  /// What a stage keeps of itself for a run that goes on later; both are endpoints.
  struct keeping {
    std::size_t stage = 0;
    std::size_t save = 0;
    std::size_t restore = 0;
  };

  struct stop {
    port of;
    std::size_t steps = 0;
  };

  struct option {
    std::string name;
    std::string value;  ///< as text
    std::string help;
  };

  std::string name;
  std::vector<stage> stages = {};
  std::vector<edge> edges = {};
  std::vector<publication> publications = {};
  std::vector<keeping> keepings = {};
  std::optional<stop> stop_after = std::nullopt;
  std::vector<option> options = {};
  std::function<void(caller&)> driver = nullptr;  ///< calls endpoints; the run ends with it
  std::vector<std::string> problems = {};  ///< found while building

  [[nodiscard]] std::string name_of(port at) const {
    return stages[at.stage].name + "." + stages[at.stage].endpoints[at.endpoint].name;
  }
};

}  // namespace twinkle
