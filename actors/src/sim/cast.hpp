// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "twinkle/flow/blueprint.hpp"
#include "twinkle/sim/simulate.hpp"
#include "twinkle/sim/troubles.hpp"

namespace twinkle::sim {

/// How the bodies of a stage go in a simulation.
class part {
 public:
  part(const blueprint::stage& of, std::size_t stage, const options& how, troubles& now);

  /// How a body of `endpoint` that begins at `now` will go.
  [[nodiscard]] troubles::course next(std::size_t endpoint, std::size_t worker, const payload& input,
                                      time_point now) const;

  /// Whether bodies may block, so that each needs a thread.
  [[nodiscard]] bool may_block() const { return may_block_; }

 private:
  std::size_t stage_;
  std::uint64_t seed_;
  std::vector<std::string> endpoints_;
  std::vector<bool> rows_;  // by endpoint: whether it works on rows
  std::vector<std::function<duration(work)>> lasts_;  // by endpoint
  bool may_block_;
  troubles& now_;
};

/// A graph whose bodies take the virtual time that they are said to take, and some of which are played by others.
struct cast {
  blueprint plan;
  std::vector<std::shared_ptr<const part>> parts = {};  // by stage
};

/// By the rules of `how`. Throws `error` for a rule of no endpoint of the graph, with the stages or endpoints that there are.
[[nodiscard]] cast make_cast(const blueprint& plan, const options& how, troubles& now);

}  // namespace twinkle::sim
