// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "link_channel.hpp"
#include "net/tls_files.hpp"

struct ssl_ctx_st;

namespace twinkle::net::control {

/// TLS 1.3 in which each side shows a certificate that the cluster's authority has signed. Names in certificates are
/// not looked at: whoever has one is of the cluster.
class tls_context {
 public:
  /// Reads the files. Throws `error` where one cannot be used.
  explicit tls_context(const tls_files& files);

  /// On a connected or connecting socket; `calls`: this side opened the connection. Threads that use it must not let
  /// SIGPIPE through.
  [[nodiscard]] std::unique_ptr<link_channel> open(int socket, bool calls) const;

 private:
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace twinkle::net::control
