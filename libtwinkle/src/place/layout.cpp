// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/layout.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "twinkle/base/ensure.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/flow/rows_known.hpp"
#include "twinkle/flow/stage_shape.hpp"

namespace twinkle::place {
namespace {

std::vector<worker_place> workers_of(const blueprint& plan, const blueprint::stage& stage, const layout& placed) {
  const auto group = std::find_if(placed.groups.begin(), placed.groups.end(),
                                  [&](const placed_group& each) { return each.name == stage.group.name; });
  const auto mesh = std::make_shared<const device_mesh>(mesh_of(stage));
  const std::size_t count = worker_count(stage);
  const std::size_t each = mesh->world_size() / count;
  ensure(mesh->world_size() <= group->seats.size(), "a graph is laid out after check() found it good");
  std::vector<worker_place> workers;
  for (std::size_t index = 0; index < count; ++index) {
    worker_place made{"", index, {}, {}, mesh};
    const seat& at = group->seats[index * each];
    made.node = placed.described ? at.node : 0;  // whatever types of device one machine has, it is one node
    made.node_name = placed.machines.nodes[at.node].name;
    std::vector<std::string> shown;
    for (std::size_t rank = index * each; rank < (index + 1) * each; ++rank) {
      const std::size_t local = group->seats[rank].local_rank;
      made.ranks.push_back(rank);
      made.local_devices.push_back(local);
      shown.push_back(std::to_string(local));
      made.devices.push_back(group->visible_devices.empty() ? shown.back() : group->visible_devices[rank]);
    }
    const std::string type = group->device_type == "cuda" ? "gpu" : group->device_type;
    made.name = plan.name + "/" + stage.name + "[" + mesh->coordinates(made.ranks.front()) + "]@" + made.node_name +
                ":" + type + list(shown, "+");
    workers.push_back(std::move(made));
  }
  return workers;
}

route::team team_of(const blueprint& plan, const blueprint::stage& stage, const std::vector<worker_place>& workers) {
  route::team team{plan.name + "/" + stage.name, stage.group.name, {}, {}, {}};
  const device_mesh& mesh = *workers.front().mesh;
  const std::size_t each = mesh.world_size() / workers.size();
  for (const worker_place& worker : workers) {
    team.places.push_back(worker.name);
    team.data_rank.push_back(worker.data_rank());
  }
  for (const std::size_t rank : mesh.representatives())
    team.representatives.push_back(rank / each);
  if (const auto stages = mesh.sizes().vpp_size)
    team.virtual_stages = static_cast<std::size_t>(*stages);
  return team;
}

bool bounded(const blueprint& plan, const blueprint::publication& by, std::size_t stage, const blueprint::edge** edge) {
  const rows_known rows{plan};
  for (const blueprint::edge& each : plan.edges)
    if (each.to == blueprint::port{by.stage, by.after} && each.max_staleness && rows.upstream(stage, each)) {
      *edge = &each;
      return true;
    }
  return false;
}

void add_publications(const blueprint& plan, std::vector<stage_plan>& stages) {
  const rows_known rows{plan};
  for (std::size_t at = 0; at < plan.publications.size(); ++at) {
    const blueprint::publication& each = plan.publications[at];
    stage_plan::publication made{at, each.state, each.after, {}};
    for (const blueprint::subscription& to : each.subscribers) {
      const blueprint::edge* edge = nullptr;
      const bool placed = bounded(plan, each, to.to.stage, &edge);
      made.subscribers.push_back({to.to.stage, to.every, placed, placed ? *edge->max_staleness : 0});
      stage_plan::load load{at, to.to.endpoint};
      if (placed) {
        load.bound = edge->max_staleness;
        load.rows_per_step = rows.rows_per_step(*edge, to.to.stage).value_or(1);
      }
      stages[to.to.stage].loads.push_back(load);
    }
    stages[each.stage].publications.push_back(std::move(made));
  }
}

bool unordered(const blueprint& plan, const blueprint::edge& edge) {
  const rows_known rows{plan};
  const blueprint::edge* at = &edge;
  for (std::size_t depth = 0; at != nullptr && depth <= plan.edges.size(); ++depth) {
    if (at->as_completed)
      return true;
    at = rows.into(at->from);
  }
  return false;
}

bool drops_rows_up_to(const blueprint& plan, blueprint::port at, std::size_t depth = 0) {
  if (plan.stages[at.stage].endpoints[at.endpoint].failed == failing::drops_rows)
    return true;
  return depth < plan.edges.size() && std::any_of(plan.edges.begin(), plan.edges.end(), [&](const blueprint::edge& each) {
           return each.to == at && drops_rows_up_to(plan, each.from, depth + 1);
         });
}

void add_edges(const blueprint& plan, std::vector<stage_plan>& stages) {
  const rows_known rows{plan};
  for (std::size_t at = 0; at < plan.edges.size(); ++at) {
    const blueprint::edge& edge = plan.edges[at];
    const bool zipped = at + 1 < plan.edges.size() && plan.edges[at + 1].beside;
    const auto produced = rows.produced(edge);
    std::size_t buffer = rows.need(edge) + produced.value_or(0);
    for (const blueprint::regroup& each : edge.regroups)
      buffer = std::max(buffer, each.buffer.value_or(0));
    stage_plan::in in{at, edge.from.stage, edge.to.endpoint, edge.regroups, unordered(plan, edge), edge.grouped, buffer,
                      edge.max_staleness};
    in.expected = edge.expands.value_or(1);
    in.exactly = edge.expands;
    in.may_lose = drops_rows_up_to(plan, edge.to);
    if (zipped)
      in.beside = stage_plan::in::other{at + 1, plan.edges[at + 1].from.stage};
    if (!edge.beside)
      stages[edge.to.stage].inputs.push_back(std::move(in));
    auto credits = edge.credits;
    if (!credits && produced)
      credits = 2 * *produced;
    // A branch must be able to wait for all that the other may hold back.
    if (credits && (zipped || edge.beside))
      credits = std::max(*credits, 2 * *produced +
                                       rows.on_branch(plan.edges[zipped ? at + 1 : at - 1], edge).value_or(0));
    stages[edge.from.stage].outputs.push_back({at, edge.to.stage, edge.from.endpoint, credits, edge.as_completed});
  }
  // Between a fork and its zip no branch changes the number of rows.
  for (std::size_t at = 1; at < plan.edges.size(); ++at)
    if (plan.edges[at].beside)
      for (const auto& [one, other] : {std::pair{at - 1, at}, std::pair{at, at - 1}})
        for (const std::size_t edge : rows.branch(plan.edges[one], plan.edges[other]))
          for (stage_plan::in& in : stages[plan.edges[edge].to.stage].inputs)
            if (in.edge == edge && !in.exactly)
              in.exactly = 1;
  // Upstream of a bound the number of rows is part of the promise, so an endpoint that says nothing keeps it.
  for (const blueprint::edge& bound : plan.edges)
    if (bound.max_staleness)
      for (stage_plan& stage : stages)
        for (stage_plan::in& in : stage.inputs)
          if (!in.exactly && stage.endpoints[in.endpoint].target.returns_batch && rows.upstream(stage.ordinal, bound))
            in.exactly = 1;
}

// After how many steps the rows that they took are whole batches of the source, so that a resumed run cuts the same.
std::size_t aligned_steps(const blueprint& plan, blueprint::port steps) {
  const rows_known rows{plan};
  const blueprint::edge* at = rows.into(steps);
  auto per_step = at == nullptr ? std::nullopt : rows.arriving(*at);
  for (std::size_t depth = 0; at != nullptr && per_step && depth <= plan.edges.size(); ++depth) {
    const blueprint::stage& from = plan.stages[at->from.stage];
    if (from.endpoints[at->from.endpoint].kind == blueprint::role::source)
      return std::lcm(*per_step, std::max<std::size_t>(from.emits.rows, 1)) / *per_step;
    at = rows.into(at->from);
    const std::size_t expansion = at == nullptr ? 1 : std::max<std::size_t>(at->expands.value_or(1), 1);
    per_step = *per_step % expansion == 0 ? std::optional(*per_step / expansion) : std::nullopt;
  }
  return 1;
}

void add_keepings(const blueprint& plan, std::vector<stage_plan>& stages) {
  for (const blueprint::keeping& each : plan.keepings) {
    const std::size_t after = step_endpoints(plan, each.stage).front();
    stages[each.stage].keeps =
        stage_plan::keeping{each.save, each.restore, after, aligned_steps(plan, {each.stage, after})};
  }
}

layout lay_out_on(const blueprint& plan, placement where) {
  layout placed{std::move(where)};
  if (!placed.problems.empty())
    return placed;
  for (std::size_t at = 0; at < plan.stages.size(); ++at) {
    const blueprint::stage& stage = plan.stages[at];
    stage_plan made;
    made.ordinal = at;
    made.workers = workers_of(plan, stage, placed);
    made.team = team_of(plan, stage, made.workers);
    made.run = stage.run;
    made.respawns = stage.respawns;
    made.make = stage.make;
    made.endpoints = stage.endpoints;
    made.emits_rows = stage.emits.rows;
    made.emits_first = stage.emits.first;
    for (std::size_t endpoint = 0; endpoint < stage.endpoints.size(); ++endpoint)
      if (stage.endpoints[endpoint].kind == blueprint::role::source)
        made.source = endpoint;
    if (plan.stop_after && plan.stop_after->of.stage == at)
      made.steps = stage_plan::step_limit{plan.stop_after->of.endpoint, plan.stop_after->steps};
    placed.stages.push_back(std::move(made));
  }
  add_edges(plan, placed.stages);
  add_publications(plan, placed.stages);
  add_keepings(plan, placed.stages);
  return placed;
}

std::vector<device_group> groups_of(const blueprint& plan) {
  std::vector<device_group> groups;
  std::transform(plan.stages.begin(), plan.stages.end(), std::back_inserter(groups),
                 [](const blueprint::stage& stage) { return stage.group; });
  return groups;
}

}  // namespace

layout lay_out(const blueprint& plan, const cluster& machines) {
  return lay_out_on(plan, place_groups(groups_of(plan), machines));
}

layout lay_out(const blueprint& plan) { return lay_out_on(plan, place_groups(groups_of(plan))); }

}  // namespace twinkle::place
