// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "twinkle/flow/message.hpp"

namespace twinkle {

/// The calls that clients make of one stage: they start in the order in which they came, each when the outcomes that it
/// awaits are there; and their outcomes are kept until they are forgotten, for those who claim them.
class client_calls {
 public:
  using key = std::pair<address, std::uint64_t>;

  void add(msg::call wanted);
  void arrived(msg::claimed outcome);

  /// The first call, if all that it awaits is there; one whose input failed is settled with that fault.
  [[nodiscard]] std::optional<msg::call> next(outbox& out);

  /// What a call came to. A call that is unknown, or settled, is left alone.
  void settle(const key& of, result<collected> value, outbox& out);

  void claim(const msg::claim& by, outbox& out);
  void forget(const msg::forget& what);

  /// Takes a call that has not started; it is settled with the fault. Returns whether there was one.
  bool withdraw(const key& of, const fault& why, outbox& out);

  /// Settles all that have not started.
  void give_up(const fault& why, outbox& out);

 private:
  struct waiting {
    msg::call wanted;
    std::size_t missing = 0;
    std::optional<fault> failed = std::nullopt;
  };
  struct held {
    bool kept = false;
    bool forgotten = false;
    std::optional<result<collected>> value = std::nullopt;
    std::vector<msg::claim> claims = {};
  };

  static void hand_over(const msg::claim& to, const result<collected>& value, outbox& out);

  std::deque<waiting> waiting_;
  std::multimap<key, msg::claimed> early_;  // outcomes that came before the call that awaits them
  std::map<key, held> held_;
};

}  // namespace twinkle
