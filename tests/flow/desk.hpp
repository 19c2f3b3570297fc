// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "twinkle/flow/context.hpp"
#include "twinkle/flow/graph.hpp"

/// A worker whose endpoints take and return values of every kind, and its endpoints as a graph declares them.
namespace flow_test {

enum class mood : std::int16_t { calm = -3, loud = 7 };

struct options {
  double temperature = 1;
  std::optional<std::optional<std::int8_t>> top = std::nullopt;
  std::map<std::string, std::vector<float>> bias = {};
  std::vector<std::pair<mood, bool>> moods = {};
  std::vector<bool> flags = {};
  std::tuple<std::uint64_t, std::string, std::tuple<>> mark = {};

  friend bool operator==(const options&, const options&) = default;
};
template <class Visitor>
void describe(Visitor& visit, options& of) {
  visit(of.temperature, of.top);
  visit(of.bias, of.moods, of.flags, of.mark);
}

struct tree {
  int number = 0;
  std::vector<tree> below = {};

  friend bool operator==(const tree&, const tree&) = default;
};
template <class Visitor>
void describe(Visitor& visit, tree& of) {
  visit(of.number, of.below);
}

struct nothing {
  friend bool operator==(const nothing&, const nothing&) = default;
};
template <class Visitor>
void describe(Visitor&, nothing&) {}

using found = std::pair<std::vector<twinkle::batch>, std::map<int, std::optional<twinkle::weights>>>;

using chosen = std::tuple<twinkle::batch, options, twinkle::batch, mood>;  // what choose takes

struct desk {
  twinkle::batch pass(twinkle::context&, twinkle::batch rows) { return rows; }
  std::string name(twinkle::context&) { return "desk"; }
  options choose(twinkle::context&, twinkle::batch, options given, twinkle::batch, mood) { return given; }
  double measure(twinkle::context&, std::vector<double>) { return 0; }
  tree grow(twinkle::context&, tree from) { return from; }
  found find(twinkle::context&, std::vector<twinkle::batch>, twinkle::metrics, twinkle::weights) { return {}; }
  std::vector<nothing> count(twinkle::context&) { return {}; }
  std::vector<options> all(twinkle::context&) { return {}; }
  twinkle::result<std::string> try_name(twinkle::context&) { return std::string("desk"); }
};

// The endpoints of a desk, by their ordinals.
inline constexpr std::size_t pass_at = 0;
inline constexpr std::size_t name_at = 1;
inline constexpr std::size_t choose_at = 2;
inline constexpr std::size_t measure_at = 3;
inline constexpr std::size_t grow_at = 4;
inline constexpr std::size_t find_at = 5;

inline std::vector<twinkle::blueprint::endpoint_spec> desk_endpoints() {
  twinkle::graph g{"test"};
  const auto desks = g.spawn<desk>("desk", {{.name = "host", .ranks = 1, .device_type = "cpu"}});
  (void)desks.endpoint(&desk::pass, {.name = "pass"});
  (void)desks.endpoint(&desk::name, {.name = "name"});
  (void)desks.endpoint(&desk::choose, {.name = "choose"});
  (void)desks.endpoint(&desk::measure, {.name = "measure"});
  (void)desks.endpoint(&desk::grow, {.name = "grow"});
  (void)desks.endpoint(&desk::find, {.name = "find"});
  (void)desks.endpoint(&desk::count, {.name = "count"});
  (void)desks.endpoint(&desk::all, {.name = "all"});
  (void)desks.endpoint(&desk::try_name, {.name = "try_name"});
  return g.plan().stages.front().endpoints;
}

}  // namespace flow_test
