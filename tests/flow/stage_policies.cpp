// SPDX-License-Identifier: Apache-2.0
// That a stage decides by its policies; what it decides by its own is in stage_machine.cpp.
#include "twinkle/flow/stage_policies.hpp"

#include <doctest/doctest.h>

#include "driven.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::stage_policies;
using twinkle::weights;
namespace msg = twinkle::msg;
using texts = std::vector<std::string>;
using regroup = twinkle::blueprint::regroup;

namespace {

driven stage_with(stage_policies policies, std::size_t at = sampler_at, const shape& of = {}) {
  return driven{plan_of(pipeline(of), at), std::move(policies)};
}

weights version(std::uint64_t number) { return weights{{}, number}; }

// As the sampler returns them, sampled at `version`.
batch sampled(std::size_t prompts, std::int64_t version) {
  const batch rows = children(numbered(prompts), 4);
  std::vector<twinkle::row_tag> tags(rows.tags().begin(), rows.tags().end());
  for (twinkle::row_tag& tag : tags)
    tag.version = version;
  return rows.with_tags(tags);
}

}  // namespace

TEST_CASE("an operator is made as its edge asks for it") {
  const twinkle::stage_plan::in grouped{.grouped = true};
  const batch rows = children(numbered(3), 4);
  CHECK(twinkle::make_regrouper({.how = regroup::kind::rebatch, .rows = 6}, {})->add(rows).size() == 2);
  const auto whole = twinkle::make_regrouper({.how = regroup::kind::rebatch, .rows = 6}, grouped)->add(rows);
  REQUIRE(whole.size() == 2);
  CHECK(whole[0].rows() == 4);
  const auto keeps_none = [](const batch& of) { return std::vector<bool>(of.rows(), false); };
  const auto filter = twinkle::make_regrouper({.how = regroup::kind::filter, .keeps = keeps_none, .reason = "bad"}, {});
  CHECK(filter->add(rows).at(0).tombstone_count() == 12);
  const auto group = twinkle::make_regrouper({.how = regroup::kind::group_by_parent}, {});
  CHECK(group->add(rows[{0, 6}]).at(0).rows() == 4);
  CHECK(group->held() == 2);
}

TEST_CASE("rows are as stale as the oldest of them, and not at all where none was sampled") {
  CHECK(twinkle::staleness_of(sampled(2, 3), 3) == 0);
  CHECK(twinkle::staleness_of(batch::concat(std::vector<batch>{sampled(1, 4), sampled(1, 2)}), 5) == 3);
  CHECK(twinkle::staleness_of(sampled(2, twinkle::row_tag::unsampled), 5) == 0);
}

TEST_CASE("a stage gives as many credits back as its policy says") {
  driven sampler = stage_with({.credits = [](std::size_t rows) { return rows / 2; }});
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  sampler.tell(msg::rows{0, numbered(8)});
  REQUIRE(sampler.all<msg::credit>().size() == 1);
  CHECK(sampler.all<msg::credit>()[0].rows == 4);
}

TEST_CASE("a stage admits as many rows with a version as its policy says") {
  std::vector<std::size_t> asked;
  driven sampler = stage_with({.admits = [&](std::size_t version, std::size_t bound, std::size_t rows_per_step) {
    asked = {version, bound, rows_per_step};
    return std::size_t{4};
  }});
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  CHECK(asked == std::vector<std::size_t>{0, 1, 4});
  sampler.tell(msg::rows{0, numbered(8)});
  CHECK(sampler.order(0) == texts{"constructor", "load 0", "sample 1"});
}

TEST_CASE("of versions that wait, a stage loads the one that its policy says") {
  driven sampler = stage_with({.next_load = [](const std::deque<weights>& waiting) { return waiting.size() - 1; }});
  sampler.start();
  for (std::uint64_t each = 0; each <= 2; ++each)
    sampler.tell(msg::published{0, version(each)});
  sampler.tell(msg::rows{0, numbered(8)});
  CHECK(sampler.order(0) == texts{"constructor", "load 0", "sample 2", "load 2"});
}

TEST_CASE("a step is as stale as the policy of its stage says") {
  driven model = stage_with({.staleness = [](const batch& rows, std::int64_t version) {
    return version + static_cast<std::int64_t>(rows.rows());
  }}, model_at, {.train = {.name = "train", .max_staleness = 16}});
  model.start();
  model.tell(msg::rows{1, sampled(4, 0)});
  model.answer_all();
  REQUIRE(model.all<msg::stepped>().size() == 1);
  CHECK(model.all<msg::stepped>()[0].record.staleness_max == 16);
  model.tell(msg::rows{1, sampled(4, 0)});
  CHECK(model.all<msg::failed>().size() == 1);
}

TEST_CASE("the operators of a stage are those that its policy makes") {
  driven model = stage_with({.regroup = [](const regroup&, const twinkle::stage_plan::in&) {
    return std::make_unique<twinkle::rebatch>(8, false);
  }}, model_at);
  model.start();
  model.tell(msg::rows{1, sampled(2, 0)});
  CHECK(model.order(0) == texts{"constructor", "state 0", "train 4", "state 1"});
}

TEST_CASE("the results of a call become one as the policy of its stage says") {
  driven sampler = stage_with({.collect = [](const auto& team, const auto& of, auto results) {
    return of.endpoint == "sample" ? twinkle::fault{"", "", std::nullopt, "planted"}
                                   : twinkle::route::collect_in_order(team, of, results);
  }});
  sampler.start();
  sampler.tell(msg::published{0, version(0)});
  sampler.tell(msg::rows{0, numbered(8)});
  sampler.answer_all();
  REQUIRE(sampler.all<msg::failed>().size() == 1);
  CHECK(sampler.all<msg::failed>()[0].why.cause == "planted");
}

TEST_CASE("a reply counts where the policy of its stage says so") {
  using twinkle::route::holder;
  for (const bool all : {true, false}) {
    driven sampler = stage_with({.counts = [&](const holder& now, bool answered, const holder& from) {
      return (all || from.worker != 2) && twinkle::route::counts_once(now, answered, from);
    }});
    sampler.start();
    sampler.answer_all();
    CHECK(sampler.all<msg::built>().size() == (all ? 1 : 0));
  }
}
