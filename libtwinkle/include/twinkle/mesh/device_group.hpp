// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twinkle {

/// The devices of a group: `4` is a count, to be placed; `{4}` is the list of device 4.
class device_ranks {
 public:
  device_ranks(std::integral auto count) : count_(static_cast<long long>(count)) {}
  device_ranks(std::initializer_list<std::size_t> ranks) : list_(ranks), listed_(true) {}
  device_ranks(std::vector<std::size_t> ranks) : list_(std::move(ranks)), listed_(true) {}

  [[nodiscard]] bool is_list() const { return listed_; }
  [[nodiscard]] const std::vector<std::size_t>& devices() const { return list_; }
  /// How many; negative only if a negative count was given, which placement refuses.
  [[nodiscard]] long long count() const { return listed_ ? static_cast<long long>(list_.size()) : count_; }

 private:
  long long count_ = 0;
  std::vector<std::size_t> list_;
  bool listed_ = false;
};

/// Named devices that components are placed on.
struct device_group {
  std::string name = {};
  device_ranks ranks = 1;
  std::string device_type = "cuda";                ///< "cuda", "npu", "cpu", …; a cpu group takes a count only
  std::vector<std::string> visible_devices = {};   ///< the i-th rank on a node uses the i-th entry
  std::size_t gpus_per_worker = 1;                 ///< consecutive ranks that make one worker
  std::vector<std::string> colocate = {};          ///< groups that it may share devices with; either one may say so
};

/// Lower case, with gpu read as cuda: names that are equal after this are one type.
[[nodiscard]] std::string canonical_device_type(std::string_view name);

/// Every problem of the group by itself: no name, fewer than 1 rank or more than 2^20, a device listed twice, a list of
/// cpus, ranks that do not make whole workers, a visible device given twice, colocation with itself.
[[nodiscard]] std::vector<std::string> problems(const device_group& group);

}  // namespace twinkle
