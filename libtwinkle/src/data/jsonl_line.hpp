// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace twinkle::data {

/// One value of a line: text, whole number, fraction, boolean, or an array of numbers.
using json_value = std::variant<std::string, std::int64_t, double, std::uint8_t, std::vector<std::int64_t>,
                                std::vector<double>>;

/// "text", "a whole number", …
[[nodiscard]] std::string_view kind_of(const json_value& value);

/// The same number as a double. Throws `error` where a double cannot hold it exactly.
[[nodiscard]] double widened(std::int64_t whole);
[[nodiscard]] std::vector<double> widened(const std::vector<std::int64_t>& whole);

using json_fields = std::vector<std::pair<std::string, json_value>>;

/// The fields of one line, in its order. Throws `error` for what is no flat object of such values; the message does
/// not name the line.
[[nodiscard]] json_fields parse_line(std::string_view line);

}  // namespace twinkle::data
