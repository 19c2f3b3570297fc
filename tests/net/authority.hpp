// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "net/tls_files.hpp"

/// Certificates for tests of both planes.
namespace tls {

using key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate = std::unique_ptr<X509, decltype(&X509_free)>;

inline key new_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

inline certificate signed_by(const char* issuer, EVP_PKEY* with, const char* subject, EVP_PKEY* of, bool authority) {
  static long serial = 1;
  certificate made{X509_new(), &X509_free};
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  const auto name = [](X509_NAME* into, const char* text) {
    X509_NAME_add_entry_by_txt(into, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(text), -1, -1, 0);
  };
  name(X509_get_subject_name(made.get()), subject);
  X509_NAME* from = X509_NAME_new();
  name(from, issuer);
  X509_set_issuer_name(made.get(), from);
  X509_NAME_free(from);
  X509_set_pubkey(made.get(), of);
  if (authority) {
    X509_EXTENSION* may_sign = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(made.get(), may_sign, -1);
    X509_EXTENSION_free(may_sign);
  }
  REQUIRE(X509_sign(made.get(), with, EVP_sha256()) != 0);
  return made;
}

// Files of an authority and of nodes that it vouches for, in a folder that goes with it.
class authority {
 public:
  explicit authority(std::string name) : name_(std::move(name)) {
    std::string made = (std::filesystem::temp_directory_path() / "twinkle-XXXXXX").string();
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    folder_ = made;
    write("authority.pem", signed_by(name_.c_str(), key_.get(), name_.c_str(), key_.get(), true).get());
  }
  authority(const authority&) = delete;
  authority& operator=(const authority&) = delete;
  ~authority() { std::filesystem::remove_all(folder_); }

  twinkle::net::tls_files vouch(const std::string& node) {
    const key of = new_key();
    write(node + ".pem", signed_by(name_.c_str(), key_.get(), node.c_str(), of.get(), false).get());
    std::FILE* file = std::fopen(path(node + ".key").c_str(), "w");
    REQUIRE(file != nullptr);
    PEM_write_PrivateKey(file, of.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    return {path("authority.pem"), path(node + ".pem"), path(node + ".key")};
  }
  [[nodiscard]] std::string path(const std::string& file) const { return folder_ / file; }

 private:
  void write(const std::string& name, X509* what) const {
    std::FILE* file = std::fopen(path(name).c_str(), "w");
    REQUIRE(file != nullptr);
    PEM_write_X509(file, what);
    std::fclose(file);
  }

  std::string name_;
  key key_ = new_key();
  std::filesystem::path folder_;
};

}  // namespace tls
