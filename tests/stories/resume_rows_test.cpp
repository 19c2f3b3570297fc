// SPDX-License-Identifier: Apache-2.0
// Which rows a resumed run trains where its edges promise no order: each of them once.
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "numbers.hpp"
#include "twinkle/base/random.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/flow/emitter.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;

using numbers::number;
using numbers::source;

namespace {

// The same rows, but it passes over those of earlier runs by itself, and says how many.
struct skipping_source : source {
  std::uint64_t* skipped;

  skipping_source(std::size_t count, std::uint64_t* into) : source(count), skipped(into) {}
  static tk::emission emits(std::size_t, std::uint64_t*) { return {.rows = 8, .least = 8}; }

  void skip(std::uint64_t rows) {
    *skipped = rows;
    next_number += static_cast<std::int64_t>(rows);
    batches -= rows / 8;
  }
};

struct sampler {
  tk::batch triple(tk::context& ctx, const tk::batch& rows) {
    std::vector<std::size_t> parents;
    for (std::size_t row = 0; row < rows.rows(); ++row)
      parents.insert(parents.end(), 3, row);
    ctx.sleep_for(tk::duration(static_cast<tk::duration::rep>(ctx.data_rank() + 1)));
    return rows.expand(parents);
  }
  void stream(tk::context& ctx, const tk::batch& rows, tk::emitter& out) {
    for (std::size_t row = rows.rows(); row > 0; --row) {
      ctx.sleep_for(tk::duration(1));
      const std::vector<std::size_t> parents(3, 0);
      out(row - 1, rows[tk::interval{row - 1, row}].expand(parents));
    }
  }
  void load(tk::context&, const tk::weights&) {}
};

using steps_of = std::vector<std::vector<tk::identity>>;

struct model {
  steps_of* into;

  explicit model(steps_of* steps) : into(steps) {}
  tk::metrics train(tk::context&, const tk::batch& rows) {
    into->emplace_back();
    for (const tk::row_tag& tag : rows.tags())
      into->back().push_back(tag.id);
    return {};
  }
  tk::weights save(tk::context&) {
    const std::vector<std::int64_t> steps{static_cast<std::int64_t>(into->size())};
    return tk::weights{{{"steps", {tk::element::i64, {1}, tk::buffer::of(steps)}}}};
  }
  // What was trained after it was saved is not a part of this life.
  void restore(tk::context&, const tk::weights& saved) {
    into->resize(static_cast<std::size_t>(saved.find("steps")->values.as<std::int64_t>()[0]));
  }
};

struct shape {
  std::size_t batches = 6;
  std::size_t step = 7;
  std::size_t steps = 1000;
  bool as_completed = false;
  bool emits = false;
  bool filters = false;
  bool skips = false;
  tk::small small = tk::small::allow_empty;
};

struct run_of {
  steps_of steps;
  std::uint64_t skipped = 0;
};

tk::graph pipeline(const shape& of, run_of& into) {
  tk::graph g{"rows"};
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto samplers = g.spawn<sampler>("sampler", {{.name = "rollout", .ranks = 4}});
  auto trained = g.spawn<model>("model", {host}, &into.steps);
  auto rows = of.skips
                  ? g.spawn<skipping_source>("source", {host}, of.batches, &into.skipped).emits(&skipping_source::next)
                  : g.spawn<source>("source", {host}, of.batches).emits(&source::next);
  const tk::to_options sample{.name = "sample", .small = of.small, .expands = 3};
  auto sampled = of.emits ? rows.to(samplers, &sampler::stream, sample) : rows.to(samplers, &sampler::triple, sample);
  if (of.as_completed)
    sampled = sampled.as_completed();
  if (of.filters)
    sampled = sampled.filter(number, [](std::int64_t each) { return each % 4 != 1; }, "one in four");
  sampled.rebatch(of.step, {.refill = of.filters}).to(trained, &model::train, {.name = "train"}).stop_after(of.steps);
  trained.publishes(&model::save, {.after = &model::train}).to(samplers, &sampler::load);
  trained.keeps(&model::save, &model::restore);
  return g;
}

// Twice killed anywhere, and resumed from the last that it saved.
run_of run_and_kill(const shape& of, std::uint64_t seed) {
  run_of made;
  std::optional<tk::checkpoint> last;
  tk::generator random{seed};
  for (int life = 0; life < 3; ++life) {
    if (!last)
      made.steps.clear();
    tk::sim::options how{.seed = seed * 10 + static_cast<std::uint64_t>(life), .save_every = 1, .resumed = last};
    how.on_saved = [&](const tk::checkpoint& kept) { last = kept; };
    if (life < 2)
      how.dies_after = random.below(1500);
    const tk::sim::outcome seen = tk::sim::simulate(pipeline(of, made), how);
    REQUIRE(seen.ended);
    CHECK((seen.report.good() || life < 2));
    CHECK(seen.violations.empty());
  }
  return made;
}

// How many rows were trained; none of them twice.
std::size_t trained_once(const run_of& seen) {
  std::set<tk::identity> rows;
  for (const auto& step : seen.steps)
    for (const tk::identity& each : step)
      CHECK(rows.insert(each).second);
  return rows.size();
}

}  // namespace

TEST_CASE("a run that is killed and resumed trains every row of its source once, in order or as completed") {
  for (const bool as_completed : {false, true})
    for (const bool emits : {false, true})
      for (const bool skips : {false, true})
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
          CAPTURE(as_completed);
          CAPTURE(emits);
          CAPTURE(skips);
          CAPTURE(seed);
          // Siblings are cut apart: a step has 7 rows, a parent 3.
          const run_of seen = run_and_kill({.as_completed = as_completed, .emits = emits, .skips = skips}, seed);
          CHECK(trained_once(seen) == 6 * 8 * 3);
          CHECK(seen.skipped % 8 == 0);
        }
}

TEST_CASE("rows that a filter dropped do not come again either") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    CHECK(trained_once(run_and_kill({.as_completed = true, .filters = true}, seed)) == 6 * 6 * 3);
}

TEST_CASE("what is left of batches of which rows were trained goes on in batches no smaller than the source makes") {
  // No policy for fewer rows than data ranks: a rest of a batch alone would be a fault.
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    CHECK(trained_once(run_and_kill({.batches = 100, .steps = 20, .as_completed = true, .emits = true,
                                     .small = tk::small::unset},
                                    seed)) == 20 * 7);
}
