// SPDX-License-Identifier: Apache-2.0
// A small run under every schedule, and a schedule that is chosen again.
#include <doctest/doctest.h>

#include <set>

#include "stories/numbers.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/sim/exhaustive_chooser.hpp"
#include "twinkle/sim/random_chooser.hpp"
#include "twinkle/sim/recording_chooser.hpp"
#include "twinkle/sim/replay_chooser.hpp"
#include "twinkle/sim/simulate.hpp"

namespace tk = twinkle;

namespace {

struct worker {
  tk::batch pass(tk::context&, tk::batch rows) { return rows; }
  tk::metrics train(tk::context&, tk::batch rows) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row)
      sum += rows[numbers::number][row] * static_cast<std::int64_t>(row + 1);  // the order counts
    return tk::metrics{}.sum("sum", static_cast<double>(sum));
  }
};

// Two workers, whose replies may come in any order.
tk::graph small() {
  tk::graph g{"small"};
  const tk::device_group host{.name = "host", .ranks = 1, .device_type = "cpu"};
  auto passes = g.spawn<worker>("pass", {{.name = "two", .ranks = 2}, {}, tk::bodies::shared});
  auto sinks = g.spawn<worker>("sink", {host, {}, tk::bodies::shared});
  g.spawn<numbers::source>("source", {host, {}, tk::bodies::shared}, std::size_t{1})
      .emits(&numbers::source::next)
      .to(passes, &worker::pass)
      .to(sinks, &worker::train)
      .stop_after(1);
  return g;
}

}  // namespace

TEST_CASE("a small run trains the same under every schedule of its first choices") {
  const tk::graph g = small();
  tk::sim::exhaustive_chooser every{6};
  std::set<std::uint64_t> histories;
  std::size_t runs = 0;
  do {
    const auto seen = tk::sim::simulate(g, {.chooser = &every});
    REQUIRE(seen.ended);
    REQUIRE(seen.steps.size() == 1);
    CHECK(seen.steps[0].values.find("sum") == 168.0);
    CHECK(seen.violations.empty());
    histories.insert(seen.history);
    ++runs;
  } while (every.next());
  CHECK(runs > 500);
  CHECK(histories.size() == runs);
}

TEST_CASE("a schedule that was recorded is had again by its choices") {
  const tk::graph g = small();
  tk::sim::random_chooser random{42};
  tk::sim::recording_chooser recorded{random};
  const auto first = tk::sim::simulate(g, {.chooser = &recorded});
  tk::sim::replay_chooser again{recorded.choices()};
  CHECK(tk::sim::simulate(g, {.chooser = &again}).history == first.history);
  CHECK(tk::sim::simulate(g, {.seed = 43}).history != first.history);
}
