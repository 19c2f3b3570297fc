// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/edge_ends.hpp"

#include <algorithm>

#include "twinkle/base/ensure.hpp"

namespace twinkle {

void outlet::returned(std::size_t rows) {
  ensure(rows <= outstanding_, "no more credits come back than went out");
  outstanding_ -= rows;
  while (!sizes_.empty() && rows >= sizes_.front()) {
    rows -= sizes_.front();
    sizes_.pop_front();
  }
  if (!sizes_.empty())
    sizes_.front() -= rows;
}

void inlet::receive(batch rows) {
  received_ += count_of(rows);
  waiting_.push_back(std::move(rows));
}

std::size_t inlet::advance() {
  std::size_t credits = 0;
  while (!waiting_.empty()) {
    const std::size_t count = count_of(waiting_.front());
    if (regroups_.empty()) {
      // Without operators it is the stage that takes; one batch is shown to it at a time.
      if (!ready_.empty())
        break;
      ready_.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      continue;
    }
    std::size_t inside = 0;
    for (const auto& each : regroups_)
      inside += each->held();
    for (const batch& each : ready_)
      inside += count_of(each);
    if (!ready_.empty() && inside + count > buffer_)
      break;
    credits += count;
    batch next = std::move(waiting_.front());
    waiting_.pop_front();
    feed(std::move(next));
  }
  if (ended_ && waiting_.empty() && !flushed_)
    flush();
  return credits;
}

void inlet::feed(batch rows) {
  std::vector<batch> flow{std::move(rows)};
  for (const auto& each : regroups_) {
    std::vector<batch> next;
    for (const batch& part : flow)
      for (batch& made : each->add(part))
        next.push_back(std::move(made));
    flow = std::move(next);
  }
  for (batch& made : flow)
    ready_.push_back(std::move(made));
}

void inlet::flush() {
  flushed_ = true;
  for (std::size_t at = 0; at < regroups_.size(); ++at) {
    std::vector<batch> flow = regroups_[at]->end();
    for (std::size_t after = at + 1; after < regroups_.size(); ++after) {
      std::vector<batch> next;
      for (const batch& part : flow)
        for (batch& made : regroups_[after]->add(part))
          next.push_back(std::move(made));
      flow = std::move(next);
    }
    for (batch& made : flow)
      ready_.push_back(std::move(made));
  }
}

inlet::taken inlet::take(std::size_t most) {
  batch& first = ready_.front();
  if (first.rows() <= most) {
    taken all{std::move(first), 0};
    ready_.pop_front();
    all.credits = regroups_.empty() ? count_of(all.rows) : 0;
    return all;
  }
  taken part{first[interval{0, most}], 0};
  part.credits = regroups_.empty() ? count_of(part.rows) : 0;
  first = first[interval{most, first.rows()}];
  return part;
}

std::size_t inlet::held() const {
  std::size_t rows = 0;
  for (const batch& each : waiting_)
    rows += count_of(each);
  for (const auto& each : regroups_)
    rows += each->held();
  for (const batch& each : ready_)
    rows += count_of(each);
  return rows;
}

}  // namespace twinkle
