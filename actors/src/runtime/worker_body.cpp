// SPDX-License-Identifier: Apache-2.0
#include "worker_body.hpp"

#include <algorithm>
#include <string>

#include "twinkle/base/error.hpp"
#include "twinkle/data/fetch_plan.hpp"

namespace twinkle::runtime {

/// A communicator's transport within one process.
class local_port final : public collective_port {
 public:
  local_port(worker_body& body, std::vector<std::size_t> members) : body_(body), members_(std::move(members)) {}

  [[nodiscard]] std::size_t size() const override { return members_.size(); }
  [[nodiscard]] std::size_t index() const override {
    const auto self = std::find(members_.begin(), members_.end(), body_.place_.index);
    return static_cast<std::size_t>(self - members_.begin());
  }
  void all_reduce(element type, reduction how, std::span<std::byte> values) override {
    body_.kit_->hall.all_reduce(next(members_), index(), body_.break_, type, how, values);
  }
  void broadcast(std::span<std::byte> values, std::size_t root) override {
    body_.kit_->hall.broadcast(next(members_), index(), body_.break_, values, root);
  }
  void reduce_scatter(element type, reduction how, std::span<std::byte> values) override {
    body_.kit_->hall.reduce_scatter(next(members_), index(), body_.break_, type, how, values);
  }
  void all_gather(element type, std::span<std::byte> values) override {
    body_.kit_->hall.all_gather(next(members_), index(), body_.break_, type, values);
  }
  void send(std::span<const std::byte> values, std::size_t to) override {
    const std::size_t receiver = other(to, "send to ");
    body_.kit_->hall.send(next({body_.place_.index, receiver}, true), body_.break_, values);
  }
  void receive(std::span<std::byte> values, std::size_t from) override {
    const std::size_t sender = other(from, "receive from ");
    body_.kit_->hall.receive(next({sender, body_.place_.index}, true), body_.break_, values);
  }

 private:
  [[nodiscard]] std::size_t other(std::size_t member, const char* what) const {
    if (member >= members_.size())
      throw error(what + std::to_string(member) + ", but there are only " + std::to_string(members_.size()) +
                  " workers in this collective");
    if (member == index())
      throw error(what + std::to_string(member) + ", which is this worker itself");
    return members_[member];
  }

  [[nodiscard]] meeting_hall::key next(const std::vector<std::size_t>& members, bool one_way = false) {
    if (body_.met_ != body_.call_)
      body_.meetings_.clear();
    body_.met_ = body_.call_;
    return {body_.call_, members, body_.meetings_[{one_way, members}]++, one_way};
  }

  worker_body& body_;
  std::vector<std::size_t> members_;
};

std::shared_ptr<collective_port> worker_body::along(std::initializer_list<std::string_view> axes) {
  std::vector<std::size_t> members;
  for (const std::size_t rank : place_.mesh->group(place_.ranks.front(), axes))
    members.push_back(rank / place_.ranks.size());
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return std::make_shared<local_port>(*this, std::move(members));
}

void worker_body::hand_out(const batch& rows) {
  if (!streams_)
    return;
  const std::size_t stage = kit_->plan.ordinal;
  world_.post.post(address::worker(stage, place_.index), address::router(stage),
                   msg::emitted{place_.index, call_, rows});
}

void worker_body::sleep_until(time_point when) { break_.sleep_until(world_.clock, when); }

fault worker_body::failure(const msg::task& task, std::string cause) const {
  std::string endpoint;
  if (task.what == msg::task::kind::run)
    endpoint = kit_->plan.endpoints[task.endpoint].name;
  else
    endpoint = task.what == msg::task::kind::construct ? "constructor" : "destructor";
  return {place_.name, std::move(endpoint), std::nullopt, std::move(cause)};
}

result<payload> worker_body::call(msg::task& task, std::optional<fault> cancelled) {
  if (task.what == msg::task::kind::destroy) {
    object_.reset();
    return payload{};
  }
  if (cancelled)
    return *std::move(cancelled);
  const std::span<const micro_batch> micro_batches =
      task.micro_batches ? std::span<const micro_batch>(*task.micro_batches) : std::span<const micro_batch>{};
  context ctx{place_, *this, kit_->seed, task.version, micro_batches};
  if (task.what == msg::task::kind::construct) {
    object_ = kit_->plan.make(ctx);
    return payload{};
  }
  if (!object_)
    return failure(task, "it has no object, since its constructor failed");
  const blueprint::endpoint_spec& endpoint = kit_->plan.endpoints[task.endpoint];
  if (auto* loaded = std::get_if<weights>(&task.input); loaded != nullptr && endpoint.shards)
    *loaded = narrow(*loaded, shards_for(*endpoint.shards, place_));
  return endpoint.target.invoke(object_.get(), ctx, std::move(task.input));
}

result<payload> worker_body::attempt(msg::task& task) {
  try {
    return call(task, break_.enter(task.call));
  } catch (const stopped& why) {
    return why.cause();
  } catch (const std::exception& wrong) {
    return failure(task, wrong.what());
  } catch (...) {
    return failure(task, "it threw something that is no std::exception");
  }
}

void worker_body::has_gathered(route::call_id call) {
  const std::size_t stage = kit_->plan.ordinal;
  world_.post.post(address::worker(stage, place_.index), address::router(stage),
                   msg::reply{place_.index, call, payload{}});
}

void worker_body::execute(msg::task&& task) {
  const std::size_t stage = kit_->plan.ordinal;
  call_ = task.call;
  streams_ = task.streams;
  kit_->hall.begins(place_.index, call_);
  gate_.begin();
  msg::reply answer{place_.index, task.call, attempt(task)};
  gate_.end();
  if (const duration ran = gate_.ran(); kit_->tells_times)
    answer.ran = ran;
  world_.post.post(address::worker(stage, place_.index), address::router(stage), std::move(answer));
}

}  // namespace twinkle::runtime
