// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flow/numbered.hpp"
#include "flow/pipelines.hpp"
#include "twinkle/place/layout.hpp"
#include "twinkle/sim/oracles.hpp"

/// What happens in a run, by hand: a right one, which a test spoils in one place before the oracles see it.
namespace sim_test {

struct event {
  twinkle::address from;
  twinkle::address to;
  twinkle::message content;
  twinkle::time_point at{};
};

struct history {
  std::vector<event> events = {};
  twinkle::route::call_id calls = 0;

  void post(const twinkle::address& from, const twinkle::address& to, twinkle::message content) {
    events.push_back({from, to, std::move(content)});
  }
  void rows(std::size_t from, std::size_t to, std::size_t edge, const twinkle::batch& rows) {
    post(twinkle::address::router(from), twinkle::address::router(to), twinkle::msg::rows{edge, rows});
  }
  void credit(std::size_t from, std::size_t to, std::size_t edge, std::size_t rows) {
    post(twinkle::address::router(from), twinkle::address::router(to), twinkle::msg::credit{edge, rows});
  }
  void task(std::size_t stage, std::size_t worker, twinkle::msg::task what) {
    post(twinkle::address::router(stage), twinkle::address::worker(stage, worker), std::move(what));
  }
  void reply(std::size_t stage, std::size_t worker, twinkle::route::call_id call, twinkle::payload value = {}) {
    post(twinkle::address::worker(stage, worker), twinkle::address::router(stage),
         twinkle::msg::reply{worker, call, std::move(value)});
  }
  /// A call of all workers, each with its part, which they answer with what `returns` makes of it.
  void call(std::size_t stage, std::size_t endpoint, const std::vector<twinkle::payload>& parts,
            const std::function<twinkle::payload(const twinkle::payload&)>& returns, std::int64_t version = -1) {
    const twinkle::route::call_id id = calls++;
    for (std::size_t worker = 0; worker < parts.size(); ++worker)
      task(stage, worker, {id, twinkle::msg::task::kind::run, endpoint, version, parts[worker]});
    for (std::size_t worker = 0; worker < parts.size(); ++worker)
      reply(stage, worker, id, returns(parts[worker]));
  }

  /// The n-th of its kind.
  template <class Message>
  [[nodiscard]] std::size_t where(std::size_t n) const {
    for (std::size_t at = 0; at < events.size(); ++at)
      if (std::holds_alternative<Message>(events[at].content) && n-- == 0)
        return at;
    throw twinkle::error("there are not so many of them");
  }
  template <class Message>
  [[nodiscard]] Message& get(std::size_t n) {
    return std::get<Message>(events[where<Message>(n)].content);
  }
  template <class Message>
  void repeat(std::size_t n) {
    events.push_back(events[where<Message>(n)]);
  }
  template <class Message>
  void remove(std::size_t n) {
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(where<Message>(n)));
  }
};

inline std::vector<twinkle::payload> parts_of(const twinkle::batch& rows, std::size_t parts) {
  std::vector<twinkle::payload> made;
  const std::size_t each = rows.rows() / parts;
  for (std::size_t at = 0; at < parts; ++at)
    made.emplace_back(rows[twinkle::interval{at * each, (at + 1) * each}]);
  return made;
}

inline twinkle::batch sampled_with(std::int64_t version, const twinkle::batch& rows) {
  std::vector<twinkle::row_tag> tags(rows.tags().begin(), rows.tags().end());
  for (twinkle::row_tag& tag : tags)
    tag.version = version;
  return rows.with_tags(std::move(tags));
}

/// Eight prompts, four rollouts of each, two steps of sixteen rows with a bound of 1.
inline history right_run() {
  using namespace flow_test;
  const auto nothing = [](const twinkle::payload&) { return twinkle::payload{}; };
  history made;
  const twinkle::weights first{{}, 0};
  made.post(twinkle::address::router(model_at), twinkle::address::router(sampler_at), twinkle::msg::published{0, first});
  made.call(sampler_at, 1, std::vector<twinkle::payload>(4, first), nothing, 0);
  made.call(prompts_at, 0, {{}}, [](const auto&) { return twinkle::payload{plain(8)}; });
  made.rows(prompts_at, sampler_at, 0, numbered(8));
  made.credit(sampler_at, prompts_at, 0, 8);
  const twinkle::batch prompts = sampled_with(0, numbered(8));
  made.call(sampler_at, 0, parts_of(prompts, 4),
            [](const auto& part) { return twinkle::payload{children(std::get<twinkle::batch>(part), 4)}; }, 0);
  const twinkle::batch rollouts = children(prompts, 4);
  made.rows(sampler_at, model_at, 1, rollouts);
  made.credit(model_at, sampler_at, 1, 32);
  made.call(model_at, 0, parts_of(rollouts[twinkle::interval{0, 16}], 2), nothing);
  made.call(model_at, 0, parts_of(rollouts[twinkle::interval{16, 32}], 2), nothing);
  return made;
}
inline const twinkle::run_report right_report{.steps = 2, .emitted = 8, .trained = 32};

// Tasks of the run above.
inline constexpr std::size_t first_sample = 5;
inline constexpr std::size_t first_train = 9;

struct seen {
  std::vector<std::string> found;  ///< "rows: …"
  std::vector<std::string> lost;   ///< "0:3 in sampler[dp=1]"
};

struct ending {
  twinkle::run_report report = right_report;
  bool ended = true;
  twinkle::time_point at{};
  bool tells_undelivered = false;
  std::vector<twinkle::sim::mishap> mishaps = {};
};

inline seen watch(const history& of, const ending& end = {}, const flow_test::shape& shape = {}) {
  const twinkle::graph g = flow_test::pipeline(shape);
  const twinkle::place::layout placed = twinkle::place::lay_out(g.plan());
  twinkle::sim::oracles watching{g.plan(), placed.stages};
  for (const event& each : of.events)
    watching.on_delivery(each.at, each.from, each.to, each.content);
  for (const twinkle::sim::mishap& each : end.mishaps)
    watching.on_mishap(each.at, each);
  if (end.tells_undelivered)
    watching.on_undelivered(end.at, {});
  watching.on_end(end.at, end.report, end.ended);
  seen made;
  for (const twinkle::sim::violation& each : watching.found())
    made.found.push_back(each.oracle + ": " + each.what);
  for (const auto& each : watching.lost())
    made.lost.push_back(to_string(each.id) + " in " + each.place);
  return made;
}

}  // namespace sim_test
