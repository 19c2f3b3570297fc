// SPDX-License-Identifier: Apache-2.0
// The versions that are published and loaded only grow, and nobody serves rows before it has one.
#include <map>
#include <utility>

#include "oracle.hpp"

namespace twinkle::sim {
namespace {

constexpr std::int64_t none = -1;

class version_oracle final : public oracle {
 public:
  explicit version_oracle(const scene& in) : oracle(in, "versions") {
    for (const stage_plan& stage : in.stages)
      loaded_.emplace_back(stage.workers.size(), std::vector<std::int64_t>(stage.loads.size(), none));
  }

  void on_task(std::size_t stage, std::size_t worker, const msg::task& task) override {
    std::vector<std::int64_t>& has = loaded_[stage][worker];
    if (task.what == msg::task::kind::construct)
      has.assign(has.size(), none);  // a new object begins again
    if (has.empty() || task.what != msg::task::kind::run)
      return;
    const stage_plan& plan = in_.stages[stage];
    for (std::size_t at = 0; at < has.size(); ++at)
      if (const auto* given = std::get_if<weights>(&task.input); given && plan.loads[at].endpoint == task.endpoint) {
        load(stage, worker, has[at], static_cast<std::int64_t>(given->version()));
        return;
      }
    if (plan.source == task.endpoint || in_.input_of(stage, task.endpoint))
      serve(stage, worker, has, task);
  }

  void on_published(std::size_t to, const msg::published& what) override {
    const auto version = static_cast<std::int64_t>(what.value.version());
    std::int64_t& last = published_.try_emplace({what.publication, to}, none).first->second;
    const auto every = static_cast<std::int64_t>(every_of(what.publication, to));
    const std::int64_t first = in_.resumed ? version : 0;  // it goes on with what was published before
    const std::int64_t next = last == none ? first : last + every;
    // Each so many versions, and then the last one, whichever that is.
    const bool right = last == none ? version == first : version > last && version <= next && last % every == 0;
    if (!right)
      find("version " + std::to_string(version) + " is published to " + in_.name(to) +
           (last == none ? " before any other" : " after version " + std::to_string(last)) + ", and every " +
           std::to_string(every) + (every == 1 ? " version is due" : " versions one is due"));
    last = std::max(last, version);
  }

 private:
  void load(std::size_t stage, std::size_t worker, std::int64_t& has, std::int64_t version) {
    if (version < has)
      find(in_.place(stage, worker) + " loads version " + std::to_string(version) + ", and has version " +
           std::to_string(has));
    has = version;
  }

  void serve(std::size_t stage, std::size_t worker, const std::vector<std::int64_t>& has, const msg::task& task) {
    const std::string who = in_.place(stage, worker);
    for (const std::int64_t each : has)
      if (each == none) {
        find(who + " is given rows before it has loaded any weights");
        return;
      }
    if (task.version > has.back())
      find(who + " is given rows with version " + std::to_string(has.back()) + ", and its stage has version " +
           std::to_string(task.version));
    if (const auto* rows = std::get_if<batch>(&task.input))
      for (const row_tag& tag : tags_of(*rows))
        if (tag.version > has.back())
          find(row(tag.id) + " says that " + who + " samples it with version " + std::to_string(tag.version) +
               ", which has version " + std::to_string(has.back()));
  }

  [[nodiscard]] std::size_t every_of(std::size_t publication, std::size_t to) const {
    for (const stage_plan& stage : in_.stages)
      for (const stage_plan::publication& each : stage.publications)
        for (const stage_plan::subscriber& subscriber : each.subscribers)
          if (each.ordinal == publication && subscriber.stage == to)
            return subscriber.every;
    return 1;
  }

  std::vector<std::vector<std::vector<std::int64_t>>> loaded_;                // by stage, worker and load
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> published_;     // by publication and stage: the last
};

}  // namespace

std::unique_ptr<oracle> watch_versions(const scene& in) { return std::make_unique<version_oracle>(in); }

}  // namespace twinkle::sim
