// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "twinkle/flow/message.hpp"
#include "twinkle/flow/run_report.hpp"

namespace twinkle {

/// What a session must know of a stage.
struct session_stage {
  std::string name;
  bool flows = true;                      ///< rows go through it; else it only looks at weights, and ends last
  std::optional<std::size_t> watches = std::nullopt;  ///< the stage whose weights it looks at
};

/// All decisions of a run as a whole: build every stage, begin, count steps, stop in order, give up on a fault.
class session_machine {
 public:
  struct limits {
    std::size_t steps = 0;                         ///< 0: until the sources end
    std::size_t resumed = 0;                       ///< steps that are behind it
    bool driven = false;                           ///< until the driver returns
    duration stop_patience = std::chrono::seconds(10);
    duration quiet = std::chrono::seconds(30);     ///< without any progress, after which it says who waits for whom
    duration standing = duration{0};               ///< how often it says how the stages stand; 0: never
  };

  session_machine(std::string name, std::vector<session_stage> stages, limits bounds, run_listener& listener);

  /// A build message begins it all.
  [[nodiscard]] outbox receive(const message& content, time_point now);

  /// When it wants a tick.
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] const run_report& report() const { return report_; }

 private:
  enum class phase : std::uint8_t { building, running, stopping, aborting };

  void on(const msg::build&);
  void on(const msg::built&);
  void on(const msg::stepped&);
  void on(const msg::graded&);
  void on(const msg::newest&);
  void on(const msg::setback&);
  void on(const msg::saved&);
  void on(const msg::standing&);
  void on(const msg::failed&);
  void on(const msg::ended&);
  void on(const msg::finished&);
  void on(const msg::tick&);
  void on(const msg::interrupt&);
  void on(const msg::driven&);
  template <class Other>
  void on(const Other&);

  void stop();
  void stop_observers();
  void abort(fault why);
  void end_driver(const fault& why);
  void conclude_if_over();
  void conclude();
  void to_all(const message& content);
  void watch();
  void end_in_time();

  std::string name_;
  std::vector<session_stage> stages_;
  limits bounds_;
  run_listener& listener_;
  phase phase_ = phase::building;
  std::vector<bool> built_;
  std::vector<bool> ended_;
  std::vector<std::optional<msg::finished>> finished_;
  bool observers_stopped_ = false;
  bool driver_gone_ = true;
  bool done_ = false;
  std::optional<time_point> deadline_;
  std::optional<time_point> ask_at_;
  std::vector<std::optional<stage_standing>> standings_;  // since it asked
  std::uint64_t answers_ = 0;
  time_point moved_at_{};
  duration quiet_{};                                      // until it is said again
  run_report report_;
  time_point now_{};
  outbox out_;
};

}  // namespace twinkle
