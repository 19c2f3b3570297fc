// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/check.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "keep_check.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/flow/rows_known.hpp"
#include "twinkle/flow/stage_shape.hpp"

namespace twinkle {
namespace {

class checker {
 public:
  explicit checker(const blueprint& plan) : plan_(plan), rows_(plan) {}

  verdict run() {
    found_.problems = plan_.problems;
    check_names();
    for (const blueprint::stage& stage : plan_.stages)
      check_placement(stage);
    for (std::size_t at = 0; at < plan_.stages.size(); ++at) {
      check_fed(at);
      check_costs(at);
      check_failing(at);
    }
    for (const blueprint::edge& edge : plan_.edges) {
      check_capacity(edge);
      check_small(edge);
      check_collect(edge);
      check_filter(edge);
      check_bound(edge);
    }
    for (std::size_t at = 1; at < plan_.edges.size(); ++at)
      if (plan_.edges[at].beside)
        check_zip(plan_.edges[at - 1], plan_.edges[at]);
    check_publications();
    for (std::string& text : flow::keeping_problems(plan_))
      problem(std::move(text));
    check_end();
    return found_;
  }

 private:
  void problem(std::string text) { found_.problems.push_back(std::move(text)); }

  [[nodiscard]] static std::string quoted(const std::string& name) { return "stage '" + name + "'"; }

  void check_names() {
    std::set<std::string> seen;
    std::set<std::string> twice;
    for (const blueprint::stage& stage : plan_.stages)
      if (!seen.insert(stage.name).second && twice.insert(stage.name).second)
        problem("two stages are named '" + stage.name + "'; give each its own name");
    if (plan_.stages.empty())
      problem("the graph has no stages");
    for (std::size_t at = 0; at < plan_.options.size(); ++at)
      for (std::size_t before = 0; before < at; ++before)
        if (plan_.options[before].name == plan_.options[at].name)
          problem("option --" + plan_.options[at].name + " is declared twice");
  }

  void check_placement(const blueprint::stage& stage) {
    const std::vector<std::string> wrong = problems(stage.group);
    for (const std::string& text : wrong)
      problem(quoted(stage.name) + ": " + text);
    if (!wrong.empty() || !stage.mesh)
      return;
    const auto devices = static_cast<std::size_t>(stage.group.ranks.count());
    if (stage.mesh->world_size() != devices)
      problem(quoted(stage.name) + ": its mesh " + stage.mesh->title() + " has " +
              std::to_string(stage.mesh->world_size()) + " ranks, but device group '" + stage.group.name + "' has " +
              std::to_string(devices));
    const std::string& type = stage.mesh->sizes().device_type;
    if (!type.empty() && canonical_device_type(type) != canonical_device_type(stage.group.device_type))
      problem(quoted(stage.name) + ": its mesh is for " + type + ", but device group '" + stage.group.name + "' is " +
              stage.group.device_type);
    check_workers(stage, devices);
  }

  void check_workers(const blueprint::stage& stage, std::size_t devices) {
    if (stage.mesh->world_size() != devices)
      return;
    const std::size_t each = stage.group.gpus_per_worker;
    for (std::size_t first = 0; first < devices; first += each)
      for (std::size_t rank = first + 1; rank < first + each; ++rank)
        if (stage.mesh->data_rank(rank) != stage.mesh->data_rank(first)) {
          problem(quoted(stage.name) + ": the worker of ranks " + std::to_string(first) + ".." +
                  std::to_string(first + each - 1) + " would serve two data ranks, " +
                  std::to_string(stage.mesh->data_rank(first)) + " and " +
                  std::to_string(stage.mesh->data_rank(rank)) + "; change gpus_per_worker or the mesh");
          return;
        }
  }

  void check_fed(std::size_t at) {
    const blueprint::stage& stage = plan_.stages[at];
    const bool source = is_source(stage);
    const bool fed = std::any_of(plan_.edges.begin(), plan_.edges.end(),
                                 [&](const blueprint::edge& edge) { return edge.to.stage == at; });
    const bool subscribed =
        std::any_of(plan_.publications.begin(), plan_.publications.end(), [&](const blueprint::publication& each) {
          return std::any_of(each.subscribers.begin(), each.subscribers.end(),
                             [&](const blueprint::subscription& to) { return to.to.stage == at; });
        });
    const bool called = std::any_of(stage.endpoints.begin(), stage.endpoints.end(),
                                    [](const auto& each) { return each.kind == blueprint::role::called; });
    if (!source && !fed && !subscribed && !called)
      problem(quoted(stage.name) +
              " is fed by nobody; let a stream, a publication or a call go to it, or take it away");
    if (called && !plan_.driver)
      problem(quoted(stage.name) + " has an endpoint for calls, but nobody calls; give the graph a driver");
    if (source && fed)
      problem(quoted(stage.name) + " is a source and is also fed by a stream");
    if (source && problems(stage.group).empty() && worker_count(stage) != 1)
      problem(quoted(stage.name) + " is a source with " + std::to_string(worker_count(stage)) +
              " workers; a source has one");
    std::map<std::size_t, std::size_t> times;
    for (const blueprint::edge& edge : plan_.edges)
      if (edge.to.stage == at && !edge.beside && ++times[edge.to.endpoint] == 2)
        problem("two streams go to " + plan_.name_of(edge.to) + "; an endpoint takes one");
  }

  void check_capacity(const blueprint::edge& edge) {
    const std::string where = plan_.name_of(edge.from) + " -> " + plan_.name_of(edge.to);
    if (edge.credits && *edge.credits == 0)
      problem(where + ": 0 credits let nothing through; give at least 1");
    if (edge.expands && *edge.expands == 0)
      problem(where + ": .expands is 0; an endpoint that drops rows leaves tombstones instead");
    const std::size_t producer = rows_.produced(edge).value_or(1);
    for (const blueprint::regroup& each : edge.regroups) {
      if (each.how == blueprint::regroup::kind::filter)
        continue;
      if (each.refill && bounds_staleness_below(edge))
        problem(where + ": a rebatch with .refill takes as many rows as it needs, so that no staleness bound behind it "
                        "can hold; take one of them away");
      const bool rebatches = each.how == blueprint::regroup::kind::rebatch;
      const std::size_t need = rebatches ? each.rows : rows_.group_size(edge);
      if (rebatches && each.rows == 0)
        problem(where + ": rebatch(0) makes no batch");
      else if (rebatches && each.rows < rows_.group_size(edge))
        problem(where + ": rebatch(" + std::to_string(each.rows) + ") cannot hold one group of " +
                std::to_string(rows_.group_size(edge)) + " rows");
      if (each.buffer && *each.buffer < need + producer)
        problem(where + ": the buffer of " + std::string(rebatches ? "rebatch" : "group_by") + " holds " +
                std::to_string(*each.buffer) + " rows, but must hold " + std::to_string(need + producer) + ": " +
                std::to_string(need) + " that it waits for and " + std::to_string(producer) +
                " of one batch that comes in");
    }
  }

  // What flows on must be all rows, in the order of the input.
  void check_collect(const blueprint::edge& edge) {
    const blueprint::endpoint_spec& endpoint = plan_.stages[edge.to.stage].endpoints[edge.to.endpoint];
    if (endpoint.target.returns_batch && endpoint.result.kind != collect::by_type &&
        endpoint.result.kind != collect::concat)
      problem(plan_.name_of(edge.to) + " returns batches into a stream, so that its results must be put together by "
                                       "concat; another .collect is for calls");
  }

  void check_routed(const std::string& where, const std::string& column) {
    if (!column.empty())
      problem(where + " reads column '" + column +
              "' between stages, where only routed columns travel; declare its key with twinkle::routed");
  }

  void check_costs(std::size_t stage) {
    for (std::size_t at = 0; at < plan_.stages[stage].endpoints.size(); ++at) {
      const blueprint::endpoint_spec& endpoint = plan_.stages[stage].endpoints[at];
      if (endpoint.how.how)
        check_routed("the dispatch of " + plan_.name_of({stage, at}), endpoint.how.how->costs.unrouted);
      if (endpoint.micro_batches)
        check_routed("the micro-batches of " + plan_.name_of({stage, at}), endpoint.micro_batches->costs.unrouted);
    }
  }

  // A new worker begins with the newest weights and nothing else.
  void check_respawns(std::size_t at) {
    const blueprint::stage& stage = plan_.stages[at];
    if (stage.respawns == 0)
      return;
    const auto made_here = [&](const auto& each) { return each.stage == at; };
    if (is_source(stage))
      problem(quoted(stage.name) + " has .respawns and is a source: a new one would emit its rows again");
    if (std::any_of(plan_.publications.begin(), plan_.publications.end(), made_here) ||
        std::any_of(plan_.keepings.begin(), plan_.keepings.end(), made_here))
      problem(quoted(stage.name) + " has .respawns, but its workers make what is published or kept, which a new one "
                                   "has not; resume the run instead");
  }

  // What another worker may take over, and for how long anybody is waited for.
  void check_failing(std::size_t stage) {
    check_respawns(stage);
    for (std::size_t at = 0; at < plan_.stages[stage].endpoints.size(); ++at) {
      const blueprint::endpoint_spec& endpoint = plan_.stages[stage].endpoints[at];
      const std::string where = plan_.name_of({stage, at});
      if (endpoint.deadline <= duration{0})
        problem(where + " has a deadline of " + to_string(endpoint.deadline) + "; give it time, or twinkle::no_deadline");
      if (endpoint.deadline == no_deadline)
        found_.remarks.push_back(where + " has no deadline: a body that hangs there is waited for without end");
      if (endpoint.failed == failing::drops_rows && !endpoint.target.returns_batch)
        problem(where + " returns no rows, so that none can be lost by name; .failed = failing::drops_rows is for what "
                        "returns batches");
      if (endpoint.retries == 0)
        continue;
      if (endpoint.micro_batches)
        problem(where + " has .retries and .micro_batches; what is left of a part has other micro-batches than were planned");
      if (endpoint.how.kind == dispatch::all)
        problem(where + " has .retries, but every worker has all rows by its dispatch, so that nobody can take another's");
    }
  }

  // Admission counts rows before they are sampled, and cannot know which of them a filter will drop.
  void check_filter(const blueprint::edge& edge) {
    for (const blueprint::regroup& each : edge.regroups)
      check_routed(plan_.name_of(edge.from) + " -> filter", each.unrouted);
    const bool filters = std::any_of(edge.regroups.begin(), edge.regroups.end(), [](const blueprint::regroup& each) {
      return each.how == blueprint::regroup::kind::filter;
    });
    if (!filters)
      return;
    for (const blueprint::edge& bound : plan_.edges)
      for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage)
        if (bound.max_staleness && loads(stage, bound.to.stage) && rows_.upstream(stage, bound) &&
            before(edge, stage))
          problem(plan_.name_of(edge.from) + " -> filter: it drops rows before stage '" + plan_.stages[stage].name +
                  "', which loads weights within a staleness bound by the number of rows; filter behind it");
  }

  [[nodiscard]] bool before(const blueprint::edge& edge, std::size_t stage) const {
    return edge.to.stage == stage || std::any_of(plan_.edges.begin(), plan_.edges.end(), [&](const auto& each) {
             return each.to.stage == stage && rows_.upstream(edge.to.stage, each);
           });
  }

  void check_zip(const blueprint::edge& first, const blueprint::edge& second) {
    const auto one = rows_.on_branch(first, second);
    const auto other = rows_.on_branch(second, first);
    const std::string where = plan_.name_of(first.from) + " and " + plan_.name_of(second.from) + " -> zip -> " +
                              plan_.name_of(first.to);
    if (!one || !other)
      problem(where + ": both must come from one stream, in as many rows as it had, and how many a batch has must be "
                      "known; see .rows of emits");
    else if (bounds_staleness_below(first) || first.max_staleness)
      problem(where + ": a staleness bound behind it is not kept on both branches; take one of them away");
    else if (first.credits && *first.credits < std::max(*one, *other))
      problem(where + ": " + std::to_string(*first.credits) + " credits are too few: while one branch waits, " +
              std::to_string(std::max(*one, *other)) + " rows may come on the other");
  }

  void check_small(const blueprint::edge& edge) {
    const blueprint::stage& stage = plan_.stages[edge.to.stage];
    const blueprint::endpoint_spec& endpoint = stage.endpoints[edge.to.endpoint];
    const dispatch kind = endpoint.how.kind;
    if (kind == dispatch::all || kind == dispatch::first || kind == dispatch::function)
      return;
    if (!problems(stage.group).empty())
      return;  // it has no number of workers
    const std::size_t ranks = kind == dispatch::slice ? worker_count(stage) : mesh_of(stage).data_ranks();
    // After a filter nothing is certain but that a batch has a row.
    const auto fewest = filtered(edge) ? std::optional<std::size_t>(1) : fewest_taken(edge);
    const bool whole_groups = endpoint.how.how && endpoint.how.how->whole_groups;
    const std::size_t together = whole_groups ? rows_.group_size(edge) : 1;
    if (endpoint.fewer == small::unset && fewest && (*fewest + together - 1) / together < ranks)
      problem(plan_.name_of(edge.to) + " may get as few as " + std::to_string(*fewest) + " rows" +
              (together > 1 ? ", in groups of " + std::to_string(together) + " that stay together," : "") + " for its " +
              std::to_string(ranks) + (kind == dispatch::slice ? " workers" : " data ranks") + "; give it a policy with .small, or let the source drop its last rows");
  }

  [[nodiscard]] bool filtered(const blueprint::edge& edge) const {
    const blueprint::edge* at = &edge;
    for (std::size_t depth = 0; at != nullptr && depth <= plan_.edges.size(); ++depth) {
      const auto rebatch = std::find_if(at->regroups.rbegin(), at->regroups.rend(), [](const blueprint::regroup& each) {
        return each.how == blueprint::regroup::kind::filter || each.refill;
      });
      if (rebatch != at->regroups.rend())
        return rebatch->how == blueprint::regroup::kind::filter;
      at = rows_.into(at->from);
    }
    return false;
  }

  [[nodiscard]] bool bounds_staleness_below(const blueprint::edge& edge) const {
    return std::any_of(plan_.edges.begin(), plan_.edges.end(), [&](const blueprint::edge& each) {
      return each.max_staleness && rows_.upstream(edge.from.stage, each);
    });
  }

  // A stage that loads weights within a bound takes rows only up to the place of the next version, so that it cuts
  // batches at each R-th row.
  [[nodiscard]] std::optional<std::size_t> fewest_taken(const blueprint::edge& edge) const {
    auto fewest = rows_.fewest(edge);
    for (const blueprint::edge& bound : plan_.edges)
      if (const auto step = rows_.rows_per_step(bound, edge.to.stage);
          fewest && step && bound.max_staleness && loads(edge.to.stage, bound.to.stage))
        fewest = std::gcd(std::gcd(*fewest, rows_.arriving(edge).value_or(0)), *step);
    return fewest;
  }

  [[nodiscard]] bool loads(std::size_t stage, std::size_t from) const {
    return std::any_of(plan_.publications.begin(), plan_.publications.end(), [&](const blueprint::publication& each) {
      return each.stage == from && std::any_of(each.subscribers.begin(), each.subscribers.end(),
                                               [&](const auto& to) { return to.to.stage == stage; });
    });
  }

  void check_bound(const blueprint::edge& edge) {
    if (!edge.max_staleness)
      return;
    const std::string where = plan_.name_of(edge.to);
    for (const blueprint::edge& each : plan_.edges)
      if (each.as_completed && rows_.upstream(each.from.stage, edge))
        problem(where + " has a staleness bound, and rows come to it .as_completed() from " + plan_.name_of(each.from) +
                "; a bound needs ordered edges");
    bool loaded = false;
    for (const blueprint::publication& each : plan_.publications)
      if (each.stage == edge.to.stage)
        for (const blueprint::subscription& to : each.subscribers) {
          if (!rows_.upstream(to.to.stage, edge))
            continue;
          loaded = true;
          if (!rows_.rows_per_step(edge, to.to.stage))
            problem(where + " has a staleness bound, but the rows per step are not known: " + why_unknown(edge, to.to.stage));
          if (to.every != 1)
            problem(where + " has a staleness bound, so " + plan_.name_of(to.to) + " must load every version, not each " +
                    std::to_string(to.every));
        }
    if (!loaded)
      problem(where + " has a staleness bound, but no stage upstream of it loads the weights of '" +
              plan_.stages[edge.to.stage].name + "'");
  }

  [[nodiscard]] std::string why_unknown(const blueprint::edge& edge, std::size_t stage) const {
    const auto rows = rows_.arriving(edge);
    if (!rows)
      return "rebatch before " + plan_.name_of(edge.to) + ", or declare what the source emits";
    return "a step of " + std::to_string(*rows) + " rows is no whole number of rows of '" + plan_.stages[stage].name +
           "'; see .expands of the endpoints between";
  }

  void check_publications() {
    for (const blueprint::publication& each : plan_.publications) {
      const std::string& who = plan_.stages[each.stage].name;
      if (each.subscribers.empty())
        problem(quoted(who) + " publishes its weights to nobody");
      for (const blueprint::subscription& to : each.subscribers) {
        if (to.every == 0)
          problem(plan_.name_of(to.to) + ": .every is 0; 1 is every version");
        if (const auto& shards = plan_.stages[to.to.stage].endpoints[to.to.endpoint].shards)
          if (const auto wrong = problem_of(*shards))
            problem(plan_.name_of(to.to) + ": " + *wrong);
        const bool bounded = std::any_of(plan_.edges.begin(), plan_.edges.end(), [&](const blueprint::edge& edge) {
          return edge.to == blueprint::port{each.stage, each.after} && edge.max_staleness.has_value();
        });
        const blueprint::edge* trained = rows_.into({each.stage, each.after});
        if (trained != nullptr && !bounded && rows_.upstream(to.to.stage, *trained))
          found_.remarks.push_back("'" + who + "' publishes into its own past without a bound: a run is not promised to "
                                   "repeat; give its training edge .max_staleness");
      }
    }
  }

  void check_end() {
    if (plan_.stop_after && plan_.stop_after->steps == 0)
      problem("stop_after(0) would end before the first step");
    if (plan_.stop_after || plan_.driver)
      return;
    bool ends = false;
    bool source = false;
    for (const blueprint::stage& stage : plan_.stages) {
      source = source || is_source(stage);
      ends = ends || (is_source(stage) && !stage.emits.endless);
    }
    if (!ends)
      problem(source ? "nothing ends the run: no stop_after, and every source goes on for ever"
                     : "nothing ends the run: there is no source");
  }

  const blueprint& plan_;
  rows_known rows_;
  verdict found_;
};

}  // namespace

verdict check(const blueprint& plan) { return checker{plan}.run(); }

}  // namespace twinkle
