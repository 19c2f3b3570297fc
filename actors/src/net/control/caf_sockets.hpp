// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/io/doorman.hpp>
#include <caf/io/scribe.hpp>

#include "caf_link_state.hpp"

namespace twinkle::net::control {

/// Sockets of ours for CAF's broker, in place of those that it would make: so they connect without blocking, can be
/// ended from outside, take no more memory than a message may need, and speak TLS as we want it.

/// `calls`: this side has opened the connection.
[[nodiscard]] caf::io::scribe_ptr make_scribe(caf::io::network::default_multiplexer& loop, const link_state& state,
                                              socket_handle socket, std::shared_ptr<connection> on, bool calls);

/// Accepts connections, and tells the gateway of them.
[[nodiscard]] caf::io::doorman_ptr make_doorman(caf::io::network::default_multiplexer& loop,
                                                std::shared_ptr<link_state> state, socket_handle listening);

}  // namespace twinkle::net::control
