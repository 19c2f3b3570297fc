// SPDX-License-Identifier: Apache-2.0
// Behind group_by, siblings are whole and stand together in each batch. A batch is seen where it flows on, as the outcome
// of a call, and where it is given to the workers of a stage in parts.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "identity_hash.hpp"
#include "oracle.hpp"

namespace twinkle::sim {
namespace {

struct group {
  std::uint32_t expected = 0;
  std::uint32_t present = 0;
  std::uint64_t last = 0;  // where its last row stands in the batch, from 1
};
using groups_of = std::unordered_map<identity, group, identity_hash>;

std::uint32_t siblings(const identity& id) { return id.path[id.depth - 1].count; }

class group_oracle final : public oracle {
 public:
  explicit group_oracle(const scene& in) : oracle(in, "groups") {
    for (const stage_plan& stage : in.stages) {
      std::vector<input_kind> kinds;
      for (const stage_plan::in& each : stage.inputs)
        kinds.push_back(kind_of(stage, each));
      kinds_.push_back(std::move(kinds));
      inputs_.emplace_back(stage.inputs.size());
    }
    for (const scene::edge& each : in.edges)
      whole_.push_back(arrives_whole(each));
  }

  void on_rows(const msg::rows& what) override {
    const scene::edge& edge = in_.edges[what.edge];
    if (whole_[what.edge])
      check_batch(edge, what.value);
    if (kinds_[edge.consumer][edge.input].counts_lost && what.value.tombstone_count() > 0)
      for (const tombstone& lost : what.value.tombstones())
        if (lost.tag.id.depth > 0)
          ++inputs_[edge.consumer][edge.input].lost[parent_of(lost.tag.id)];
  }

  void on_task(std::size_t stage, std::size_t worker, const msg::task& task) override {
    const auto input = task.what == msg::task::kind::run ? in_.input_of(stage, task.endpoint) : std::nullopt;
    const auto* rows = std::get_if<batch>(&task.input);
    if (!input || rows == nullptr || !kinds_[stage][*input].seen_in_parts)
      return;
    part_of_batch(stage, worker, *input, task, *rows);
  }

  void on_end(const run_report& report, bool ended) override {
    if (!ended || report.why)
      return;
    for (std::size_t stage = 0; stage < inputs_.size(); ++stage)
      for (std::size_t input = 0; input < inputs_[stage].size(); ++input)
        for (; !inputs_[stage][input].calls.empty(); inputs_[stage][input].calls.pop_front())
          check_whole(stage, input);
  }

 private:
  // Parts of a call reach its workers at different times, but those of the third call only behind those of the first.
  static constexpr std::size_t calls_apart = 4;

  struct input_kind {
    bool seen_in_parts = false;
    bool counts_lost = false;  // all that a batch lacks is known by name
  };
  struct call {
    route::call_id id = 0;
    std::vector<std::size_t> units = {};
    std::uint64_t rows = 0;
    groups_of groups = {};
  };
  struct input_state {
    std::deque<call> calls = {};
    std::unordered_map<identity, std::uint32_t, identity_hash> lost = {};  // tombstones, by parent
  };

  static input_kind kind_of(const stage_plan& stage, const stage_plan::in& in) {
    using kind = blueprint::regroup::kind;
    const auto has = [&](kind wanted) {
      return std::any_of(in.regroups.begin(), in.regroups.end(), [&](const auto& each) { return each.how == wanted; });
    };
    // An admission cuts where its weights take effect; and a part that is sent again is one of another call.
    const bool cut = std::any_of(stage.loads.begin(), stage.loads.end(), [](const auto& each) { return each.bound.has_value(); });
    const bool grouped = has(kind::group_by_parent) || (in.grouped && !in.as_completed);
    const blueprint::endpoint_spec& endpoint = stage.endpoints[in.endpoint];
    input_kind made;
    made.seen_in_parts = grouped && !cut && !goes_on_elsewhere(endpoint) && endpoint.how.kind != dispatch::function;
    made.counts_lost = made.seen_in_parts && !has(kind::filter) && !in.beside && !stage.resumed;
    return made;
  }

  [[nodiscard]] bool arrives_whole(const scene::edge& edge) const {
    const stage_plan& from = in_.stages[edge.producer];
    const auto input = in_.input_of(edge.producer, edge.endpoint);
    if (!input || !edge.ordered || !from.inputs[*input].grouped)
      return false;
    return std::none_of(from.loads.begin(), from.loads.end(), [](const auto& each) { return each.bound.has_value(); });
  }

  // The outcome of a call: rows and tombstones of one depth.
  void check_batch(const scene::edge& edge, const batch& rows) {
    groups_of found;
    std::uint64_t at = 0;
    for (const row_tag& tag : tags_of(rows))
      if (tag.id.depth > 0)
        add(found, tag.id, ++at, "on " + in_.name(edge));
    if (found.empty())
      return;
    if (rows.tombstone_count() > 0)
      for (const tombstone& lost : rows.tombstones())
        if (lost.tag.id.depth > 0)
          if (const auto of = found.find(parent_of(lost.tag.id)); of != found.end())
            ++of->second.present;
    for (const row_tag& tag : tags_of(rows))
      if (tag.id.depth > 0) {
        const auto of = found.find(parent_of(tag.id));
        if (of != found.end() && of->second.present != of->second.expected)
          report(of->first, of->second, "on " + in_.name(edge));
        if (of != found.end())
          found.erase(of);
      }
  }

  void part_of_batch(std::size_t stage, std::size_t worker, std::size_t input, const msg::task& task, const batch& rows) {
    std::deque<call>& calls = inputs_[stage][input].calls;
    auto here = std::find_if(calls.begin(), calls.end(), [&](const call& each) { return each.id == task.call; });
    if (here == calls.end()) {
      if (calls.size() == calls_apart) {
        check_whole(stage, input);
        calls.pop_front();
      }
      here = calls.insert(calls.end(), call{task.call});
    }
    const std::size_t unit = unit_of(in_.stages[stage], task.endpoint, worker);
    if (std::find(here->units.begin(), here->units.end(), unit) != here->units.end())
      return;  // a replica has the same rows
    here->units.push_back(unit);
    here->rows += 1;  // parts do not stand together
    const std::string where = "given to " + in_.place(stage, worker);
    std::uint64_t at = (here->rows << 32);
    for (const row_tag& tag : tags_of(rows)) {
      if (tag.padding || tag.id.depth == 0)
        continue;
      const identity parent = parent_of(tag.id);
      for (const call& other : calls)
        if (other.id != here->id && other.groups.contains(parent))
          find("siblings of " + row(parent) + " are given to " + in_.name(stage) + " in two batches");
      add(here->groups, tag.id, ++at, where);
    }
  }

  // Siblings may lie in the parts of several workers, but stand together in each.
  void add(groups_of& found, const identity& id, std::uint64_t at, const std::string& where) {
    group& of = found.try_emplace(parent_of(id), group{siblings(id)}).first->second;
    ++of.present;
    if (of.last != 0 && of.last + 1 != at && (of.last >> 32) == (at >> 32))
      find("siblings of " + row(parent_of(id)) + " do not stand together " + where);
    of.last = at;
  }

  // The oldest call of an input.
  void check_whole(std::size_t stage, std::size_t input) {
    input_state& state = inputs_[stage][input];
    std::vector<std::pair<identity, group>> wrong;
    for (const auto& [parent, of] : state.calls.front().groups) {
      group all = of;
      if (const auto lost = state.lost.find(parent); lost != state.lost.end()) {
        all.present += lost->second;
        state.lost.erase(lost);
      }
      if (kinds_[stage][input].counts_lost ? all.present != all.expected : all.present > all.expected)
        wrong.emplace_back(parent, all);
    }
    std::sort(wrong.begin(), wrong.end(), [](const auto& a, const auto& b) { return precedes(a.first, b.first); });
    for (const auto& [parent, of] : wrong)
      report(parent, of, "in a batch of " + in_.name(stage));
  }

  void report(const identity& parent, const group& of, const std::string& where) {
    find("of " + std::to_string(of.expected) + " siblings below " + row(parent) + ", " + std::to_string(of.present) +
         " are " + where);
  }

  std::vector<std::vector<input_kind>> kinds_;    // by stage and input
  std::vector<std::vector<input_state>> inputs_;  // by stage and input
  std::vector<bool> whole_;                       // by edge
};

}  // namespace

std::unique_ptr<oracle> watch_groups(const scene& in) { return std::make_unique<group_oracle>(in); }

}  // namespace twinkle::sim
