// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bulk_options.hpp"
#include "channel.hpp"

namespace twinkle::net {

/// net/tls_context.hpp's, as Asio has it.
[[nodiscard]] std::shared_ptr<asio::ssl::context> asio_context(const tls_files& files);

[[nodiscard]] std::unique_ptr<channel> tls_channel(const asio::any_io_executor& on, asio::ssl::context& with);

}  // namespace twinkle::net
