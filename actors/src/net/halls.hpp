// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/worker_body.hpp"
#include "twinkle/place/layout.hpp"

namespace twinkle::net {

/// The halls of this node's stages, and the way between them and those of other nodes. Safe from many threads.
class halls {
 public:
  /// To another node, in order.
  using sender = std::function<void(std::size_t node, std::vector<std::byte> head, buffer body)>;

  halls(const place::layout& placed, std::size_t here, sender send);
  ~halls();
  halls(const halls&) = delete;
  halls& operator=(const halls&) = delete;

  /// What the workers of a stage here share. Letters that came before go to its hall.
  [[nodiscard]] std::shared_ptr<runtime::stage_kit> make_kit(const stage_plan& stage, std::uint64_t seed);

  /// From the hall of another node. Throws `error` for what that cannot have sent.
  void arrived(std::size_t from, const std::vector<std::byte>& head, buffer body);

 private:
  class outside;

  std::size_t here_;
  sender send_;
  std::vector<std::unique_ptr<outside>> outsides_;  // by stage
  std::mutex mutex_;
  std::map<std::size_t, std::weak_ptr<runtime::stage_kit>> kits_;
  std::map<std::size_t, std::vector<hall_letter>> early_;
};

}  // namespace twinkle::net
