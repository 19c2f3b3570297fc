// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "twinkle/base/interval.hpp"
#include "twinkle/mesh/device_group.hpp"
#include "twinkle/place/cluster.hpp"

namespace twinkle::place {

/// Devices that are numbered together, through all nodes that have some, and who has them.
class device_pool {
 public:
  /// The devices of one node, which are of one type.
  struct span {
    std::size_t node = 0;
    std::string type;
    interval numbers = {};
  };

  /// Gives the next `count` numbers to `node`.
  void add(std::size_t node, std::string type, std::size_t count);

  [[nodiscard]] std::size_t size() const { return spans_.empty() ? 0 : spans_.back().numbers.end; }
  [[nodiscard]] std::size_t size(const std::string& type) const;

  /// Null for a number that there is not.
  [[nodiscard]] const span* find(std::size_t number) const;
  [[nodiscard]] seat seat_of(std::size_t number) const;

  /// Nobody holds it, or only groups that `group` may share devices with.
  [[nodiscard]] bool is_free(std::size_t number, const device_group& group) const;

  /// The first free runs of `group.gpus_per_worker` devices of `type`, each on one node: as many as it asks for, or as
  /// there are.
  [[nodiscard]] std::vector<std::size_t> first_free(const device_group& group, const std::string& type) const;

  /// Those that nobody holds.
  [[nodiscard]] std::vector<std::size_t> free(const span& of) const;

  void take(std::size_t number, const device_group& by);

  /// Who holds `number`, and may not share it with `group`.
  [[nodiscard]] std::vector<std::string> rivals(std::size_t number, const device_group& group) const;

  [[nodiscard]] const std::vector<span>& spans() const { return spans_; }

  /// One more than the last device that is held.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::vector<span> spans_;
  std::vector<std::vector<const device_group*>> holders_;  // by number
  std::size_t used_ = 0;
};

}  // namespace twinkle::place
