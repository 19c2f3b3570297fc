// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "twinkle/flow/regroup.hpp"

namespace twinkle {

/// The producer's end of an edge: rows that were sent and not yet taken, against the edge's credits.
class outlet {
 public:
  /// Without credits in rows, the edge holds two batches of its producer.
  explicit outlet(std::optional<std::size_t> credits) : credits_(credits) {}

  /// Whether a call may start whose results go here, with `expected` rows of `calls` calls under way.
  [[nodiscard]] bool open(std::size_t expected, std::size_t calls) const {
    return credits_ ? outstanding_ + expected < *credits_ : sizes_.size() + calls < 2;
  }
  void sent(std::size_t rows) {
    outstanding_ += rows;
    total_ += rows;
    sizes_.push_back(rows);
  }
  /// The consumer took `rows`: a whole batch, or part of the oldest.
  void returned(std::size_t rows);

  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  std::optional<std::size_t> credits_;
  std::size_t outstanding_ = 0;
  std::size_t total_ = 0;
  std::deque<std::size_t> sizes_;  // of the batches that are not yet taken whole
};

/// The consumer's end of an edge: batches wait here until the operators, and then the stage, take them. A batch taken
/// by an operator or the stage gives its credits back.
class inlet {
 public:
  /// `buffer`: rows that the operators may hold while a batch is ready; without one they take more only when none is.
  inlet(std::vector<std::unique_ptr<regrouper>> regroups, std::size_t buffer)
      : regroups_(std::move(regroups)), buffer_(buffer) {}

  void receive(batch rows);
  void end() { ended_ = true; }
  /// Rows that came, and are worked on by nobody.
  void pass_over(std::size_t rows) { received_ += rows; }

  /// Moves what may move; the rows whose credits go back. Throws `error` from the operators.
  [[nodiscard]] std::size_t advance();

  /// Whether a batch is ready for the stage.
  [[nodiscard]] bool ready() const { return !ready_.empty(); }
  [[nodiscard]] const batch& front() const { return ready_.front(); }

  struct taken {
    batch rows;
    std::size_t credits = 0;
  };
  /// Takes the first `most` rows of the batch that is ready, or all of it.
  [[nodiscard]] taken take(std::size_t most);

  /// Whether all that will ever come has been taken.
  [[nodiscard]] bool drained() const { return ended_ && waiting_.empty() && ready_.empty() && flushed_; }

  /// Rows and tombstones that lie here.
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] std::size_t received() const { return received_; }

 private:
  void feed(batch rows);
  void flush();

  std::vector<std::unique_ptr<regrouper>> regroups_;
  std::size_t buffer_;
  std::deque<batch> waiting_;  // credits not yet returned
  std::deque<batch> ready_;
  std::size_t received_ = 0;
  bool ended_ = false;
  bool flushed_ = false;
};

}  // namespace twinkle
