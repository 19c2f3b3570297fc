// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/epoch_plan.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "twinkle/base/error.hpp"
#include "twinkle/base/random.hpp"

namespace twinkle {
namespace {

constexpr std::uint64_t endless = std::uint64_t{1} << 63;

std::string counted(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::uint64_t whole_batches(std::uint64_t rows, const epoch_plan::options& how) {
  return how.last == epoch_plan::last_batch::drop ? rows - rows % how.rows : rows;
}

std::uint64_t times(std::uint64_t rows, std::size_t epochs) {
  if (rows == 0)
    return 0;
  return epochs == 0 || epochs > endless / rows ? endless : rows * epochs;
}

}  // namespace

epoch_plan::epoch_plan(const options& how) : how_(how) {
  if (how.rows == 0)
    throw error("a batch of 0 rows is asked for; it must be 1 or more");
  if (how.dataset_rows == 0)
    throw error("the dataset has 0 rows, so there would be no batch");
  in_epoch_ = how.mix_epochs ? how.dataset_rows : whole_batches(how.dataset_rows, how);
  in_all_ = times(in_epoch_, how.epochs);
  if (how.mix_epochs && in_all_ < endless)
    in_all_ = whole_batches(in_all_, how);
  if (in_all_ == 0)
    throw error("the dataset has " + counted(how.dataset_rows, "row") +
                (how.mix_epochs ? " in " + counted(how.epochs, "epoch") : "") + ", but a batch has " +
                std::to_string(how.rows) + " and the last one is dropped if it is smaller, so there would be none; "
                "keep the last batch or ask for fewer rows");
}

std::vector<epoch_plan::run> epoch_plan::batch_after(std::uint64_t emitted) const {
  std::vector<run> runs;
  if (emitted >= in_all_)
    return runs;
  // Batches are cut from each epoch anew, or from all of them as one.
  const std::uint64_t cut_rows = how_.mix_epochs ? in_all_ : in_epoch_;
  const std::uint64_t at = emitted % cut_rows;
  std::uint64_t left = std::min(how_.rows - at % how_.rows, cut_rows - at);
  while (left > 0) {
    const std::size_t first = emitted % in_epoch_;
    const std::size_t taken = std::min(left, in_epoch_ - first);
    runs.push_back({emitted / in_epoch_ + 1, {first, first + taken}});
    emitted += taken;
    left -= taken;
  }
  return runs;
}

std::size_t epoch_plan::least_after(std::uint64_t emitted) const {
  if (emitted >= in_all_)
    return 0;
  std::size_t next = 0;
  for (const run& each : batch_after(emitted))
    next += each.places.size();
  if (how_.mix_epochs && in_all_ == endless)
    return next;
  const std::uint64_t rest = (how_.mix_epochs ? in_all_ : in_epoch_) % how_.rows;
  return rest == 0 ? next : std::min<std::uint64_t>(next, rest);
}

std::vector<std::size_t> epoch_plan::order_of(std::uint64_t epoch) const {
  if (how_.seed) {
    generator random{derive(*how_.seed, "epoch " + std::to_string(epoch))};
    return permutation(how_.dataset_rows, random);
  }
  std::vector<std::size_t> order(how_.dataset_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace twinkle
