// SPDX-License-Identifier: Apache-2.0
// Planes that show each other certificates.
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "net/bulk_node.hpp"
#include "net/bulk/bulk_plane.hpp"
#include "net/raw_socket.hpp"
#include "twinkle/base/error.hpp"

using namespace bulk;

namespace {

using key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate = std::unique_ptr<X509, decltype(&X509_free)>;

key new_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

certificate signed_by(const char* issuer, EVP_PKEY* with, const char* subject, EVP_PKEY* of, bool authority) {
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
    char made[] = "/tmp/twinkle-tls-XXXXXX";
    REQUIRE(::mkdtemp(made) != nullptr);
    folder_ = made;
    write("authority.pem", signed_by(name_.c_str(), key_.get(), name_.c_str(), key_.get(), true).get());
  }
  authority(const authority&) = delete;
  authority& operator=(const authority&) = delete;
  ~authority() { std::filesystem::remove_all(folder_); }

  tk::net::tls_files vouch(const std::string& node) {
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

tk::net::bulk_options secure(std::size_t number, tk::net::tls_files files) {
  auto how = options(number);
  how.tls = std::move(files);
  return how;
}

// Whether `a` is told an end of its fetch from b that has this in it.
void check_refused(node& a, node& b, const std::string& said) {
  acquaint({&a, &b});
  const std::uint64_t key = b.keep(numbered(10));
  bytes into(10);
  const std::string why = a.fetch_all(1, key, into);
  CAPTURE(why);
  CHECK(why.find("cannot be reached: ") != std::string::npos);
  CHECK(why.find(said) != std::string::npos);
  CHECK(into == bytes(10));
}

}  // namespace

TEST_CASE("rows and messages go over TLS between nodes of one authority") {
  authority ours{"ours"};
  node a{secure(0, ours.vouch("a"))};
  node b{secure(1, ours.vouch("b"))};
  acquaint({&a, &b});
  const bytes rows = numbered(10'000'000);
  const std::uint64_t key = b.keep(rows);
  bytes into(rows.size());
  CHECK(a.fetch_all(1, key, into) == "");
  CHECK(into == rows);
  for (std::size_t at = 0; at < 20; ++at)
    a.plane().send(1, {static_cast<std::byte>(at)}, tk::buffer::of(numbered(at * 10'000, at)));
  for (std::size_t at = 0; at < 20; ++at) {
    const message got = b.messages.next();
    CHECK(got.head == bytes{static_cast<std::byte>(at)});
    CHECK(got.body == numbered(at * 10'000, at));
  }
  b.stop();
  CHECK(a.silent.next().why.ends_with(": it closed the connection"));
}

TEST_CASE("a node of another authority is refused, whoever connects") {
  authority ours{"ours"};
  authority others{"others"};
  node a{secure(0, ours.vouch("a"))};
  node b{secure(1, others.vouch("b"))};
  check_refused(a, b, "TLS: certificate verify failed");
  // Who knows the right authority, but shows a certificate of another.
  tk::net::tls_files mixed = others.vouch("c");
  mixed.authority = ours.path("authority.pem");
  node c{secure(0, mixed)};
  node d{secure(1, ours.vouch("d"))};
  check_refused(c, d, "unknown ca");
  d.settle();
  CHECK(d.plane().counted().refused_strangers == 1);
}

TEST_CASE("who speaks no TLS does not reach who does, nor the other way round") {
  authority ours{"ours"};
  auto how = options(0);
  how.silence = std::chrono::milliseconds(500);
  node plain{how};
  node b{secure(1, ours.vouch("b"))};
  acquaint({&plain, &b});
  bytes into(10);
  CHECK(plain.fetch_all(1, b.keep(numbered(10)), into) != "");
  CHECK(b.fetch_all(0, plain.keep(numbered(10)), into) != "");
  CHECK(into == bytes(10));
  const raw_socket stranger = raw_socket::to(b.plane().port());
  CHECK(stranger.write({.kind = tk::frame_kind::hello}, tk::to_bytes(greeting_of(0))));
  while (!stranger.read(1).empty()) {
  }
  CHECK(b.plane().counted().connections == 0);
}

TEST_CASE("files that cannot be used are named") {
  authority ours{"ours"};
  auto files = ours.vouch("a");
  files.certificate = "nowhere.pem";
  CHECK_THROWS_WITH_AS(node{secure(0, files)},
                       "TLS: the certificate 'nowhere.pem' cannot be used: No such file or directory; it must be a PEM "
                       "file", tk::error);
}
