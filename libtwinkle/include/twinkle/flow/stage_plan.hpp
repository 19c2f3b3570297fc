// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/checkpoint.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/worker_place.hpp"

namespace twinkle {

/// What the router of one stage and its workers need to know of the graph.
struct stage_plan {
  struct in {
    std::size_t edge = 0;
    std::size_t producer = 0;
    std::size_t endpoint = 0;
    std::vector<blueprint::regroup> regroups = {};
    bool as_completed = false;  ///< its rows come in no promised order, from this edge or one upstream
    bool grouped = false;
    std::size_t buffer = 0;
    std::optional<std::size_t> max_staleness = std::nullopt;
    std::optional<std::size_t> exactly = std::nullopt;  ///< rows that must come out for one that goes in
    std::size_t expected = 1;                           ///< rows that are expected for one
    struct other {
      std::size_t edge = 0;
      std::size_t producer = 0;
    };
    std::optional<other> beside = std::nullopt;         ///< the edge that it is zipped with
    bool may_lose = false;  ///< its endpoint, or one before it, drops rows that nobody could work on
  };
  struct out {
    std::size_t edge = 0;
    std::size_t consumer = 0;
    std::size_t endpoint = 0;
    std::optional<std::size_t> credits = std::nullopt;
    bool as_completed = false;
  };
  struct subscriber {
    std::size_t stage = 0;
    std::size_t every = 1;
    bool bounded = false;  ///< its loads are placed by count
    std::size_t bound = 0;  ///< versions, where there is one

    /// Whether one that goes on behind `step` steps has to see the version: all that the next rows are sampled with,
    /// or the one that it had last.
    [[nodiscard]] bool needs(std::size_t version, std::size_t step) const {
      return bounded ? version <= step && version + bound >= step : version == step - step % every;
    }
  };
  struct publication {
    std::size_t ordinal = 0;
    std::size_t state = 0;
    std::size_t after = 0;
    std::vector<subscriber> subscribers = {};
  };
  struct load {
    std::size_t publication = 0;
    std::size_t endpoint = 0;
    std::optional<std::size_t> bound = std::nullopt;  ///< versions
    std::size_t rows_per_step = 0;                    ///< where there is a bound
  };
  struct keeping {
    std::size_t save = 0;     ///< endpoint
    std::size_t restore = 0;  ///< endpoint
    std::size_t after = 0;    ///< endpoint, whose calls are the steps
    std::size_t aligned = 1;  ///< each so many steps end with a batch of the source
    std::size_t every = 0;    ///< steps; 0: nothing is saved
  };
  struct step_limit {
    std::size_t endpoint = 0;
    std::size_t steps = 0;
  };

  std::size_t ordinal = 0;
  route::team team = {};
  std::vector<worker_place> workers = {};
  bodies run = bodies::own_thread;
  std::size_t respawns = 0;
  std::function<std::shared_ptr<void>(context&)> make = nullptr;
  std::vector<blueprint::endpoint_spec> endpoints = {};
  std::optional<std::size_t> source = std::nullopt;  ///< endpoint
  std::size_t emits_rows = 0;
  std::uint64_t emits_first = 0;  ///< the sequence of the first row that the source emits
  std::vector<in> inputs = {};
  std::vector<out> outputs = {};
  std::vector<publication> publications = {};
  std::vector<load> loads = {};
  std::optional<keeping> keeps = std::nullopt;
  std::optional<step_limit> steps = std::nullopt;
  std::shared_ptr<const checkpoint> resumed = nullptr;  ///< where the run goes on; null: it begins

  /// It only looks at weights: nothing flows through it, so that it ends last.
  [[nodiscard]] bool observes() const { return inputs.empty() && !source && !loads.empty(); }

  /// Every endpoint can be executed by any worker, so that those that are left can do it all.
  [[nodiscard]] bool can_spare_workers() const;
};

}  // namespace twinkle
