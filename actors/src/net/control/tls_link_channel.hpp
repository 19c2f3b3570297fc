// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "link_channel.hpp"
#include "net/tls_context.hpp"

namespace twinkle::net::control {

/// On a connected or connecting socket; `calls`: this side opened the connection. Threads that use it must not let
/// SIGPIPE through.
[[nodiscard]] std::unique_ptr<link_channel> tls_link_channel(const std::shared_ptr<ssl_ctx_st>& context, int socket,
                                                             bool calls);

}  // namespace twinkle::net::control
