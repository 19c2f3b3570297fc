// SPDX-License-Identifier: Apache-2.0
#include "timed_worker.hpp"

#include <algorithm>
#include <utility>

namespace twinkle::sim {

timed_worker::timed_worker(std::shared_ptr<runtime::stage_kit> kit, std::size_t index,
                           std::shared_ptr<const part> played, const seams& world, busy_meter& meter)
    : kit_(std::move(kit)),
      index_(index),
      played_(std::move(played)),
      world_(world),
      thread_(kit_->plan.workers[index].name),
      body_(kit_, index, world, meter, thread_.blocking()) {}

void timed_worker::receive(message&& content) {
  if (auto* task = std::get_if<msg::task>(&content)) {
    if (task->what == msg::task::kind::gather)
      return body_.has_gathered(task->call);
    tasks_.push_back(std::move(*task));
  } else if (const auto* cancel = std::get_if<msg::cancel>(&content)) {
    body_.cancel(cancel->call, cancel->why);
    if (cancel->call)
      cancelled_.push_back(*cancel->call);
    else
      stopping_ = true;
  }
  while (!tasks_.empty()) {
    if (!running_)
      begin();
    const bool over = cancelled(tasks_.front()) || (!ahead_.hangs && world_.clock.now() >= ahead_.ends);
    if (!over)
      return;
    end();
  }
}

bool timed_worker::cancelled(const msg::task& task) const {
  return stopping_ || std::find(cancelled_.begin(), cancelled_.end(), task.call) != cancelled_.end();
}

void timed_worker::begin() {
  const msg::task& task = tasks_.front();
  const time_point now = world_.clock.now();
  running_ = true;
  ahead_ = {now};
  if (task.what != msg::task::kind::run || cancelled(task))
    return;
  std::erase_if(cancelled_, [&](route::call_id each) { return each < task.call; });
  ahead_ = played_->next(task.endpoint, index_, task.input, now);
  if (!ahead_.hangs && ahead_.ends > now)
    world_.clock.wake(address::worker(kit_->plan.ordinal, index_), ahead_.ends);
}

void timed_worker::end() {
  msg::task task = std::move(tasks_.front());
  tasks_.pop_front();
  running_ = false;
  if (!ahead_.throws || cancelled(task)) {
    body_.execute(std::move(task));
    return;
  }
  const std::size_t stage = kit_->plan.ordinal;
  world_.post.post(address::worker(stage, index_), address::router(stage),
                   msg::reply{index_, task.call,
                              fault{kit_->plan.workers[index_].name, kit_->plan.endpoints[task.endpoint].name,
                                    std::nullopt, "it was made to throw"}});
}

}  // namespace twinkle::sim
