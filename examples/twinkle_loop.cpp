// SPDX-License-Identifier: Apache-2.0
// The loop of a driver: prompts -> sampler (dp 4) -> its sequences, flattened -> model (dp 2 x pp 2 x tp 2) -> collected.
// Once as calls with futures, once as a graph of streams: both print the same rows.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/caller.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/runtime/main.hpp"

// run:
// run: --as streams
// run: plan

namespace tk = twinkle;

namespace {

constexpr tk::text prompt{"prompt"};
constexpr tk::text sampled_by{"sampled_by"};
constexpr tk::text trained_by{"trained_by"};
constexpr tk::column<double> score{"score"};

struct prompts {
  std::size_t rows;
  bool done = false;

  explicit prompts(std::size_t count) : rows(count) {}

  tk::batch all(tk::context&) const {
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < rows; ++row)
      texts.push_back("prompt " + std::to_string(row));
    return tk::batch{}.with(prompt, texts);
  }
  std::optional<tk::batch> next(tk::context& ctx) {
    return std::exchange(done, true) ? std::nullopt : std::optional(all(ctx));
  }
  static tk::emission emits(std::size_t count) { return {.rows = count}; }
};

struct sampler {
  // Two sequences for each prompt, as children of its row: so they are flattened, and each knows its prompt.
  tk::batch sample(tk::context& ctx, tk::batch rows) {
    std::vector<std::size_t> parents;
    for (std::size_t row = 0; row < rows.rows(); ++row)
      parents.insert(parents.end(), 2, row);
    const tk::batch sequences = rows.expand(parents);
    std::vector<double> scores;
    for (const tk::row_tag& tag : sequences.tags())
      scores.push_back(ctx.random(tag.id, "score").uniform());
    return sequences.with(score, scores)
        .with(sampled_by, std::vector<std::string>(sequences.rows(), "dp=" + std::to_string(ctx.data_rank())));
  }
};

struct model {
  std::string rows_seen;

  // All ranks of one data rank get the same rows; the last pipeline stage's result is the one that is collected.
  tk::batch forward(tk::context& ctx, tk::batch rows) {
    rows_seen = ctx.mesh().coordinates(ctx.rank()) + " had " + std::to_string(rows.rows()) + " rows, from " +
                to_string(rows.tags().front().id) + " to " + to_string(rows.tags().back().id);
    return rows.with(trained_by, std::vector<std::string>(rows.rows(), ctx.mesh().coordinates(ctx.rank())));
  }
  std::string seen(tk::context&) const { return rows_seen; }
};

void print(const tk::batch& rows) {
  const auto prompts = rows[prompt];
  const auto samplers = rows[sampled_by];
  const auto ranks = rows[trained_by];
  const auto scores = rows[score];
  for (std::size_t row = 0; row < rows.rows(); ++row)
    std::cout << to_string(rows.tags()[row].id) << "  " << prompts[row] << "  sampled by " << samplers[row]
              << "  through the model at " << ranks[row] << "  score " << scores[row] << "\n";
}

struct printer {
  void write(tk::context&, const tk::batch& rows) { print(rows); }
};

void loop(tk::graph& g) {
  const auto rows = g.option("rows", 6, "prompts");
  const auto as = g.option("as", "calls", "calls or streams");
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto source = g.spawn<prompts>("prompts", {host}, static_cast<std::size_t>(rows));
  auto samplers = g.spawn<sampler>("sampler", {{.name = "rollout", .ranks = 4}});
  auto trainer = g.spawn<model>("model", {{.name = "trainer", .ranks = 8}, tk::device_mesh::from_sizes(
      {.dp_size = 2, .pp_size = 2, .tp_size = 2})});

  if (as == "streams") {
    source.emits(&prompts::next)
        .to(samplers, &sampler::sample, {.name = "sample", .small = tk::small::allow_empty, .expands = 2})
        .to(trainer, &model::forward, {.name = "forward"})
        .to(g.spawn<printer>("printer", {host}), &printer::write, {.name = "write"});
    return;
  }
  if (as != "calls")
    throw tk::error("--as is '" + as + "'; it is calls or streams");
  const auto all = source.endpoint(&prompts::all, {.name = "all", .collect = tk::collect::first});
  const auto sample = samplers.endpoint(&sampler::sample, {.name = "sample", .small = tk::small::allow_empty});
  const auto forward = trainer.endpoint(&model::forward, {.name = "forward"});
  const auto seen = trainer.endpoint(&model::seen, {.name = "seen"});
  g.drive([=](tk::caller& calls) {
    const auto sequences = calls(sample, calls(all));  // futures: the rows never pass this function
    const auto out = calls(forward, sequences);
    print(out.get());
    for (const std::string& each : calls(seen).each())
      std::cout << "# " << each << "\n";
  });
}

}  // namespace

int main(int argc, char** argv) { return tk::main(argc, argv, loop); }
