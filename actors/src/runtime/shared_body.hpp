// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// A light body: its jobs run in its actor's turn, so that it must not block. The same in every world.
class shared_body final : public body_seam, private gate {
 public:
  explicit shared_body(std::string name) : name_(std::move(name)) {}

  void run(std::function<void()> job) override { job(); }
  [[nodiscard]] gate& blocking() override { return *this; }
  void abandon(std::shared_ptr<void>) override {}

 private:
  void wait() override { refuse(); }
  void wait_until(time_point) override { refuse(); }
  void wake() override {}

  [[noreturn]] void refuse() const {
    throw error("a shared body made a blocking call of context; spawn the stage of " + name_ +
                " with bodies::own_thread");
  }

  std::string name_;
};

}  // namespace twinkle::runtime
