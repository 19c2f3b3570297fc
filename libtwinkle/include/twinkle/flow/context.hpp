// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "twinkle/base/random.hpp"
#include "twinkle/base/time.hpp"
#include "twinkle/data/batch.hpp"
#include "twinkle/data/identity.hpp"
#include "twinkle/flow/communicator.hpp"
#include "twinkle/flow/micro_batch_plan.hpp"
#include "twinkle/flow/stopped.hpp"
#include "twinkle/flow/worker_place.hpp"

namespace twinkle {

/// What the world gives a body, real or simulated.
class body_services {
 public:
  virtual ~body_services() = default;
  [[nodiscard]] virtual time_point now() const = 0;
  virtual void sleep_until(time_point when) = 0;
  [[nodiscard]] virtual bool stopping() const = 0;
  [[nodiscard]] virtual std::shared_ptr<collective_port> along(std::initializer_list<std::string_view> axes) = 0;
  /// Rows that the call has made so far, for an edge that takes them as they are completed.
  virtual void hand_out(const batch& rows) = 0;
};

/// All that a worker knows of the world. It is valid during the call that it was passed to.
class context {
 public:
  context(const worker_place& place, body_services& services, std::uint64_t seed, std::int64_t version,
          std::span<const micro_batch> micro_batches = {})
      : place_(place), services_(services), seed_(seed), version_(version), micro_batches_(micro_batches) {}

  /// The first of the worker's ranks; see ranks() for all.
  [[nodiscard]] std::size_t rank() const { return place_.ranks.front(); }
  [[nodiscard]] const std::vector<std::size_t>& ranks() const { return place_.ranks; }
  [[nodiscard]] const device_mesh& mesh() const { return *place_.mesh; }
  [[nodiscard]] std::size_t data_rank() const { return place_.data_rank(); }
  [[nodiscard]] std::size_t data_ranks() const { return place_.mesh->data_ranks(); }
  [[nodiscard]] const std::vector<std::string>& devices() const { return place_.devices; }
  /// Where it runs: the node of the cluster, and its devices as the node numbers them.
  [[nodiscard]] const std::string& node() const { return place_.node_name; }
  [[nodiscard]] const std::vector<std::size_t>& local_devices() const { return place_.local_devices; }
  /// "grpo/sampler[dp=1]@local:gpu3"
  [[nodiscard]] const std::string& place() const { return place_.name; }

  /// The rows of `length` that this worker's data rank works on.
  [[nodiscard]] interval get_slice(std::size_t length) const { return place_.mesh->get_slice(length, data_rank()); }

  /// The seed of the run, and random numbers of a row: the same wherever the row lands.
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] generator random(const identity& row, std::string_view purpose) const {
    return random_of(seed_, row, purpose);
  }

  /// How to take the rows of this call through the model, where its edge asks for micro-batches: as many on all data
  /// ranks, so that collectives match.
  [[nodiscard]] std::span<const micro_batch> micro_batches() const { return micro_batches_; }

  /// The version of the weights that this worker has loaded; -1 before the first.
  [[nodiscard]] std::int64_t version() const { return version_; }

  [[nodiscard]] time_point now() const { return services_.now(); }
  /// Blocks; throws `stopped` when the run stops or a peer of this call fails.
  void sleep_for(duration time) { services_.sleep_until(services_.now() + time); }
  /// Whether the run asks bodies to end: a long body may look, and return early.
  [[nodiscard]] bool stopping() const { return services_.stopping(); }

  /// What an emitter has so far goes on; for endpoints that take one.
  void hand_out(const batch& rows) { services_.hand_out(rows); }

  /// The workers of this stage that differ from this one only along `axes`.
  [[nodiscard]] communicator along(std::initializer_list<std::string_view> axes) {
    return communicator{services_.along(axes)};
  }
  /// All workers of this stage.
  [[nodiscard]] communicator peers() { return along({"fsdp", "pp", "dp", "cp", "tp"}); }

 private:
  const worker_place& place_;
  body_services& services_;
  std::uint64_t seed_;
  std::int64_t version_;
  std::span<const micro_batch> micro_batches_;
};

}  // namespace twinkle
