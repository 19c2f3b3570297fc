// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bulk_options.hpp"
#include "channel.hpp"

namespace twinkle::net {

/// TLS 1.2 or newer, where each side demands a certificate of the other. Throws `error` naming the file that cannot be
/// used.
[[nodiscard]] std::shared_ptr<asio::ssl::context> tls_context(const tls_files& files);

[[nodiscard]] std::unique_ptr<channel> tls_channel(const asio::any_io_executor& on, asio::ssl::context& with);

}  // namespace twinkle::net
