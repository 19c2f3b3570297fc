// SPDX-License-Identifier: Apache-2.0
// Functions that stand in for bodies in a simulation.
#include <doctest/doctest.h>

#include "stories/toy.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;
using namespace std::chrono_literals;

namespace {

tk::batch two_of_each(tk::context& ctx, tk::batch prompts) {
  std::vector<std::size_t> parents;
  for (std::size_t row = 0; row < prompts.rows(); ++row)
    parents.insert(parents.end(), 2, row);
  const tk::batch rollouts = prompts.expand(parents);
  return rollouts.with(toy::value, std::vector<double>(rollouts.rows(), static_cast<double>(ctx.version())));
}

std::vector<tk::sim::rule> all_faked() {
  return {tk::sim::fake("sampler", &toy::sampler::sample, two_of_each),
          tk::sim::fake("sampler", &toy::sampler::load, [](tk::context&, tk::weights) {}),
          tk::sim::fake("model", &toy::model::train,
                        [](tk::context&, tk::batch rows) {
                          return tk::metrics{}.sum("weight", static_cast<double>(rows.rows())).sum("place", 0);
                        }),
          tk::sim::fake("model", &toy::model::state, [](tk::context&) { return tk::weights{}; }),
          tk::sim::fake("judge", &toy::judge::grade, [](tk::context&, tk::weights) { return tk::metrics{}; }),
          tk::sim::fake("source", &toy::source::next, [left = 6](tk::context&) mutable -> std::optional<tk::batch> {
            if (left-- == 0)
              return std::nullopt;
            return tk::batch{}.with(toy::number, std::vector<std::int64_t>(8, left));
          })};
}

}  // namespace

TEST_CASE("a graph whose every endpoint is faked builds no object") {
  toy::shape shape;
  shape.harm = [](tk::context&, const std::string& at) { throw std::runtime_error("a real body ran: " + at); };
  const auto seen = tk::sim::simulate(toy::pipeline(shape), {.rules = all_faked()});
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "");
  REQUIRE(seen.steps.size() == 6);
  CHECK(seen.steps[5].values.find("weight") == 16.0);
}

TEST_CASE("a fake stands in for one endpoint, and the object has the others") {
  toy::shape shape;
  std::size_t loads = 0;
  shape.harm = [&](tk::context&, const std::string& at) {
    CHECK(at != "sample");
    loads += at == "load" ? 1 : 0;
  };
  const auto seen =
      tk::sim::simulate(toy::pipeline(shape), {.rules = {tk::sim::fake("sampler", &toy::sampler::sample, two_of_each)}});
  REQUIRE(seen.ended);
  CHECK(toy::why(seen.report) == "");
  CHECK(loads > 0);
}

TEST_CASE("fakes cost time and go wrong like real bodies") {
  toy::shape shape;
  shape.retries = 1;
  shape.bound = 0;
  shape.steps = 0;  // as many as the source has
  const auto run = [&](std::vector<tk::sim::mishap> mishaps) {
    auto rules = all_faked();
    rules.push_back(
        tk::sim::cost("sampler", &toy::sampler::sample, [](tk::sim::work w) { return tk::duration(1s) * w.rows; }));
    return tk::sim::simulate(toy::pipeline(shape), {.rules = std::move(rules), .mishaps = std::move(mishaps)});
  };
  CHECK(run({}).at == 6 * 2s);
  const auto hurt = run({{.at = 3s, .what = tk::sim::mishap::kind::throws, .stage = "sampler", .worker = 3}});
  REQUIRE(hurt.ended);
  CHECK(toy::why(hurt.report) == "");
  CHECK(hurt.report.setbacks == 1);
  CHECK(hurt.at == 6 * 2s + 2s);
}

TEST_CASE("work knows its rows and tokens, and draws the same for the same rows") {
  static constexpr tk::ragged<std::int32_t> tokens{"tokens"};
  struct talker {
    std::optional<tk::batch> next(tk::context&) {
      if (left-- == 0)
        return std::nullopt;
      return tk::batch{}.with(tokens, std::vector<std::vector<std::int32_t>>{{1, 2, 3}, {4}, {5, 6}});
    }
    tk::metrics train(tk::context&, tk::batch) { return {}; }
    int left = 3;
  };
  std::vector<std::uint64_t> drawn;
  const auto build = [](tk::graph& g) {
    auto source = g.spawn<talker>("source", {{.name = "host", .ranks = 1, .device_type = "cpu"}});
    auto sink = g.spawn<talker>("sink", {{.name = "sinks", .ranks = 1}});
    (void)source.emits(&talker::next, {.rows = 3}).to(sink, &talker::train);
  };
  const auto lasts = [&](tk::sim::work w) {
    CHECK(w.rows == 3);
    CHECK(w.tokens == 6);
    drawn.push_back(w.random.next());
    return tk::duration(w.tokens * 1s);
  };
  tk::graph g{"talk"};
  build(g);
  const auto seen = tk::sim::simulate(g, {.rules = {tk::sim::cost("sink", &talker::train, lasts)}});
  CHECK(seen.at == 18s);
  REQUIRE(drawn.size() == 3);
  CHECK(drawn[0] != drawn[1]);
  const auto first = drawn;
  drawn.clear();
  static_cast<void>(tk::sim::simulate(g, {.rules = {tk::sim::cost("sink", &talker::train, lasts)},
                                          .mishaps = {{.at = 1s, .what = tk::sim::mishap::kind::stalls, .stage = "sink", .lasts = 1min}}}));
  CHECK(drawn == first);
  drawn.clear();
  static_cast<void>(tk::sim::simulate(g, {.seed = 7, .rules = {tk::sim::cost("sink", &talker::train, lasts)}}));
  CHECK(drawn != first);
}

TEST_CASE("a rule for what the graph has not is refused with what it has") {
  const auto refused = [](tk::sim::rule what, const std::string& words) {
    try {
      static_cast<void>(tk::sim::simulate(toy::pipeline(), {.rules = {std::move(what)}}));
      FAIL("it was not refused");
    } catch (const tk::error& wrong) {
      CHECK(std::string(wrong.what()).find(words) != std::string::npos);
    }
  };
  refused(tk::sim::cost("smapler", &toy::sampler::sample, [](tk::sim::work) { return tk::duration(1s); }),
          "a rule of the simulation is for stage 'smapler', and graph 'toy' has 'source', 'sampler'");
  refused(tk::sim::cost("sampler", &toy::model::train, [](tk::sim::work) { return tk::duration(1s); }),
          "stage 'sampler' does not use as an endpoint; it uses sample, load");
}
