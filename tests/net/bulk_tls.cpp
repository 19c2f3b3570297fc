// SPDX-License-Identifier: Apache-2.0
// Planes that show each other certificates.
#include <doctest/doctest.h>

#include "net/authority.hpp"
#include "net/bulk_node.hpp"
#include "net/bulk/bulk_plane.hpp"
#include "net/raw_socket.hpp"
#include "twinkle/base/error.hpp"

using namespace bulk;
using tls::authority;

namespace {

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
  CHECK(d.refused(1) == 1);
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
                       "TLS: cannot use the certificate 'nowhere.pem': No such file or directory; give a PEM file that "
                       "this process may read", tk::error);
}
