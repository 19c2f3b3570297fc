// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twinkle/place/cluster.hpp"

namespace twinkle::place {

/// The host of a node that tells it itself when it comes.
inline constexpr std::string_view unknown_host = "?";

/// Whether a host is whichever machine reads it: "localhost", "::1" or 127.x.x.x. Of other names nothing is known.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Where nodes listen, as far as the leader, which is the first, needs more than its own port: control messages go to
/// the one behind it. Every problem for which they would not find one another: a leader without these two ports, another
/// node on the second, some hosts that are whichever machine reads them where others are not.
[[nodiscard]] std::vector<std::string> address_problems(const cluster& machines);

}  // namespace twinkle::place
