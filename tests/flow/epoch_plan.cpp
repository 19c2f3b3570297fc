// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/epoch_plan.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "for_all.hpp"
#include "twinkle/base/error.hpp"

using twinkle::epoch_plan;
using last_batch = epoch_plan::last_batch;
using rows = std::vector<std::size_t>;
using batches = std::vector<rows>;
using runs = std::vector<epoch_plan::run>;

namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

// The dataset's rows, batch by batch, from a position on.
batches batches_from(const epoch_plan& plan, std::uint64_t emitted, std::size_t batches_max = 1000) {
  batches found;
  while (found.size() < batches_max) {
    rows batch;
    for (const epoch_plan::run& each : plan.batch_after(emitted)) {
      const rows order = plan.order_of(each.epoch);
      for (std::size_t at = each.places.first; at < each.places.end; ++at)
        batch.push_back(order.at(at));
    }
    if (batch.empty())
      break;
    emitted += batch.size();
    found.push_back(batch);
  }
  return found;
}

rows joined(const batches& parts) {
  rows whole;
  for (const rows& each : parts)
    whole.insert(whole.end(), each.begin(), each.end());
  return whole;
}

epoch_plan::options any_options() {
  epoch_plan::options how;
  how.dataset_rows = *rc::gen::inRange<std::size_t>(1, 25);
  how.rows = *rc::gen::inRange<std::size_t>(1, 30);
  how.last = *rc::gen::element(last_batch::keep, last_batch::drop);
  how.epochs = *rc::gen::inRange<std::size_t>(1, 5);
  how.mix_epochs = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>())
    how.seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::size_t cut = how.mix_epochs ? how.dataset_rows * how.epochs : how.dataset_rows;
  RC_PRE(how.last == last_batch::keep || cut >= how.rows);
  return how;
}

// The same by the plainest means: epochs written out, then cut.
batches written_out(const epoch_plan& plan, const epoch_plan::options& how) {
  batches whole;
  for (std::size_t epoch = 1; epoch <= how.epochs; ++epoch)
    if (epoch == 1 || !how.mix_epochs)
      whole.push_back(plan.order_of(epoch));
    else
      whole[0] = joined({whole[0], plan.order_of(epoch)});
  batches cut;
  for (const rows& each : whole)
    for (std::size_t first = 0; first < each.size(); first += how.rows) {
      const std::size_t end = std::min(first + how.rows, each.size());
      if (how.last == last_batch::keep || end - first == how.rows)
        cut.emplace_back(each.begin() + static_cast<std::ptrdiff_t>(first),
                         each.begin() + static_cast<std::ptrdiff_t>(end));
    }
  return cut;
}

std::string complaint(const epoch_plan::options& how) {
  try {
    const epoch_plan plan(how);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("case K-L1: 10 rows in batches of 4 go on behind 4, 10 and 14 emitted rows") {
  const epoch_plan plan({.dataset_rows = 10, .rows = 4, .epochs = 2});
  const batches epoch{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
  CHECK(batches_from(plan, 4) == batches{epoch[1], epoch[2], epoch[0], epoch[1], epoch[2]});
  CHECK(batches_from(plan, 10) == epoch);
  CHECK(batches_from(plan, 14) == batches{epoch[1], epoch[2]});
  CHECK(batches_from(plan, 20).empty());
  CHECK(plan.batch_after(14) == runs{{2, {4, 8}}});
}

TEST_CASE("a position of a plan that drops counts only rows that were emitted") {
  const epoch_plan plan({.dataset_rows = 10, .rows = 4, .last = last_batch::drop, .epochs = 2});
  CHECK(plan.rows_in_all() == 16);
  CHECK(batches_from(plan, 8) == batches{{0, 1, 2, 3}, {4, 5, 6, 7}});
}

TEST_CASE("mixed epochs fill their batches from the next epoch, or from several") {
  const epoch_plan plan({.dataset_rows = 10, .rows = 4, .epochs = 2, .mix_epochs = true});
  CHECK(plan.batch_after(8) == runs{{1, {8, 10}}, {2, {0, 2}}});
  CHECK(batches_from(plan, 12) == batches{{2, 3, 4, 5}, {6, 7, 8, 9}});
  const epoch_plan small({.dataset_rows = 2, .rows = 5, .epochs = 0, .mix_epochs = true});
  CHECK(batches_from(small, 0, 2) == batches{{0, 1, 0, 1, 0}, {1, 0, 1, 0, 1}});
}

TEST_CASE("from within a batch its rest comes first, and then the batches that came anyway") {
  const epoch_plan plan({.dataset_rows = 10, .rows = 4, .epochs = 1});
  CHECK(batches_from(plan, 5) == batches{{5, 6, 7}, {8, 9}});
}

TEST_CASE("a plan emits what the epochs written out and cut would be") {
  for_all([] {
    const epoch_plan::options how = any_options();
    const epoch_plan plan(how);
    const batches whole = batches_from(plan, 0);
    RC_ASSERT(whole == written_out(plan, how));
    RC_ASSERT(joined(whole).size() == plan.rows_in_all());
  });
}

TEST_CASE("from every position a plan emits what it would have without a stop") {
  for_all([] {
    const epoch_plan::options how = any_options();
    const batches whole = batches_from(epoch_plan(how), 0);
    const rows all = joined(whole);
    std::size_t emitted = 0;
    for (std::size_t done = 0; done <= whole.size(); ++done) {
      RC_ASSERT(batches_from(epoch_plan(how), emitted) ==
                batches(whole.begin() + static_cast<std::ptrdiff_t>(done), whole.end()));
      emitted += done < whole.size() ? whole[done].size() : 0;
    }
    for (std::size_t at = 0; at <= all.size(); ++at)
      RC_ASSERT(joined(batches_from(epoch_plan(how), at)) ==
                rows(all.begin() + static_cast<std::ptrdiff_t>(at), all.end()));
  });
}

TEST_CASE("the smallest batch behind a position is told before it comes") {
  for_all([] {
    const epoch_plan plan(any_options());
    const auto from = *rc::gen::inRange<std::uint64_t>(0, plan.rows_in_all() + 1);
    std::size_t least = 0;
    for (const rows& batch : batches_from(plan, from))
      least = least == 0 ? batch.size() : std::min(least, batch.size());
    RC_ASSERT(plan.least_after(from) == least);
  });
}

TEST_CASE("each epoch's order has every row once, and depends on seed and epoch alone") {
  for_all([] {
    epoch_plan::options how = any_options();
    how.seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto epoch = *rc::gen::inRange<std::uint64_t>(1, 1000);
    rows order = epoch_plan(how).order_of(epoch);
    RC_ASSERT(order == epoch_plan({.dataset_rows = how.dataset_rows, .seed = how.seed}).order_of(epoch));
    std::sort(order.begin(), order.end());
    RC_ASSERT(order == epoch_plan({.dataset_rows = how.dataset_rows}).order_of(epoch));
  });
}

TEST_CASE("plans without end, and of numbers out of reason, do not wrap around") {
  const std::uint64_t far = (std::uint64_t{1} << 63) - 1;
  const epoch_plan plain({.dataset_rows = 10, .rows = 4, .epochs = 0});
  CHECK(plain.rows_in_all() == far + 1);
  CHECK(plain.batch_after(far).size() == 1);
  CHECK(plain.batch_after(far + 1).empty());
  CHECK(plain.least_after(0) == 2);
  CHECK(epoch_plan({.dataset_rows = 10, .rows = 4, .epochs = 0, .mix_epochs = true}).least_after(6) == 2);
  CHECK(epoch_plan({.dataset_rows = 10, .rows = 4, .epochs = most}).rows_in_all() == far + 1);
  CHECK(epoch_plan({.dataset_rows = 10, .rows = most}).batch_after(3) == runs{{1, {3, 10}}});
  CHECK(epoch_plan{}.batch_after(0).empty());
}

TEST_CASE("case K-L2: a plan that would have no batch is refused with its numbers") {
  CHECK(complaint({.dataset_rows = 3, .rows = 4, .last = last_batch::drop}) ==
        "the dataset has 3 rows, but a batch has 4 and the last one is dropped if it is smaller, so there would be "
        "none; keep the last batch or ask for fewer rows");
  CHECK(complaint({.dataset_rows = 3, .rows = 4, .last = last_batch::drop, .epochs = 0})
            .starts_with("the dataset has 3 rows, but"));
  CHECK(complaint({.dataset_rows = 1, .rows = 4, .last = last_batch::drop, .epochs = 3, .mix_epochs = true})
            .starts_with("the dataset has 1 row in 3 epochs, but a batch has 4 and"));
  CHECK(complaint({.dataset_rows = 1, .rows = 4, .last = last_batch::drop, .epochs = 4, .mix_epochs = true}) ==
        "nothing");
  CHECK(complaint({.dataset_rows = 0}) == "the dataset has 0 rows, so there would be no batch");
  CHECK(complaint({.dataset_rows = 3, .rows = 0}) == "a batch of 0 rows is asked for; it must be 1 or more");
}
