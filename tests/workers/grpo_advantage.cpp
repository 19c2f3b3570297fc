// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/grpo_advantage.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/endpoint.hpp"
#include "twinkle/workers/columns.hpp"

using twinkle::batch;
using twinkle::grpo_advantage;
using twinkle::row_tag;
namespace columns = twinkle::columns;
using floats = std::vector<float>;
using indices = std::vector<std::size_t>;

static_assert(twinkle::batch_endpoint<decltype(&grpo_advantage::advantages), grpo_advantage>);

namespace {

// Prompts that are sampled as often as said, side by side.
batch samples(const indices& counts, const floats& rewards) {
  std::vector<row_tag> prompts(counts.size());
  indices parents;
  for (std::size_t prompt = 0; prompt < counts.size(); ++prompt) {
    prompts[prompt].id.sequence = prompt;
    parents.insert(parents.end(), counts[prompt], prompt);
  }
  const batch rows = batch{}.with(columns::reward, floats(counts.size())).with_tags(prompts).expand(parents);
  return rows.with(columns::reward, rewards);
}

floats advantages(const batch& scored) {
  const auto values = grpo_advantage::with_advantages(scored)[columns::advantage];
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a sample's advantage is its reward against those of its group, in standard deviations of the population") {
  const floats found = advantages(samples({4, 2}, {1, 0, 0, 1, 0, 3}));
  const auto half = static_cast<float>(0.5 / (0.5 + 1e-4));
  const auto three_halves = static_cast<float>(1.5 / (1.5 + 1e-4));
  CHECK(found == floats{half, -half, -half, half, -three_halves, three_halves});
}

TEST_CASE("a group of equal rewards has no advantage") {
  CHECK(advantages(samples({3, 1}, {0.1F, 0.1F, 0.1F, 7})) == floats{0, 0, 0, 0});
}

TEST_CASE("one group's rewards do not change another's advantages") {
  const floats alone = advantages(samples({2}, {0, 1}));
  const floats together = advantages(samples({2, 2}, {0, 1, -500, 900}));
  CHECK(together[0] == alone[0]);
  CHECK(together[1] == alone[1]);
}

TEST_CASE("padding copies take no part, wherever they stand") {
  const batch real = samples({2}, {0, 1});
  const batch padded = real.take(indices{0, 1, 0});
  std::vector<row_tag> tags(padded.tags().begin(), padded.tags().end());
  tags[2].padding = true;
  const floats found = advantages(padded.with_tags(tags));
  CHECK(floats{found[0], found[1]} == advantages(real));
  CHECK(found[2] == 0);
}

TEST_CASE("rows without a parent are refused by name") {
  const batch prompts = batch{}.with(columns::reward, {1}).with_tags(std::vector<row_tag>(1));
  CHECK_THROWS_WITH_AS((void)advantages(prompts),
                       "row 0:0 has no parent, so it is no sample of a prompt; put an endpoint that expands rows and "
                       "group_by(parent) before grpo_advantage",
                       twinkle::error);
  CHECK_THROWS_AS((void)advantages(batch{}.with(columns::reward, {1})), twinkle::error);
}

TEST_CASE("samples of one prompt that stand apart are refused, not taken for two groups") {
  const batch mixed = samples({2, 2}, {0, 1, 0, 1}).take(indices{0, 2, 1, 3});
  CHECK_THROWS_WITH_AS((void)advantages(mixed),
                       "row 0:0/1 stands apart from other samples of row 0:0; put group_by(parent) before "
                       "grpo_advantage",
                       twinkle::error);
}

TEST_CASE("a reward that is not finite is refused by row, and does not spoil its group") {
  CHECK_THROWS_WITH_AS((void)advantages(samples({2}, {0, std::numeric_limits<float>::quiet_NaN()})),
                       "row 0:0/1 has the reward nan; rewards must be finite: drop what could not be judged",
                       twinkle::error);
  CHECK_THROWS_AS((void)advantages(samples({1}, {HUGE_VALF})), twinkle::error);
}

TEST_CASE("no rows have no advantages, and tombstones flow on") {
  const batch none = samples({2}, {0, 1}).drop(indices{0, 1}, "late");
  const batch found = grpo_advantage::with_advantages(none);
  CHECK(found[columns::advantage].rows() == 0);
  CHECK(found.tombstone_count() == 2);
}
