// SPDX-License-Identifier: Apache-2.0
// Rows of many bytes and weights of as many, so that they do not fit into what routers tell each other: a megabyte or more
// a step goes from the node that makes rows to those that train on them, past the one that grades them by their numbers.
// The weights are held in parts, and loaded in others.
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/runtime/main.hpp"

namespace tk = twinkle;

namespace {

constexpr tk::column<std::int64_t> number{"number"};
constexpr tk::ragged<float> wide{"wide"};
constexpr tk::column<double> grade{"grade"};

struct source {
  source(tk::context&, std::size_t of) : rows(of) {}
  std::optional<tk::batch> next(tk::context&) {
    std::vector<std::int64_t> numbers(rows);
    std::iota(numbers.begin(), numbers.end(), counter);
    counter += static_cast<std::int64_t>(rows);
    return tk::batch{}.with(number, std::move(numbers));
  }

  std::size_t rows;
  std::int64_t counter = 0;
};

struct maker {
  maker(tk::context&, std::size_t of) : width(of) {}
  tk::batch make(tk::context&, tk::batch rows) {
    const auto numbers = rows[number];
    std::vector<std::vector<float>> values;
    for (std::size_t row = 0; row < rows.rows(); ++row)
      values.emplace_back(width + static_cast<std::size_t>(numbers[row] % 7), static_cast<float>(numbers[row] % 1000) * weight);
    return rows.with(wide, values);
  }
  void load(tk::context& ctx, tk::weights newest) {
    const tk::tensor& part = *newest.find("weight");
    if (part.shape[0] != tk::even_part(width * 16, ctx.data_ranks(), ctx.data_rank()).size())
      throw tk::error("it was given " + std::to_string(part.shape[0]) + " numbers");
    weight = part.values.as<float>()[part.shape[0] - 1];
  }

  std::size_t width;
  float weight = 0;
};

struct grader {
  tk::batch judge(tk::context&, tk::batch rows) {
    std::vector<double> grades;
    for (const std::int64_t each : rows[number])
      grades.push_back(static_cast<double>(each % 3));
    return rows.with(grade, std::move(grades));
  }
};

struct trainer {
  trainer(tk::context&, std::size_t of) : width(of) {}
  tk::metrics train(tk::context& ctx, tk::batch rows) {
    double sum = 0;
    const auto values = rows[wide];
    for (std::size_t row = 0; row < rows.rows(); ++row)
      for (const float each : values[row])
        sum += static_cast<double>(each) * rows[grade][row];
    sum = ctx.peers().all_reduce(sum);
    ++steps;
    return tk::metrics{}.max("sum", sum);
  }
  // Each rank holds a part.
  tk::weights state(tk::context& ctx) {
    const std::size_t whole = width * 16;
    const tk::interval held = tk::even_part(whole, ctx.data_ranks(), ctx.data_rank());
    std::vector<float> values(held.size(), 1.0F + static_cast<float>(steps % 5));
    return tk::weights{{{"weight", {tk::element::f32, {values.size()}, tk::buffer::of(std::move(values)),
                                    tk::shard{0, held, whole}}}}};
  }

  std::size_t width;
  std::size_t steps = 0;
};

std::optional<std::size_t> cut_along_0(std::string_view, std::span<const std::size_t>) { return 0; }

void build(tk::graph& g) {
  const auto width = g.option<std::size_t>("width", 4096, "numbers of a row");
  const auto rows = g.option<std::size_t>("rows", 64, "rows of a step");
  const auto makers = g.option<std::size_t>("makers", 2, "ranks that make rows");
  const auto dp = g.option<std::int64_t>("dp", 4, "data ranks that train on them, of four ranks");
  const auto tp = g.option<std::int64_t>("tp", 1, "ranks that train on the same rows");
  const bool lossy = g.option<std::size_t>("lossy", 0, "1: rows that nobody can make are lost by name") == 1;
  const auto trainers = tk::device_mesh::from_sizes({.dp_size = dp, .tp_size = tp});
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};

  auto prompts = g.spawn<source>("source", {host}, rows).emits(&source::next, {.rows = rows});
  auto makes = g.spawn<maker>("maker", {{.name = "makers", .ranks = makers}}, width);
  auto grades = g.spawn<grader>("grader", {host});
  auto trains = g.spawn<trainer>("trainer", {{.name = "trainers", .ranks = 4}, trainers}, width);
  const auto failed = lossy ? tk::failing::drops_rows : tk::failing::ends_run;
  auto steps = prompts.to(makes, &maker::make, {.name = "make", .retries = 2, .failed = failed})
                   .to(grades, &grader::judge, {.name = "grade", .reads = {number}})
                   .rebatch(rows)
                   .to(trains, &trainer::train, {.name = "train", .small = tk::small::allow_empty, .max_staleness = 1});
  trains.publishes(&trainer::state, {.after = &trainer::train})
      .to(makes, &maker::load, {.shards = tk::sharding{{"dp"}, cut_along_0}});
  steps.stop_after(g.option<std::size_t>("steps", 20, "training steps"));
}

}  // namespace

int main(int argc, char** argv) { return tk::main(argc, argv, build); }
