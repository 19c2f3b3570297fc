// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "../runtime/shared_body.hpp"
#include "../runtime/worker_body.hpp"
#include "cast.hpp"

namespace twinkle::sim {

/// A worker whose bodies do not block: each runs in its actor's turn, when the virtual time that it takes is over. So
/// it needs no thread.
class timed_worker final : public actor_role {
 public:
  timed_worker(std::shared_ptr<runtime::stage_kit> kit, std::size_t index, std::shared_ptr<const part> played,
               const seams& world, busy_meter& meter);

  void receive(message&& content) override;

 private:
  void begin();
  void end();
  [[nodiscard]] bool cancelled(const msg::task& task) const;

  std::shared_ptr<runtime::stage_kit> kit_;
  std::size_t index_;
  std::shared_ptr<const part> played_;
  seams world_;
  runtime::shared_body thread_;
  runtime::worker_body body_;
  std::deque<msg::task> tasks_;  // the first one runs
  bool running_ = false;
  troubles::course ahead_;
  std::vector<route::call_id> cancelled_;
  bool stopping_ = false;
};

}  // namespace twinkle::sim
