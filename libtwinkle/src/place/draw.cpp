// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "twinkle/base/list.hpp"
#include "twinkle/flow/rows_known.hpp"
#include "twinkle/flow/stage_shape.hpp"
#include "twinkle/mesh/transfer_plan.hpp"
#include "twinkle/place/layout.hpp"

namespace twinkle::place {
namespace {

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::vector<role> roles_of(const blueprint& plan) {
  std::vector<role> roles;
  for (const blueprint::stage& stage : plan.stages)
    roles.push_back({stage.group.name, stage.name});
  return roles;
}

std::string draw_stages(const blueprint& plan, const layout& placed) {
  std::string text = "stages\n";
  for (const stage_plan& stage : placed.stages) {
    const device_mesh& mesh = *stage.workers.front().mesh;
    text += "  " + plan.stages[stage.ordinal].name + "  " + plural(stage.workers.size(), "worker") + ", mesh " +
            mesh.title() + ", " + plural(mesh.data_ranks(), "data rank") +
            (stage.run == bodies::shared ? ", bodies shared" : "") + "\n";
  }
  return text;
}

std::string draw_edge(const blueprint& plan, const layout& placed, const blueprint::edge& edge, std::size_t ordinal) {
  const rows_known rows{plan};
  std::string text = "  " + plan.name_of(edge.from);
  if (edge.beside || (ordinal + 1 < plan.edges.size() && plan.edges[ordinal + 1].beside))
    text += " -> zip";
  for (const blueprint::regroup& each : edge.regroups)
    switch (each.how) {
      case blueprint::regroup::kind::rebatch:
        text += " -> rebatch(" + std::to_string(each.rows) + (each.refill ? ", refilled)" : ")");
        break;
      case blueprint::regroup::kind::filter: text += " -> filter(" + each.reason + ")"; break;
      case blueprint::regroup::kind::group_by_parent: text += " -> group_by(parent)"; break;
    }
  text += " -> " + plan.name_of(edge.to);
  std::vector<std::string> facts;
  if (const auto arriving = rows.arriving(edge))
    facts.push_back(plural(*arriving, "row") + " a batch");
  for (const stage_plan::out& out : placed.stages[edge.from.stage].outputs)
    if (out.edge == ordinal)
      facts.push_back(out.credits ? "credits " + std::to_string(*out.credits) : std::string("credits for 2 batches"));
  if (!edge.regroups.empty())
    for (const stage_plan::in& in : placed.stages[edge.to.stage].inputs)
      if (in.edge == ordinal)
        facts.push_back("buffer " + std::to_string(in.buffer));
  if (edge.as_completed)
    facts.emplace_back("as completed");
  if (edge.max_staleness)
    facts.push_back("staleness at most " + std::to_string(*edge.max_staleness));
  if (edge.expands && *edge.expands > 1)
    facts.push_back("x" + std::to_string(*edge.expands));
  if (const auto& read = plan.stages[edge.to.stage].endpoints[edge.to.endpoint].reads)
    facts.push_back("reads " + list(*read, " and "));
  return text + "   (" + list(facts) + ")\n";
}

// "rank 0 <- 0,1": whose rows each data rank of the consumer works on, of one full batch.
std::string draw_moves(const blueprint& plan, const layout& placed, const blueprint::edge& edge) {
  constexpr std::size_t shown_most = 8;
  const rows_known rows{plan};
  const auto count = rows.arriving(edge);
  const dispatch how = plan.stages[edge.to.stage].endpoints[edge.to.endpoint].how.kind;
  const device_mesh& from = *placed.stages[edge.from.stage].workers.front().mesh;
  const device_mesh& to = *placed.stages[edge.to.stage].workers.front().mesh;
  if (!count || !edge.regroups.empty() || (how != dispatch::by_type && how != dispatch::slice_dp) || from.data_ranks() == 1 || to.data_ranks() == 1 ||
      from.data_ranks() > shown_most || to.data_ranks() > shown_most)
    return "";
  const auto plain = [](const device_mesh& of) {
    return device_mesh::from_sizes({.dp_size = static_cast<std::int64_t>(of.data_ranks())});
  };
  const transfer_plan moves =
      plan_transfers(producer_layout(plain(from), *count), consumer_layout(plain(to), *count));
  std::vector<std::string> ranks;
  for (std::size_t rank = 0; rank < to.data_ranks(); ++rank) {
    std::vector<std::size_t> sources;
    for (const transfer& each : moves.transfers)
      if (each.target == rank)
        sources.push_back(each.source);
    ranks.push_back(std::to_string(rank) + " <- " + (sources.empty() ? "nothing" : list_of_numbers(sources)));
  }
  return "      data ranks " + list(ranks, "; ") + "\n";
}

std::string draw_publications(const blueprint& plan, const layout& placed) {
  std::string text;
  for (const blueprint::publication& each : plan.publications)
    for (const blueprint::subscription& to : each.subscribers) {
      text += "  " + plan.name_of({each.stage, each.state}) + " => " + plan.name_of(to.to) + "   (weights after each " +
              plan.name_of({each.stage, each.after});
      if (to.every > 1)
        text += ", every " + std::to_string(to.every) + "th version, the first and the last";
      for (const stage_plan::load& load : placed.stages[to.to.stage].loads)
        if (load.endpoint == to.to.endpoint && load.bound)
          text += ", version v behind row (v + " + std::to_string(*load.bound) + ") x " +
                  std::to_string(load.rows_per_step);
      if (const auto& shards = plan.stages[to.to.stage].endpoints[to.to.endpoint].shards)
        text += ", shared along " + list(shards->axes, " and ");
      text += ")\n";
    }
  return text;
}

}  // namespace

std::string draw(const blueprint& plan, const layout& placed) {
  std::string text = "graph " + plan.name + "\n" + draw(placed, roles_of(plan)) + draw_stages(plan, placed) + "flow\n";
  for (std::size_t at = 0; at < plan.edges.size(); ++at)
    text += draw_edge(plan, placed, plan.edges[at], at) + draw_moves(plan, placed, plan.edges[at]);
  text += draw_publications(plan, placed);
  if (plan.stop_after)
    text += "  ends after " + plural(plan.stop_after->steps, "step") + " of " + plan.name_of(plan.stop_after->of) + "\n";
  return text;
}

}  // namespace twinkle::place
