// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scene.hpp"
#include "twinkle/flow/message.hpp"
#include "twinkle/sim/oracles.hpp"

namespace twinkle::sim {

/// One promise, and whoever watches over it. It hears only what may matter to some of them.
class oracle {
 public:
  oracle(const scene& in, std::string name) : in_(in), name_(std::move(name)) {}
  virtual ~oracle() = default;

  virtual void on_rows(const msg::rows&) {}
  virtual void on_credit(const msg::credit&) {}
  virtual void on_task(std::size_t /*stage*/, std::size_t /*worker*/, const msg::task&) {}
  virtual void on_reply(std::size_t /*stage*/, const msg::reply&) {}
  virtual void on_emitted(std::size_t /*stage*/, const msg::emitted&) {}
  virtual void on_gone(std::size_t /*stage*/, std::size_t /*worker*/) {}
  virtual void on_published(std::size_t /*to*/, const msg::published&) {}
  virtual void on_setback(const msg::setback&) {}
  virtual void on_finished(const msg::finished&) {}
  virtual void on_mishap(const mishap&) {}
  virtual void on_undelivered(std::span<const observer::in_flight>) {}
  virtual void on_end(const run_report&, bool /*ended*/) {}

  [[nodiscard]] const std::vector<violation>& found() const { return found_; }

 protected:
  void find(std::string what) {
    if (found_.size() < most)
      found_.push_back({name_, in_.now, std::move(what)});
  }

  const scene& in_;

 private:
  // What is broken once is mostly broken again.
  static constexpr std::size_t most = 10;

  std::string name_;
  std::vector<violation> found_;
};

[[nodiscard]] std::unique_ptr<oracle> watch_order(const scene& in);
[[nodiscard]] std::unique_ptr<oracle> watch_groups(const scene& in);
[[nodiscard]] std::unique_ptr<oracle> watch_staleness(const scene& in);
[[nodiscard]] std::unique_ptr<oracle> watch_versions(const scene& in);
[[nodiscard]] std::unique_ptr<oracle> watch_credits(const scene& in);
[[nodiscard]] std::unique_ptr<oracle> watch_drains(const scene& in);

}  // namespace twinkle::sim
