// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meeting_hall.hpp"

namespace twinkle::runtime {

/// One worker's way through a meeting, which it leaves whatever happens. What it lays or adds goes to other nodes
/// first, without the lock; that they may answer before it is in does no harm.
class meeting_hall::visit {
 public:
  visit(meeting_hall& hall, const key& where, std::size_t index, interruption& body, std::string agenda);
  ~visit();
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  /// Lays values of which each owner gets its part; if it tells its sum to all, they are to wait for it.
  void lay_for_owners(std::span<const std::byte> values, const even_parts& parts, bool sums_are_told);
  /// Lays a part of the values for everyone; also an empty one says that this worker is there.
  void lay_for_all(std::span<const std::byte> values, interval part);
  /// Sends values one way, and waits for nobody.
  void send(std::span<const std::byte> values);
  /// Comes to where values are sent to.
  void receive();

  /// These bytes of every member's values, once all have come.
  [[nodiscard]] std::vector<buffer> laid_in(interval part, std::size_t element_bytes);
  /// Copies what another member laid, once all have come.
  void take(std::size_t member, interval part, std::span<std::byte> values);

  void add(interval own, buffer sum);
  /// Copies the whole result, once all have added.
  void take_sums(std::span<std::byte> values, const even_parts& parts);

 private:
  void tell(std::size_t node, hall_letter::kind what, interval part, buffer values) const;
  void enter(std::optional<meeting_piece> mine, std::size_t pieces_due, std::size_t sums_due);
  void await(std::unique_lock<std::mutex>& lock, const std::size_t& there, const std::size_t& due);
  [[nodiscard]] buffer laid_by(std::size_t member, interval part, std::size_t element_bytes) const;

  meeting_hall& hall_;
  const key& where_;
  std::size_t index_;
  interruption& body_;
  std::string agenda_;
  spread members_;
  std::shared_ptr<meeting> at_;
};

}  // namespace twinkle::runtime
