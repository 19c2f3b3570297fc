// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twinkle/data/batch.hpp"

namespace twinkle {

/// Rows and tombstones of a batch: what credits, buffers and rebatch count.
[[nodiscard]] inline std::size_t count_of(const batch& rows) { return rows.rows() + rows.tombstone_count(); }

/// For each row of a batch, whether it is kept.
using row_filter = std::function<std::vector<bool>(const batch&)>;

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

/// Siblings together, in the order in which their parents came, or with `any_order` as they are complete. A group leaves
/// when all siblings, tombstones among them, are there.
class group_by_parent final : public regrouper {
 public:
  explicit group_by_parent(bool any_order = false) : any_order_(any_order) {}

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

  bool any_order_;
  std::list<group> open_;
  std::size_t held_ = 0;
};

/// The rows that are not kept become tombstones; batches stay as they are cut.
class filter_rows final : public regrouper {
 public:
  filter_rows(row_filter keeps, std::string reason) : keeps_(std::move(keeps)), reason_(std::move(reason)) {}

  [[nodiscard]] std::vector<batch> add(const batch& rows) override;
  [[nodiscard]] std::vector<batch> end() override { return {}; }
  [[nodiscard]] std::size_t held() const override { return 0; }

 private:
  row_filter keeps_;
  std::string reason_;
};

/// Batches of `rows` rows and tombstones; with `refill`, of so many rows, whatever the tombstones among them. With
/// `whole_groups`, siblings that stand together are never cut: a batch ends before the group that would pass `rows`.
class rebatch final : public regrouper {
 public:
  rebatch(std::size_t rows, bool whole_groups, bool refill = false)
      : rows_(rows), whole_groups_(whole_groups), refill_(refill) {}

  [[nodiscard]] std::vector<batch> add(const batch& rows) override;
  [[nodiscard]] std::vector<batch> end() override;
  [[nodiscard]] std::size_t held() const override { return held_; }

 private:
  void take(batch unit, std::size_t count, std::size_t fills, std::vector<batch>& ready);
  void flush(std::vector<batch>& ready);

  std::size_t rows_;
  bool whole_groups_;
  bool refill_;
  std::vector<batch> parts_;
  std::size_t held_ = 0;
  std::size_t filled_ = 0;  // what counts of it
};

}  // namespace twinkle
