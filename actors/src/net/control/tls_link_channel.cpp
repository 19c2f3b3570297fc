// SPDX-License-Identifier: Apache-2.0
#include "tls_link_channel.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "sockets.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net::control {
namespace {

std::string reason_of(unsigned long code) {
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "no reason given";
}

bool is_of_certificates(int alert) {
  constexpr int alerts[] = {SSL_AD_BAD_CERTIFICATE,     SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
                            SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN,     SSL_AD_UNKNOWN_CA,
                            SSL_AD_ACCESS_DENIED,       SSL_AD_DECRYPT_ERROR,
                            TLS13_AD_CERTIFICATE_REQUIRED};
  return std::ranges::find(alerts, alert) != std::end(alerts);
}

class tls final : public link_channel {
 public:
  tls(std::shared_ptr<SSL_CTX> context, int socket, bool calls)
      : context_(std::move(context)), session_(SSL_new(context_.get()), &SSL_free) {
    if (!session_ || SSL_set_fd(session_.get(), socket) != 1)
      throw error("cannot begin a TLS session: " + reason_of(ERR_get_error()));
    if (calls)
      SSL_set_connect_state(session_.get());
    else
      SSL_set_accept_state(session_.get());
  }

  std::optional<std::size_t> read(std::span<std::byte> to) override {
    return when_ready([&] {
      std::size_t got = 0;
      const int result = SSL_read_ex(session_.get(), to.data(), to.size(), &got);
      return outcome(result, got);
    });
  }

  std::optional<std::size_t> write(std::span<const std::byte> from) override {
    return when_ready([&]() -> std::optional<std::size_t> {
      if (from.empty())
        return 0;
      std::size_t put = 0;
      const int result = SSL_write_ex(session_.get(), from.data(), from.size(), &put);
      return outcome(result, put);
    });
  }

  bool ready() const override { return agreed_; }
  bool holds(std::size_t bytes) const override {
    return bytes > 0 && static_cast<std::size_t>(SSL_pending(session_.get())) >= bytes;
  }
  std::string why() const override { return why_; }

 private:
  template <class Then>
  std::optional<std::size_t> when_ready(const Then& then) {
    ERR_clear_error();
    if (!agreed_) {
      errno = 0;
      if (const auto done = outcome(SSL_do_handshake(session_.get()), 1); !done || *done == 0)
        return done;
      agreed_ = true;
    }
    errno = 0;
    return then();
  }

  std::optional<std::size_t> outcome(int result, std::size_t moved) {
    if (result == 1)
      return moved;
    const int failed_with = errno;
    const int kind = SSL_get_error(session_.get(), result);
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE)
      return 0;
    why_ = explained(kind, failed_with, ERR_get_error());
    return std::nullopt;
  }

  [[nodiscard]] std::string explained(int kind, int failed_with, unsigned long code) const {
    const bool cut_short = code != 0 && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    if (kind == SSL_ERROR_ZERO_RETURN || cut_short || code == 0) {
      if (failed_with != 0 && kind == SSL_ERROR_SYSCALL)
        return words(failed_with);
      return agreed_ ? "closed by the other side" : "closed by the other side, which may not use TLS";
    }
    const int reason = ERR_GET_REASON(code);
    if (const long verdict = SSL_get_verify_result(session_.get()); verdict != X509_V_OK)
      return std::string("certificate refused: that of the other side: ") + X509_verify_cert_error_string(verdict);
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
      return "certificate refused: the other side has shown none";
    if (reason >= SSL_AD_REASON_OFFSET && is_of_certificates(reason - SSL_AD_REASON_OFFSET))
      return "certificate refused: ours, by the other side: " + reason_of(code);
    return "no TLS with the other side: " + reason_of(code);
  }

  std::shared_ptr<SSL_CTX> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_;
  bool agreed_ = false;
  std::string why_;
};

}  // namespace

std::unique_ptr<link_channel> tls_link_channel(const std::shared_ptr<ssl_ctx_st>& context, int socket, bool calls) {
  return std::make_unique<tls>(context, socket, calls);
}

}  // namespace twinkle::net::control
