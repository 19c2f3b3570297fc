// SPDX-License-Identifier: Apache-2.0
#include "toy.hpp"

namespace toy {

namespace tk = twinkle;

namespace {

void hurt(const sabotage& harm, tk::context& ctx, const std::string& endpoint) {
  if (harm)
    harm(ctx, endpoint);
}

tk::weights holding(double weight) {
  return tk::weights{{{"weight", {tk::element::f64, {1}, tk::buffer::of(std::vector<double>{weight})}}}};
}

}  // namespace

source::source(tk::context& ctx, std::size_t rows_, std::size_t batches, sabotage harm_)
    : rows(rows_), left(batches), harm(std::move(harm_)) {
  hurt(harm, ctx, "source()");
}

std::optional<tk::batch> source::next(tk::context& ctx) {
  hurt(harm, ctx, "next");
  if (left == 0)
    return std::nullopt;
  --left;
  std::vector<std::int64_t> numbers(rows);
  for (std::int64_t& each : numbers)
    each = counter++;
  return tk::batch{}.with(number, std::move(numbers));
}

sampler::sampler(tk::context& ctx, sabotage harm_) : harm(std::move(harm_)) { hurt(harm, ctx, "sampler()"); }

tk::batch sampler::sample(tk::context& ctx, tk::batch prompts) {
  hurt(harm, ctx, "sample");
  std::vector<std::size_t> parents;
  for (std::size_t row = 0; row < prompts.rows(); ++row)
    parents.insert(parents.end(), 2, row);
  const tk::batch rollouts = prompts.expand(parents);
  std::vector<double> values;
  for (const tk::row_tag& tag : rollouts.tags())
    values.push_back(ctx.random(tag.id, "value").uniform() + weight);
  return rollouts.with(value, std::move(values));
}

void sampler::load(tk::context& ctx, tk::weights newest) {
  hurt(harm, ctx, "load");
  weight = newest.find("weight")->values.as<double>()[0];
}

model::model(tk::context& ctx, sabotage harm_) : harm(std::move(harm_)) {
  hurt(harm, ctx, "model()");
  ctx.peers().barrier();
}

tk::metrics model::train(tk::context& ctx, tk::batch rows) {
  hurt(harm, ctx, "train");
  double sum = 0;
  double place = 0;
  const auto values = rows[value];
  const auto numbers = rows[number];
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    // The order of rows counts: a wrong order gives another sum.
    sum += values[row] * static_cast<double>(row + 1);
    place += static_cast<double>(numbers[row] * static_cast<std::int64_t>(row));
  }
  sum = ctx.along({"dp"}).all_reduce(sum);
  weight = weight * 0.5 + sum / 1000;
  return tk::metrics{}.mean("weight", weight).sum("place", place);
}

tk::weights model::state(tk::context& ctx) {
  hurt(harm, ctx, "state");
  return ctx.data_rank() == 0 ? holding(weight) : tk::weights{};
}

tk::weights model::save(tk::context& ctx) {
  hurt(harm, ctx, "save");
  return ctx.data_rank() == 0 ? holding(weight) : tk::weights{};
}

void model::restore(tk::context& ctx, tk::weights saved) {
  hurt(harm, ctx, "restore");
  weight = saved.find("weight")->values.as<double>()[0];
}

tk::metrics judge::grade(tk::context&, tk::weights newest) {
  return tk::metrics{}.mean("weight", newest.find("weight")->values.as<double>()[0]);
}

std::string why(const tk::run_report& report) { return report.why ? tk::to_string(*report.why) : ""; }

void ignore_everything(tk::context& ctx) {
  while (true) {
    try {
      ctx.sleep_for(std::chrono::hours(1));
    } catch (const tk::stopped&) {
      // A body should let this pass; this one is broken.
    }
  }
}

void build(tk::graph& g, const shape& of) {
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  const tk::device_group rollout{.name = "rollout", .ranks = of.samplers};
  const tk::device_group trainer{.name = "trainer", .ranks = 2};

  auto prompts = g.spawn<source>("source", {host, {}, of.run}, of.rows,
                                 of.batches == 0 ? std::size_t{1000000} : of.batches, of.harm);
  auto samplers = g.spawn<sampler>("sampler", {rollout, {}, of.run, of.respawns}, of.harm);
  auto trained = g.spawn<model>("model", {trainer}, of.harm);
  auto watcher = g.spawn<judge>("judge", {host, {}, of.run});

  auto rollouts = prompts.emits(&source::next, {.name = "next", .rows = of.rows})
                      .to(samplers, &sampler::sample, {.name = "sample", .expands = 2, .retries = of.retries, .failed = of.failed});
  auto steps = rollouts.group_by(tk::parent).rebatch(of.step).to(
      trained, &model::train, {.name = "train", .max_staleness = of.bound});
  trained.publishes(&model::state, {.after = &model::train, .name = "state"})
      .to(samplers, &sampler::load, {.name = "load"})
      .to(watcher, &judge::grade, {.name = "grade", .every = 4});
  if (of.keeps)
    trained.keeps(&model::save, &model::restore, {.name = "save"});
  if (of.steps > 0)
    steps.stop_after(of.steps);
}

tk::graph pipeline(const shape& of) {
  tk::graph g{"toy"};
  build(g, of);
  return g;
}

}  // namespace toy
