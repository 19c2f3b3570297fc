// SPDX-License-Identifier: Apache-2.0
#include "caf_gate.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "twinkle/base/list.hpp"
#include "twinkle/interop/caf.hpp"

namespace twinkle::runtime {
namespace {

class gate final : public caf::event_based_actor {
 public:
  gate(caf::actor_config& config, const stage_plan& stage, post_seam& world, std::shared_ptr<census> alive)
      : caf::event_based_actor(config),
        ordinal_(stage.ordinal),
        stage_(stage.team.stage),
        endpoints_(stage.endpoints),
        world_(world),
        alive_(std::move(alive)) {
    alive_->enter();
    set_exit_handler([](caf::exit_msg&) {});  // a caller that is linked and dies takes nobody along
  }

  caf::behavior make_behavior() override {
    return {[this](interop::call& wanted) { take(std::move(wanted)); },
            [this](message& arrived) {
              if (std::holds_alternative<msg::begin>(arrived))
                begin();
              else if (auto* answer = std::get_if<msg::answer>(&arrived))
                give(answer->id, std::move(answer->value));
            },
            [this](curtain) { quit(); }};
  }

  void on_exit() override {
    while (!waiting_.empty())
      give(waiting_.begin()->first,
           fault{stage_, waiting_.begin()->second.endpoint, std::nullopt, "the run ended before the call was answered"});
  }

  bool cleanup(caf::error&& why, caf::execution_unit* unit) override {
    const bool first = caf::event_based_actor::cleanup(std::move(why), unit);
    if (alive_)
      std::exchange(alive_, nullptr)->leave();
    return first;
  }

 private:
  struct caller {
    caf::response_promise promise;
    std::uint64_t id = 0;
    std::string endpoint;
  };

  void take(interop::call&& wanted) {
    const std::uint64_t id = next_++;
    waiting_.emplace(id, caller{make_response_promise(), wanted.id, wanted.endpoint});
    std::variant<msg::call, std::string> checked = check(id, std::move(wanted));
    if (const auto* refused = std::get_if<std::string>(&checked))
      give(id, fault{stage_, waiting_.at(id).endpoint, std::nullopt, *refused});
    else if (begun_)
      send_on(std::get<msg::call>(std::move(checked)));
    else
      early_.push_back(std::get<msg::call>(std::move(checked)));
  }

  /// What the router is to be told, or why it is not.
  [[nodiscard]] std::variant<msg::call, std::string> check(std::uint64_t id, interop::call&& wanted) const {
    const auto found = std::find_if(endpoints_.begin(), endpoints_.end(),
                                    [&](const auto& each) { return each.name == wanted.endpoint; });
    if (found == endpoints_.end()) {
      std::vector<std::string> names;
      for (const blueprint::endpoint_spec& each : endpoints_)
        names.push_back(each.name);
      return "the stage has no such endpoint; it has " + list(names) + ", by .name or by file and line";
    }
    const bool carries_rows = std::holds_alternative<batch>(wanted.input);
    if (found->kind == blueprint::role::source || found->kind == blueprint::role::load ||
        found->kind == blueprint::role::restore)
      return std::string("only the graph calls it: it ") +
             (found->kind == blueprint::role::source ? "is the source of a stream"
              : found->kind == blueprint::role::load ? "loads published weights"
                                                     : "takes back what was saved");
    if (found->kind == blueprint::role::work && !carries_rows)
      return "it takes a batch, and the call carries none";
    if ((found->kind == blueprint::role::state || found->kind == blueprint::role::save) &&
        !std::holds_alternative<std::monostate>(wanted.input))
      return "it takes nothing, and the call carries something";
    msg::call made{id, address::gate(ordinal_), static_cast<std::size_t>(found - endpoints_.begin()), {}};
    made.how.input = std::move(wanted.input);
    return made;
  }

  void begin() {
    begun_ = true;
    for (msg::call& each : std::exchange(early_, {}))
      send_on(std::move(each));
  }

  void send_on(msg::call&& wanted) { world_.post(address::gate(ordinal_), address::router(ordinal_), std::move(wanted)); }

  void give(std::uint64_t id, result<collected> value) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end())
      return;
    caller of = std::move(found->second);
    waiting_.erase(found);
    of.promise.deliver(interop::answer{of.id, std::move(of.endpoint), std::move(value)});
  }

  std::size_t ordinal_;
  std::string stage_;
  std::vector<blueprint::endpoint_spec> endpoints_;
  post_seam& world_;
  std::shared_ptr<census> alive_;
  bool begun_ = false;
  std::vector<msg::call> early_;  // before the run began
  std::map<std::uint64_t, caller> waiting_;
  std::uint64_t next_ = 0;
};

}  // namespace

caf::actor spawn_gate(caf::actor_system& home, const stage_plan& stage, post_seam& world,
                      std::shared_ptr<census> alive) {
  const logger_kept kept;
  return home.spawn<gate, caf::hidden>(stage, world, std::move(alive));
}

}  // namespace twinkle::runtime
