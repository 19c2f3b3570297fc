// SPDX-License-Identifier: Apache-2.0
// Rollouts that are longer than a sampler has time for: it emits what is finished, and leaves the rest to the next.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "numbers.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;
using numbers::number;

namespace {

constexpr tk::ragged<std::int32_t> tokens{"tokens"};

std::size_t length_of(std::int64_t row) { return 1 + static_cast<std::size_t>(row) * 3 % 7; }

// Two tokens of each row a call. A token says which worker made it, so that it is seen that others went on.
struct sampler {
  void sample(tk::context& ctx, tk::batch prompts, tk::emitter& out) {
    for (std::size_t at = 0; at < prompts.rows(); ++at) {
      const tk::batch prompt = prompts[tk::interval{at, at + 1}];
      std::vector<std::int32_t> made;
      if (prompts.has(tokens.name))
        made.assign(prompts[tokens][at].begin(), prompts[tokens][at].end());
      const std::size_t whole = length_of(prompts[number][at]);
      for (int step = 0; step < 2 && made.size() < whole; ++step)
        made.push_back(static_cast<std::int32_t>(ctx.data_rank()));
      ctx.sleep_for(1ms);
      const bool finished = made.size() == whole;
      const tk::batch row = prompt.with(tokens, std::vector<std::vector<std::int32_t>>{made});
      finished ? out(at, row) : out.unfinished(at, row);
    }
  }
};

struct trainer {
  std::map<std::int64_t, std::vector<std::int32_t>>* seen;

  explicit trainer(std::map<std::int64_t, std::vector<std::int32_t>>* into) : seen(into) {}

  tk::metrics train(tk::context&, tk::batch rows) {
    for (std::size_t at = 0; at < rows.rows(); ++at) {
      const auto made = rows[tokens][at];
      CHECK(seen->emplace(rows[number][at], std::vector<std::int32_t>(made.begin(), made.end())).second);
    }
    return {};
  }
};

}  // namespace

TEST_CASE("rows that an emitter leaves unfinished are finished by others and trained whole, each once") {
  for (const bool ordered : {true, false})
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      std::map<std::int64_t, std::vector<std::int32_t>> trained;
      tk::graph g{"partial"};
      auto samplers = g.spawn<sampler>("sampler", {{.name = "rollout", .ranks = 3}});
      auto trainers = g.spawn<trainer>("trainer", {{.name = "training", .ranks = 1}}, &trained);
      auto rows = g.spawn<numbers::source>("source", {{.name = "host", .ranks = 1, .device_type = "cpu"}}, std::size_t{4})
                      .emits(&numbers::source::next)
                      .to(samplers, &sampler::sample, {.retries = 1});
      (ordered ? rows : rows.as_completed()).to(trainers, &trainer::train);
      const auto seen = tk::sim::simulate(
          g, {.seed = seed,
              .mishaps = {{.at = 2ms, .what = tk::sim::mishap::kind::throws, .stage = "sampler", .worker = seed % 3}}});
      CAPTURE(seed);
      REQUIRE(seen.ended);
      CHECK(seen.report.good());
      CHECK(seen.violations.empty());
      CHECK(seen.report.trained == 32);
      REQUIRE(trained.size() == 32);
      bool shared = false;
      for (const auto& [row, made] : trained) {
        CHECK(made.size() == length_of(row));
        shared = shared || std::adjacent_find(made.begin(), made.end(), std::not_equal_to<>{}) != made.end();
      }
      CHECK(shared);
    }
}
