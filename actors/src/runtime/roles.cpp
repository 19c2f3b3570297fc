// SPDX-License-Identifier: Apache-2.0
#include "roles.hpp"

namespace twinkle::runtime {
namespace {

void post_all(const seams& world, const address& from, outbox out) {
  for (envelope& each : out)
    world.post.post(from, each.to, std::move(each.content));
}

}  // namespace

void router_role::receive(message&& content) {
  const time_point now = world_.clock.now();
  if (const auto* reply = std::get_if<msg::reply>(&content); reply != nullptr && reply->ran > duration{0})
    meter_.ended_elsewhere(static_cast<std::size_t>(self_.stage), reply->ran, now);
  for (envelope& each : machine_.receive(std::move(content), now))
    if (const auto* respawn = std::get_if<msg::respawn>(&each.content))
      world_.life.spawn(address::worker(static_cast<std::size_t>(self_.stage), respawn->worker), make_(respawn->worker));
    else
      world_.post.post(self_, each.to, std::move(each.content));
  alarm_.set(machine_.next_deadline(), now);
}

worker_role::worker_role(std::shared_ptr<stage_kit> kit, std::size_t index, const seams& world, busy_meter& meter)
    : thread_(world.executor.make(kit->plan.workers[index].name, kit->plan.run)),
      body_(std::make_shared<worker_body>(kit, index, world, meter, thread_->blocking())) {}

void worker_role::receive(message&& content) {
  if (auto* task = std::get_if<msg::task>(&content)) {
    if (task->what == msg::task::kind::gather)
      return body_->has_gathered(task->call);  // whatever its body is at
    thread_->run([body = body_.get(), work = std::move(*task)]() mutable { body->execute(std::move(work)); });
  } else if (const auto* cancel = std::get_if<msg::cancel>(&content)) {
    body_->cancel(cancel->call, cancel->why);
  } else if (std::holds_alternative<msg::abandon>(content)) {
    thread_->abandon(body_);
  }
}

void session_role::receive(message&& content) {
  const time_point now = world_.clock.now();
  if (auto* step = std::get_if<msg::stepped>(&content))
    step->record.times = meter_.read(now);
  post_all(world_, address::session(), machine_.receive(content, now));
  alarm_.set(machine_.next_deadline(), now);
  if (machine_.done() && on_done_)
    std::exchange(on_done_, nullptr)();
}

}  // namespace twinkle::runtime
