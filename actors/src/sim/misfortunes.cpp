// SPDX-License-Identifier: Apache-2.0
#include "misfortunes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle::sim {
namespace {

using kind = mishap::kind;

[[noreturn]] void refuse(const mishap& what, const std::string& why) {
  throw error("'" + to_string(what) + "' cannot happen: " + why);
}

}  // namespace

void misfortunes::add(const mishap& what) {
  if (what.lasts < duration{0} || what.at < time_point{0} || what.factor <= 0)
    refuse(what, "its time and duration are not negative, and its factor is above 0");
  in_.at(what.at, [this, what, event = event_of(what)] {
    in_.tell(what);
    event();
  });
}

std::function<void()> misfortunes::event_of(const mishap& what) {
  const auto later = [this, lasts = what.lasts](std::function<void()> then) { in_.at(in_.now() + lasts, std::move(then)); };
  switch (what.what) {
    case kind::dies: return [this, what, stage = stage_of(what)] { worker_dies(stage, what.worker, what.lasts); };
    case kind::late_weights:
      if (placed_.stages[stage_of(what)].loads.empty())
        refuse(what, "stage '" + what.stage + "' loads no weights");
      return [this, what, stage = stage_of(what)] { in_.delay_weights(stage, in_.now() + what.lasts); };
    case kind::node_dies:
      return [this, later, node = other_node_of(what)] {
        nodes_->die(node);
        later([this, node] { nodes_->revive(node); });
      };
    case kind::node_freezes:
      return [this, later, node = other_node_of(what)] {
        in_.freeze(node);
        later([this, node] { in_.thaw(node); });
      };
    case kind::cut:
      return [this, later, node = node_of(what, what.node), other = node_of(what, what.other)] {
        if (nodes_ == nullptr || node == other)
          return;
        nodes_->cut(node, other);
        later([this, node, other] { nodes_->heal(node, other); });
      };
    case kind::slows:
    case kind::drags:
    case kind::throws:
    case kind::hangs:
    case kind::stalls: return [this, what, stage = stage_of(what)] { bodies_.begin(what, stage); };
  }
  return nullptr;
}

std::size_t misfortunes::stage_of(const mishap& what) const {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < plan_.stages.size(); ++at) {
    names.push_back("'" + plan_.stages[at].name + "'");
    if (plan_.stages[at].name != what.stage)
      continue;
    if (const std::size_t workers = placed_.stages[at].workers.size(); what.worker >= workers)
      refuse(what, "stage '" + what.stage + "' has " + std::to_string(workers) + " workers");
    return at;
  }
  refuse(what, "there is no stage '" + what.stage + "'; there are " + list(names));
}

std::size_t misfortunes::node_of(const mishap& what, const std::string& name) const {
  if (const auto found = place::find(placed_.machines, name))
    return *found;
  std::vector<std::string> names = place::names(placed_.machines);
  for (std::string& each : names)
    each = "'" + each + "'";
  refuse(what, "there is no node '" + name + "'; there are " + list(names));
}

// A node other than the first, with which the run itself would be gone.
std::size_t misfortunes::other_node_of(const mishap& what) const {
  const std::size_t found = node_of(what, what.node);
  if (found == 0)
    refuse(what, "the session and all routers are on '" + what.node + "', so that nobody would be left to go on");
  return found;
}

void misfortunes::worker_dies(std::size_t stage, std::size_t worker, duration lasts) {
  const address who = address::worker(stage, worker);
  const auto gone = [this, node = in_.where().node_of(who)] { return nodes_ != nullptr && !nodes_->running(node); };
  if (gone())
    return;
  in_.kill(who);
  if (nodes_ != nullptr)
    nodes_->post(address::router(stage), who, msg::abandon{});  // nothing is kept for it any more
  dead_until_[who] = std::max(dead_until_[who], in_.now() + lasts);
  in_.post(address::session(), address::router(stage), msg::lost{worker, "it died"});
  in_.at(in_.now() + lasts, [this, who, gone, stage, worker] {
    if (!gone() && in_.now() >= dead_until_[who])
      in_.post(address::session(), address::router(stage), msg::back{worker});
  });
}

}  // namespace twinkle::sim
