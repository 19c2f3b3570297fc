// SPDX-License-Identifier: Apache-2.0
// On ordered edges rows come in the order in which they went in, whatever happened.
#include <optional>

#include "oracle.hpp"

namespace twinkle::sim {
namespace {

bool siblings(const identity& a, const identity& b) {
  return a.depth > 0 && a.depth == b.depth && parent_of(a) == parent_of(b);
}

class order_oracle final : public oracle {
 public:
  explicit order_oracle(const scene& in) : oracle(in, "order"), edges_(in.edges.size()) {
    for (const stage_plan& stage : in.stages)
      last_.emplace_back(stage.workers.size(), std::vector<std::optional<identity>>(stage.inputs.size()));
  }

  void on_rows(const msg::rows& what) override {
    const scene::edge& edge = in_.edges[what.edge];
    if (!edge.ordered)
      return;
    passed& here = edges_[what.edge];
    for (const row_tag& tag : tags_of(what.value)) {
      if (here.last && !precedes(*here.last, tag.id) && !may_swap(here, edge, tag.id))
        find(row(tag.id) + " came on " + in_.name(edge) + " behind " + row(*here.last));
      here.last = tag.id;
    }
  }

  void on_task(std::size_t stage, std::size_t worker, const msg::task& task) override {
    const auto input = in_.input_of(stage, task.endpoint);
    const auto* rows = std::get_if<batch>(&task.input);
    const stage_plan& plan = in_.stages[stage];
    if (task.what != msg::task::kind::run || !input || rows == nullptr ||
        plan.endpoints[task.endpoint].how.kind == dispatch::function)
      return;
    const stage_plan::in& in = plan.inputs[*input];
    std::optional<identity>& last = last_[stage][worker][*input];
    // Each batch is in order, but batches are so only on an ordered edge, and where none is cut and sent again.
    if (in.as_completed || goes_on_elsewhere(plan.endpoints[task.endpoint]))
      last.reset();
    for (const row_tag& tag : tags_of(*rows)) {
      if (tag.padding)
        continue;
      if (last && !precedes(*last, tag.id) && !(edges_[in.edge].swapped && siblings(*last, tag.id)))
        find(row(tag.id) + " is given to " + in_.place(stage, worker) + " behind " + row(*last));
      last = tag.id;
    }
  }

 private:
  struct passed {
    std::optional<identity> last = std::nullopt;
    bool swapped = false;  // siblings come in the order in which a body made them, which is not that of their numbers
  };

  // Whoever makes children of a row may return them in any order, which they keep from there on.
  bool may_swap(passed& here, const scene::edge& edge, const identity& id) {
    if (!siblings(*here.last, id))
      return false;
    const auto input = in_.input_of(edge.producer, edge.endpoint);
    if (!input)
      return false;
    const passed& before = edges_[in_.stages[edge.producer].inputs[*input].edge];
    here.swapped = here.swapped || before.swapped || !before.last || before.last->depth < id.depth;
    return here.swapped;
  }

  std::vector<passed> edges_;
  std::vector<std::vector<std::vector<std::optional<identity>>>> last_;  // by stage, worker and input
};

}  // namespace

std::unique_ptr<oracle> watch_order(const scene& in) { return std::make_unique<order_oracle>(in); }

}  // namespace twinkle::sim
