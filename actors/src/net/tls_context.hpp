// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tls_files.hpp"

struct ssl_ctx_st;

namespace twinkle::net {

/// TLS 1.3 in which each side shows a certificate that the cluster's authority has signed, for both planes. Names in
/// certificates are not looked at: whoever has one is of the cluster. Throws `error` naming a file that cannot be used.
[[nodiscard]] std::shared_ptr<ssl_ctx_st> tls_context(const tls_files& files);

}  // namespace twinkle::net
