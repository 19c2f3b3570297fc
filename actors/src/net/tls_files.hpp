// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace twinkle::net {

/// Paths of PEM files: whose signature makes a certificate one of the cluster's, and what this process shows of
/// itself.
struct tls_files {
  std::string authority;
  std::string certificate;
  std::string key;
};

}  // namespace twinkle::net
