// SPDX-License-Identifier: Apache-2.0
#include "halls.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

bool is_spread(const stage_plan& stage) {
  return std::any_of(stage.workers.begin(), stage.workers.end(),
                     [&](const worker_place& each) { return each.node != stage.workers.front().node; });
}

}  // namespace

class halls::outside final : public runtime::hall_outside {
 public:
  outside(const halls& of, const stage_plan& stage) : of_(of), stage_(stage) {}

  [[nodiscard]] std::size_t node_of(std::size_t worker) const override {
    if (worker >= stage_.workers.size())
      throw error("a meeting of worker " + std::to_string(worker) + " of " + stage_.team.stage + ", which has " +
                  std::to_string(stage_.workers.size()));
    return stage_.workers[worker].node;
  }
  [[nodiscard]] std::size_t here() const override { return of_.here_; }

  void send(std::size_t node, hall_letter letter) override {
    letter.stage = static_cast<std::uint32_t>(stage_.ordinal);
    std::vector<std::byte> head = head_of(letter);
    of_.send_(node, std::move(head), std::move(letter.values));
  }

 private:
  const halls& of_;
  const stage_plan& stage_;
};

halls::halls(const place::layout& placed, std::size_t here, sender send)
    : here_(here), send_(std::move(send)) {
  for (const stage_plan& stage : placed.stages)
    outsides_.push_back(is_spread(stage) ? std::make_unique<outside>(*this, stage) : nullptr);
}

halls::~halls() = default;

std::shared_ptr<runtime::stage_kit> halls::make_kit(const stage_plan& stage, std::uint64_t seed) {
  auto kit = std::make_shared<runtime::stage_kit>(stage, seed, outsides_[stage.ordinal].get());
  const std::lock_guard lock(mutex_);
  kits_[stage.ordinal] = kit;
  for (hall_letter& each : std::exchange(early_[stage.ordinal], {}))
    kit->hall.arrived(std::move(each));
  return kit;
}

void halls::arrived(std::size_t from, const std::vector<std::byte>& head, buffer body) {
  hall_letter letter = letter_of(head, std::move(body));
  const std::size_t ordinal = letter.stage;
  if (ordinal >= outsides_.size() || !outsides_[ordinal])
    throw error("a letter to the meetings of stage " + std::to_string(ordinal) + ", which has none across nodes");
  const std::vector<std::size_t>& members = letter.meeting.members;
  if (letter.from >= members.size() || outsides_[ordinal]->node_of(members[letter.from]) != from)
    throw error("a letter to a meeting in the name of a worker of another node");
  const std::lock_guard lock(mutex_);
  if (const auto kit = kits_[ordinal].lock())
    kit->hall.arrived(std::move(letter));
  else
    early_[ordinal].push_back(std::move(letter));
}

}  // namespace twinkle::net
