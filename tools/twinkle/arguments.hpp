// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/mesh/mesh_sizes.hpp"

namespace twinkle::command {

/// `text` as a whole number: digits alone, no sign. What is none is bad usage of the argument `name`.
template <std::integral Number>
[[nodiscard]] Number whole_number(const std::string& name, std::string_view text) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  std::uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || end != text.data() + text.size() || number > most)
    throw CLI::ValidationError(
        name, "'" + std::string(text) + "' is no whole number from 0 to " + std::to_string(most));
  return static_cast<Number>(number);
}

/// A flag whose text is for `take` to read; in the help its value is called `value`.
CLI::Option* add_text(CLI::App& app, const std::string& flag, const std::string& value, const std::string& meaning,
                      std::function<void(const std::string&)> take);

/// A flag that takes a whole number.
template <std::integral Number, class Into>
CLI::Option* add_number(CLI::App& app, const std::string& flag, Into& into, const std::string& meaning) {
  return add_text(app, flag, "N", meaning,
                  [flag, &into](const std::string& text) { into = whole_number<Number>(flag, text); });
}

/// A flag for each size of a mesh. What sizes are good is for the mesh to say.
void add_mesh_sizes(CLI::App& app, mesh_sizes& into);

/// A flag that takes all sizes of a mesh at once: "dp=2,tp=2".
CLI::Option* add_mesh(CLI::App& app, const std::string& flag, mesh_sizes& into, const std::string& meaning);

/// The parts of `text` between commas; none of an empty text.
[[nodiscard]] std::vector<std::string> items_of(std::string_view text);

}  // namespace twinkle::command
