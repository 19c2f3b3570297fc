// SPDX-License-Identifier: Apache-2.0
#include "tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string>
#include <system_error>

#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

std::string last_reason() {
  const unsigned long code = ERR_get_error();
  if (ERR_SYSTEM_ERROR(code))
    return std::generic_category().message(ERR_GET_REASON(code));
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "no reason given";
}

void check(bool done, const std::string& what, const std::string& file) {
  if (!done)
    throw error("TLS: cannot use the " + what + " '" + file + "': " + last_reason() +
                "; give a PEM file that this process may read");
}

}  // namespace

std::shared_ptr<ssl_ctx_st> tls_context(const tls_files& files) {
  ERR_clear_error();
  const std::shared_ptr<SSL_CTX> made(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  SSL_CTX* context = made.get();
  if (context == nullptr)
    throw error("cannot set up TLS: " + last_reason());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  check(SSL_CTX_load_verify_locations(context, files.authority.c_str(), nullptr) == 1, "authority", files.authority);
  check(SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) == 1, "certificate",
        files.certificate);
  check(SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) == 1, "key", files.key);
  return made;
}

}  // namespace twinkle::net
