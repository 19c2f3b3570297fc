// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "twinkle/data/batch.hpp"

namespace twinkle {

/// Rows and tombstones of a batch: what credits, buffers and rebatch count.
[[nodiscard]] inline std::size_t count_of(const batch& rows) { return rows.rows() + rows.tombstone_count(); }

/// An operator on a stream: takes batches in, and gives batches of another size out.
class regrouper {
 public:
  virtual ~regrouper() = default;
  /// What becomes ready with these rows. Throws `error` for rows that it cannot group.
  [[nodiscard]] virtual std::vector<batch> add(const batch& rows) = 0;
  /// What is left when no more rows come.
  [[nodiscard]] virtual std::vector<batch> end() = 0;
  /// Rows and tombstones that wait inside.
  [[nodiscard]] virtual std::size_t held() const = 0;
};

/// Siblings together, in the order in which their parents came. A group leaves when all siblings, tombstones among
/// them, are there.
class group_by_parent final : public regrouper {
 public:
  [[nodiscard]] std::vector<batch> add(const batch& rows) override;
  [[nodiscard]] std::vector<batch> end() override;
  [[nodiscard]] std::size_t held() const override { return held_; }

 private:
  struct group {
    std::optional<identity> parent;  // none: closed as it came
    std::size_t expected = 0;
    std::size_t present = 0;
    std::vector<batch> parts;
  };

  [[nodiscard]] std::vector<batch> release(bool all);

  std::list<group> open_;
  std::size_t held_ = 0;
};

/// Batches of `rows` rows and tombstones. With `whole_groups`, siblings that stand together are never cut: a batch ends
/// before the group that would pass `rows`.
class rebatch final : public regrouper {
 public:
  rebatch(std::size_t rows, bool whole_groups) : rows_(rows), whole_groups_(whole_groups) {}

  [[nodiscard]] std::vector<batch> add(const batch& rows) override;
  [[nodiscard]] std::vector<batch> end() override;
  [[nodiscard]] std::size_t held() const override { return held_; }

 private:
  void take(batch unit, std::size_t count, std::vector<batch>& ready);
  void flush(std::vector<batch>& ready);

  std::size_t rows_;
  bool whole_groups_;
  std::vector<batch> parts_;
  std::size_t held_ = 0;
};

}  // namespace twinkle
