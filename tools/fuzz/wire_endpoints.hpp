// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "twinkle/flow/blueprint.hpp"

/// Endpoints that take and return values of every kind, for the messages that are fuzzed.
namespace fuzz {

enum class mood : std::int8_t { calm, loud };

struct node {
  double number = 0;
  std::optional<std::string> text = std::nullopt;
  std::vector<node> below = {};
};
template <class Visitor>
void describe(Visitor& visit, node& of) {
  visit(of.number, of.text, of.below);
}

using found = std::pair<std::vector<twinkle::batch>, std::map<std::int16_t, std::optional<twinkle::weights>>>;

using names = std::map<std::string, mood>;

struct worker {
  twinkle::batch pass(twinkle::context&, twinkle::batch rows) { return rows; }
  node choose(twinkle::context&, twinkle::batch, node given, twinkle::batch, names) { return given; }
  found find(twinkle::context&, std::vector<std::tuple<>>, twinkle::metrics, std::vector<bool>) { return {}; }
};

constexpr std::size_t choose_at = 1;
constexpr std::size_t find_at = 2;

inline std::vector<twinkle::blueprint::endpoint_spec> endpoints() {
  using twinkle::detail::erase_call;
  constexpr auto called = twinkle::blueprint::role::called;
  return {{"pass", called, erase_call<worker>(&worker::pass)},
          {"choose", called, erase_call<worker>(&worker::choose)},
          {"find", called, erase_call<worker>(&worker::find)}};
}

}  // namespace fuzz
