// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/stage_plan.hpp"

namespace twinkle::sim {

/// What the oracles know of a graph, and of the moment.
struct scene {
  struct edge {
    std::size_t producer = 0;
    std::size_t endpoint = 0;  // of the producer
    std::size_t consumer = 0;
    std::size_t input = 0;     // of the consumer
    std::size_t side = 0;      // of a zip
    bool as_completed = false; // this very edge
    bool ordered = true;       // neither this edge nor one upstream is as completed
    bool leads = true;         // the first of those that the endpoint's rows go on
    std::optional<std::size_t> credits = std::nullopt;
  };

  scene(const blueprint& plan, const std::vector<stage_plan>& of);

  std::vector<stage_plan> stages;
  std::vector<edge> edges = {};  // by ordinal
  bool driven = false;
  bool resumed = false;
  time_point now{};
  std::uint64_t deliveries = 0;

  [[nodiscard]] const stage_plan::in& input(const edge& to) const { return stages[to.consumer].inputs[to.input]; }
  /// The input whose rows an endpoint is called with.
  [[nodiscard]] std::optional<std::size_t> input_of(std::size_t stage, std::size_t endpoint) const;
  /// No stream goes on from it.
  [[nodiscard]] bool ends(std::size_t stage, std::size_t endpoint) const;

  [[nodiscard]] const std::string& name(std::size_t stage) const { return names_[stage]; }
  /// "source -> sampler"
  [[nodiscard]] std::string name(const edge& of) const { return names_[of.producer] + " -> " + names_[of.consumer]; }
  /// "sampler[dp=1]"
  [[nodiscard]] std::string place(std::size_t stage, std::size_t worker) const;

 private:
  std::vector<std::string> names_;
  std::size_t prefix_ = 0;  // of places
};

/// The tags of rows that have any.
[[nodiscard]] inline std::span<const row_tag> tags_of(const batch& rows) {
  return rows.empty() || !rows.identified() ? std::span<const row_tag>{} : rows.tags();
}

/// "row 0:17/3"
[[nodiscard]] inline std::string row(const identity& id) { return "row " + to_string(id); }

/// Workers of one number are given the same rows of a call, and the result of one of them counts.
[[nodiscard]] std::size_t unit_of(const stage_plan& stage, std::size_t endpoint, std::size_t worker);

/// Whether rows that a worker was given may be given to another.
[[nodiscard]] inline bool goes_on_elsewhere(const blueprint::endpoint_spec& endpoint) {
  return endpoint.retries > 0 || endpoint.failed == failing::drops_rows;
}

}  // namespace twinkle::sim
