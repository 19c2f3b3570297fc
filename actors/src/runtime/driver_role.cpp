// SPDX-License-Identifier: Apache-2.0
#include "driver_role.hpp"

namespace twinkle::runtime {
namespace {

// The thread may outlive the role, if it was abandoned: it has all that it uses.
void drive(const std::function<void(caller&)>& driver, const std::shared_ptr<driver_desk>& desk,
           const std::string& name, const seams& world) {
  msg::driven end;
  try {
    caller calls{desk};
    driver(calls);
  } catch (const stopped&) {
    // The run stops: that is no fault of the driver.
  } catch (const call_failed& failed) {
    end.why = failed.cause();
    if (end.why->place.empty())
      end.why->place = name;
  } catch (const std::exception& wrong) {
    end.why = fault{name, "", std::nullopt, wrong.what()};
  } catch (...) {
    end.why = fault{name, "", std::nullopt, "it threw something that is no std::exception"};
  }
  desk->close();
  world.post.post(address::client(0), address::session(), std::move(end));
}

}  // namespace

void driver_desk::answer(msg::answer outcome) {
  {
    const std::lock_guard lock(mutex_);
    answers_.insert_or_assign(outcome.id, std::move(outcome.value));
  }
  break_.blocking().wake();
}

void driver_desk::post(std::size_t stage, message content) {
  const std::lock_guard lock(mutex_);
  if (!closed_)
    world_.post.post(address::client(0), address::router(stage), std::move(content));
}

result<collected> driver_desk::await(std::size_t stage, std::uint64_t id) {
  post(stage, msg::claim{id, address::client(0)});
  std::unique_lock lock(mutex_);
  break_.await(lock, [&] { return answers_.contains(id); });
  result<collected> outcome = std::move(answers_.find(id)->second);
  answers_.erase(id);
  return outcome;
}

void driver_desk::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

driver_role::driver_role(std::string graph, std::function<void(caller&)> driver, const seams& world)
    : name_(graph + "/driver"),
      driver_(std::move(driver)),
      world_(world),
      thread_(world.executor.make(name_, bodies::own_thread)),
      desk_(std::make_shared<driver_desk>(world, thread_->blocking())) {}

void driver_role::receive(message&& content) {
  if (auto* outcome = std::get_if<msg::answer>(&content)) {
    desk_->answer(std::move(*outcome));
  } else if (std::holds_alternative<msg::begin>(content)) {
    thread_->run([driver = driver_, desk = desk_, name = name_, world = world_] { drive(driver, desk, name, world); });
  } else if (const auto* cancel = std::get_if<msg::cancel>(&content)) {
    desk_->cancel(cancel->why);
  } else if (std::holds_alternative<msg::abandon>(content)) {
    thread_->abandon(desk_);
  }
}

}  // namespace twinkle::runtime
