// SPDX-License-Identifier: Apache-2.0
#include "cast.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/flow/context.hpp"

namespace twinkle::sim {
namespace {

bool is_of(const rule& each, const blueprint::stage& stage, const blueprint::endpoint_spec& endpoint) {
  return each.stage == stage.name && each.member == endpoint.target.member;
}

work work_of(const payload& input, std::size_t worker, time_point now, std::uint64_t seed, const std::string& endpoint) {
  work made{.worker = worker};
  digest key;
  key.add(seed).add(endpoint);
  if (const batch* rows = rows_in(input)) {
    made.rows = rows->rows();
    for (const std::string& name : rows->names())
      if (rows->type(name).kind == column_type::form::ragged)
        for (const std::uint64_t length : rows->lengths(name))
          made.tokens += length;
    if (!rows->empty() && rows->identified())
      key.add(to_string(rows->tags()[0].id));
  } else {
    key.add(static_cast<std::uint64_t>(now.count()));
  }
  made.random = generator{key.value()};
  return made;
}

std::vector<std::string> stage_names(const blueprint& plan) {
  std::vector<std::string> names;
  for (const blueprint::stage& each : plan.stages)
    names.push_back("'" + each.name + "'");
  return names;
}

void check_rules(const blueprint& plan, const std::vector<rule>& rules) {
  for (const rule& each : rules) {
    const auto stage = std::find_if(plan.stages.begin(), plan.stages.end(),
                                    [&](const blueprint::stage& of) { return of.name == each.stage; });
    if (stage == plan.stages.end())
      throw error("a rule of the simulation is for stage '" + each.stage + "', and graph '" + plan.name + "' has " +
                  list(stage_names(plan)));
    if (std::none_of(stage->endpoints.begin(), stage->endpoints.end(),
                     [&](const auto& endpoint) { return is_of(each, *stage, endpoint); })) {
      std::vector<std::string> names;
      for (const blueprint::endpoint_spec& endpoint : stage->endpoints)
        names.push_back(endpoint.name);
      throw error("a rule of the simulation is for a member function that stage '" + each.stage +
                  "' does not use as an endpoint; it uses " + list(names));
    }
  }
}

// A body that may block: it waits by itself, and can be told to end.
std::function<result<payload>(void*, context&, payload)> blocking(std::shared_ptr<const part> of, std::size_t endpoint,
                                                                  decltype(endpoint::invoke) body) {
  return [=, of = std::move(of), body = std::move(body)](void* object, context& ctx, payload input) {
    const troubles::course ahead = of->next(endpoint, ctx.rank() / ctx.ranks().size(), input, ctx.now());
    while (ahead.hangs)
      ctx.sleep_for(std::chrono::hours(1));
    if (ahead.ends > ctx.now())
      ctx.sleep_for(ahead.ends - ctx.now());
    if (ahead.throws)
      throw std::runtime_error("it was made to throw");
    return body(object, ctx, std::move(input));
  };
}

}  // namespace

part::part(const blueprint::stage& of, std::size_t stage, const options& how, troubles& now)
    : stage_(stage), seed_(how.seed), lasts_(of.endpoints.size()), may_block_(false), now_(now) {
  for (std::size_t at = 0; at < of.endpoints.size(); ++at) {
    const blueprint::role kind = of.endpoints[at].kind;
    endpoints_.push_back(of.endpoints[at].name);
    rows_.push_back(kind == blueprint::role::source || kind == blueprint::role::work || kind == blueprint::role::called);
    if (rows_.back())
      lasts_[at] = how.lasts;
    bool faked = of.run == bodies::shared;
    for (const rule& each : how.rules)
      if (is_of(each, of, of.endpoints[at])) {
        faked = faked || each.instead != nullptr;
        if (each.lasts)
          lasts_[at] = each.lasts;
      }
    may_block_ = may_block_ || !faked;
  }
}

troubles::course part::next(std::size_t endpoint, std::size_t worker, const payload& input, time_point now) const {
  const auto& lasts = lasts_[endpoint];
  const duration time = lasts ? lasts(work_of(input, worker, now, seed_, endpoints_[endpoint])) : duration{0};
  return now_.next(stage_, worker, now, std::max(time, duration{0}), rows_[endpoint]);
}

cast make_cast(const blueprint& plan, const options& how, troubles& now) {
  check_rules(plan, how.rules);
  cast made{plan};
  for (std::size_t at = 0; at < made.plan.stages.size(); ++at) {
    blueprint::stage& stage = made.plan.stages[at];
    const auto played = std::make_shared<const part>(stage, at, how, now);
    bool faked = !stage.endpoints.empty();
    for (std::size_t endpoint = 0; endpoint < stage.endpoints.size(); ++endpoint) {
      auto& invoke = stage.endpoints[endpoint].target.invoke;
      bool replaced = false;
      for (const rule& each : how.rules)
        if (each.instead && is_of(each, stage, stage.endpoints[endpoint])) {
          invoke = [instead = each.instead](void*, context& ctx, payload input) { return instead(ctx, std::move(input)); };
          replaced = true;
        }
      faked = faked && replaced;
      if (played->may_block())
        invoke = blocking(played, endpoint, invoke);
    }
    if (faked) {  // nobody calls an object
      stage.make = [](context&) -> std::shared_ptr<void> { return std::make_shared<int>(); };
      stage.skip = nullptr;
    }
    made.parts.push_back(played);
  }
  return made;
}

}  // namespace twinkle::sim
