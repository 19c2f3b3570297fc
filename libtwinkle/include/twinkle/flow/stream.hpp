// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/flow/blueprint.hpp"

namespace twinkle {

/// Siblings: the rows that one row was expanded to.
struct parent_key {};
inline constexpr parent_key parent{};

template <class Worker>
class stage;

struct emit_options {
  std::string name = {};
  std::size_t rows = 0;  ///< in a full batch; 0: as the worker's type declares, if it does
  duration deadline = std::chrono::minutes(10);
};

struct to_options {
  std::string name = {};
  dispatch_rule dispatch = {};
  collect_rule collect = {};
  twinkle::small small = small::unset;
  std::optional<std::size_t> credits = std::nullopt;        ///< rows on the edge; unset: two batches of the producer
  std::optional<std::size_t> max_staleness = std::nullopt;  ///< versions that a row may be old when it is trained
  std::optional<std::size_t> expands = std::nullopt;        ///< rows that the endpoint returns for one
  std::optional<micro_batch_rule> micro_batches = std::nullopt;  ///< planned for each call, the same number everywhere
  /// The columns that the body is given; empty: all. The others go around it: they stay where they are, and are beside the
  /// rows that it returns again, unless it returns columns of those names.
  std::vector<column_name> reads = {};
  duration deadline = std::chrono::minutes(10);             ///< of one call
  std::size_t retries = 0;  ///< of rows whose worker fails, on other workers: for endpoints that keep nothing of a row
  failing failed = failing::ends_run;                       ///< what becomes of rows that nobody could work on
};

struct call_options {
  std::string name = {};
  dispatch_rule dispatch = {};
  collect_rule collect = {};
  twinkle::small small = small::unset;
  std::optional<micro_batch_rule> micro_batches = std::nullopt;
  std::vector<column_name> reads = {};  ///< as of to_options; for endpoints that take one batch
  duration deadline = std::chrono::minutes(10);
  std::size_t retries = 0;
  failing failed = failing::ends_run;
};

/// An endpoint that calls may name: what stage::endpoint returns.
template <class Signature>
struct callable {
  blueprint::port at;
};

struct load_options {
  std::string name = {};
  std::size_t every = 1;  ///< each n-th version; the first and the last always
  std::optional<sharding> shards = std::nullopt;  ///< what each worker is given of each tensor; unset: the whole
  duration deadline = std::chrono::minutes(10);
};

struct keep_options {
  std::string name = {};  ///< of what saves; what restores is "name, restored"
  duration deadline = std::chrono::minutes(10);
};

struct regroup_options {
  std::optional<std::size_t> buffer = std::nullopt;  ///< rows; unset: as large as it must be
};

struct rebatch_options {
  std::optional<std::size_t> buffer = std::nullopt;  ///< rows; unset: as large as it must be
  /// Dropped rows do not fill a batch: it goes on to the next rows. Else it has fewer, and the step trains what is real.
  bool refill = false;
};

/// A member function of Worker.
template <class Worker>
struct member_of {
  std::optional<endpoint::key> key = std::nullopt;

  member_of() = default;
  template <class Member>
    requires std::is_member_function_pointer_v<Member>
  member_of(Member member) : key(detail::key_of(member)) {}
};

namespace detail {

/// Each name once; null for none.
[[nodiscard]] std::shared_ptr<const std::vector<std::string>> names_of(const std::vector<column_name>& columns);

/// An endpoint with the policies that streams and calls have in common.
template <class Options>
[[nodiscard]] blueprint::endpoint_spec spec_of(const Options& options, blueprint::role kind, twinkle::endpoint target) {
  blueprint::endpoint_spec spec{options.name, kind, std::move(target), options.dispatch, options.collect, options.small};
  if (options.micro_batches)
    spec.micro_batches = std::make_shared<const micro_batch_rule>(*options.micro_batches);
  spec.reads = names_of(options.reads);
  spec.deadline = options.deadline;
  spec.retries = options.retries;
  spec.failed = options.failed;
  return spec;
}

/// The ordinal of the endpoint in its stage: the declared one, or a new one.
[[nodiscard]] std::size_t declare(blueprint& plan, std::size_t stage, blueprint::endpoint_spec spec,
                                  const std::source_location& where);

}  // namespace detail

/// The results of a stage that ends a stream.
class results {
 public:
  results(std::shared_ptr<blueprint> plan, blueprint::port from) : plan_(std::move(plan)), from_(from) {}

  /// Each result is a step; the run ends after so many.
  void stop_after(std::size_t steps) const { plan_->stop_after = blueprint::stop{from_, steps}; }

 private:
  std::shared_ptr<blueprint> plan_;
  blueprint::port from_;
};

/// A flow of batches. A name used twice fans out.
class stream {
 public:
  stream(std::shared_ptr<blueprint> plan, blueprint::port from, bool grouped)
      : plan_(std::move(plan)), from_(from), grouped_(grouped) {}

  /// Brings siblings together; a group leaves when its parent is closed, groups in the order of their parents.
  [[nodiscard]] stream group_by(parent_key, const regroup_options& options = {}) const;

  /// Batches of `rows` rows, tombstones counted. After group_by it never cuts a group: it ends before the group that
  /// would pass `rows`.
  [[nodiscard]] stream rebatch(std::size_t rows, const rebatch_options& options = {}) const;

  /// Drops the rows for which `keeps` of their value in a routed column is false; each leaves a tombstone with the
  /// reason.
  template <storable T, std::predicate<T> Keeps>
  [[nodiscard]] stream filter(const column<T>& key, Keeps keeps, std::string reason) const {
    return filtered(
        [key, keeps = std::move(keeps)](const batch& rows) {
          std::vector<bool> kept;
          for (const T each : rows[key])
            kept.push_back(keeps(each));
          return kept;
        },
        std::move(reason), key.routed ? "" : std::string(key.name));
  }

  /// Rows leave as soon as their worker has returned them, or emitted their parent, in no promised order: a long tail
  /// does not hold the others. Each step's rows are sorted by identity before they are trained.
  [[nodiscard]] stream as_completed() const;

  /// Into an endpoint of another stage. A stream of what it returns, if that is batches; else `results`.
  template <class Worker, class Member>
  auto to(const stage<Worker>& target, Member member, const to_options& options = {},
          const std::source_location& where = std::source_location::current()) const;

  /// Each batch of the stream is a step; the run ends after so many.
  void stop_after(std::size_t steps) const { plan_->stop_after = blueprint::stop{from_, steps}; }

 private:
  [[nodiscard]] stream filtered(row_filter keeps, std::string reason, std::string unrouted) const;
  friend stream zip(const stream& first, const stream& second);

  std::shared_ptr<blueprint> plan_;
  blueprint::port from_;
  std::vector<blueprint::regroup> regroups_;
  bool grouped_ = false;
  bool as_completed_ = false;
  std::optional<blueprint::port> beside_ = std::nullopt;
};

/// Two branches that came from one stream, together again: each row with the columns of both, those of the first where
/// both have one. Both are ordered, straight from their endpoints, and neither changes the number of rows; regroup what
/// zip returns. The edges get room enough that a slow branch cannot block a quick one for ever.
[[nodiscard]] stream zip(const stream& first, const stream& second);

/// The weights of a stage, as a flow of versions.
class publication {
 public:
  publication(std::shared_ptr<blueprint> plan, std::size_t ordinal) : plan_(std::move(plan)), ordinal_(ordinal) {}

  /// To one more subscriber.
  template <class Worker, class Member>
  const publication& to(const stage<Worker>& target, Member member, const load_options& options = {},
                        const std::source_location& where = std::source_location::current()) const {
    static_assert(load_endpoint<Member, Worker>,
                  "twinkle: what weights are published to must be void or metrics (context&, weights) of the worker "
                  "(concept twinkle::load_endpoint)");
    blueprint::endpoint_spec spec{options.name, blueprint::role::load};
    if constexpr (load_endpoint<Member, Worker>)
      spec.target = detail::erase<Worker, weights>(member);
    if (options.shards)
      spec.shards = std::make_shared<const sharding>(*options.shards);
    spec.deadline = options.deadline;
    const std::size_t endpoint = detail::declare(*plan_, target.ordinal(), std::move(spec), where);
    plan_->publications[ordinal_].subscribers.push_back({{target.ordinal(), endpoint}, options.every});
    return *this;
  }

 private:
  std::shared_ptr<blueprint> plan_;
  std::size_t ordinal_;
};

/// The workers that play one role: what spawn returns.
template <class Worker>
class stage {
 public:
  stage(std::shared_ptr<blueprint> plan, std::size_t ordinal) : plan_(std::move(plan)), ordinal_(ordinal) {}

  [[nodiscard]] std::size_t ordinal() const { return ordinal_; }

  /// The stream of a source.
  template <class Member>
  [[nodiscard]] stream emits(Member member, const emit_options& options = {},
                             const std::source_location& where = std::source_location::current()) const {
    static_assert(source_endpoint<Member, Worker>,
                  "twinkle: what a stage emits with must be std::optional<batch>(context&) of the worker (concept "
                  "twinkle::source_endpoint)");
    blueprint::endpoint_spec spec{options.name, blueprint::role::source};
    if constexpr (source_endpoint<Member, Worker>)
      spec.target = detail::erase<Worker>(member);
    spec.deadline = options.deadline;
    if (options.rows > 0)
      plan_->stages[ordinal_].emits.rows = options.rows;
    return {plan_, {ordinal_, detail::declare(*plan_, ordinal_, std::move(spec), where)}, false};
  }

  /// Declares an endpoint for calls; see graph::drive.
  template <class Member>
  [[nodiscard]] auto endpoint(Member member, const call_options& options = {},
                              const std::source_location& where = std::source_location::current()) const {
    static_assert(callable_endpoint<Member, Worker>,
                  "twinkle: what calls name must be T(context&, Args...) of the worker, T and Args wireable (concept "
                  "twinkle::callable_endpoint)");
    if constexpr (callable_endpoint<Member, Worker>) {
      auto spec = detail::spec_of(options, blueprint::role::called, detail::erase_call<Worker>(member));
      if (spec.reads && spec.target.takes != nullptr)
        plan_->problems.push_back("stage '" + plan_->stages[ordinal_].name +
                                  "' has an endpoint with .reads that does not take one batch alone; let it take one, or "
                                  "select the columns where it is called");
      return callable<typename detail::signature<Member>::call>{
          {ordinal_, detail::declare(*plan_, ordinal_, std::move(spec), where)}};
    }
  }

  /// What a run that is resumed needs of this stage, whose results are the steps: `save` is called right behind the
  /// call that makes a step, and what it returned is given to `restore` of each worker, right behind its construction.
  template <class Save, class Restore>
  void keeps(Save save, Restore restore, const keep_options& options = {},
             const std::source_location& where = std::source_location::current()) const {
    static_assert(state_endpoint<Save, Worker>,
                  "twinkle: what saves a stage must be weights(context&) of the worker (concept "
                  "twinkle::state_endpoint)");
    static_assert(restore_endpoint<Restore, Worker>,
                  "twinkle: what restores a stage must be void(context&, weights) of the worker (concept "
                  "twinkle::restore_endpoint)");
    blueprint::endpoint_spec saves{options.name, blueprint::role::save};
    saves.deadline = options.deadline;
    blueprint::endpoint_spec restores{options.name.empty() ? "" : options.name + ", restored", blueprint::role::restore};
    if constexpr (state_endpoint<Save, Worker> && restore_endpoint<Restore, Worker>) {
      saves.target = detail::erase<Worker>(save);
      restores.target = detail::erase<Worker, weights>(restore);
    }
    const std::size_t saved = detail::declare(*plan_, ordinal_, std::move(saves), where);
    plan_->keepings.push_back({ordinal_, saved, detail::declare(*plan_, ordinal_, std::move(restores), where)});
  }

  struct publish_options {
    member_of<Worker> after;  ///< the endpoint whose every call makes a new version
    std::string name = {};
    duration deadline = std::chrono::minutes(10);
  };

  /// Version 0 before the first sample, and a new version after each call of `after`. The only way to make a cycle.
  template <class Member>
  [[nodiscard]] publication publishes(Member member, const publish_options& options,
                                      const std::source_location& where = std::source_location::current()) const {
    static_assert(state_endpoint<Member, Worker>,
                  "twinkle: what a stage publishes must be weights(context&) of the worker (concept "
                  "twinkle::state_endpoint)");
    blueprint::endpoint_spec spec{options.name, blueprint::role::state};
    if constexpr (state_endpoint<Member, Worker>)
      spec.target = detail::erase<Worker>(member);
    spec.deadline = options.deadline;
    const std::size_t state = detail::declare(*plan_, ordinal_, std::move(spec), where);
    plan_->publications.push_back({ordinal_, state, after(options.after)});
    return {plan_, plan_->publications.size() - 1};
  }

 private:
  [[nodiscard]] std::size_t after(const member_of<Worker>& member) const {
    const auto& endpoints = plan_->stages[ordinal_].endpoints;
    for (std::size_t at = 0; at < endpoints.size(); ++at)
      if (member.key && endpoints[at].kind == blueprint::role::work && endpoints[at].target.member == *member.key)
        return at;
    plan_->problems.push_back("stage '" + plan_->stages[ordinal_].name +
                              "' publishes after an endpoint that no stream goes to; give .after an endpoint that is "
                              "fed before publishes");
    return 0;
  }

  std::shared_ptr<blueprint> plan_;
  std::size_t ordinal_;
};

template <class Worker, class Member>
auto stream::to(const stage<Worker>& target, Member member, const to_options& options,
                const std::source_location& where) const {
  constexpr bool emits = emitting_endpoint<Member, Worker>;
  static_assert(batch_endpoint<Member, Worker> || emits,
                "twinkle: what a stream goes to must be batch, metrics or void (context&, batch) of the worker, or void "
                "(context&, batch, emitter&) (concept twinkle::batch_endpoint)");
  endpoint erased;
  if constexpr (emits)
    erased = detail::erase_emitting<Worker>(member);
  else if constexpr (batch_endpoint<Member, Worker>)
    erased = detail::erase<Worker, batch>(member);
  auto spec = detail::spec_of(options, blueprint::role::work, std::move(erased));
  const std::size_t ordinal = detail::declare(*plan_, target.ordinal(), std::move(spec), where);
  const blueprint::port port{target.ordinal(), ordinal};
  plan_->edges.push_back({from_, port, regroups_, as_completed_, grouped_, options.credits,
                          options.max_staleness, options.expands});
  if (beside_) {
    blueprint::edge second{*beside_, port};
    second.credits = options.credits;
    second.beside = true;
    plan_->edges.push_back(std::move(second));
  }
  if constexpr (emits) {
    return stream{plan_, port, grouped_};
  } else if constexpr (batch_endpoint<Member, Worker>) {
    if constexpr (std::same_as<detail::returned<Member, Worker, batch>, batch>)
      return stream{plan_, port, grouped_};
    else
      return results{plan_, port};
  } else {
    return results{plan_, port};
  }
}

}  // namespace twinkle
