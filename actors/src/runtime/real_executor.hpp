// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "real_clock.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// Bodies on threads of the machine.
class real_executor final : public executor_seam {
 public:
  explicit real_executor(const real_clock& clock) : clock_(clock) {}

  [[nodiscard]] std::unique_ptr<body_seam> make(const std::string& name, bodies kind) override;

 private:
  const real_clock& clock_;
};

}  // namespace twinkle::runtime
