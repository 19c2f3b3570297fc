// SPDX-License-Identifier: Apache-2.0
// Links under TLS, with certificates that are made here.
#include <cstdlib>

#include "link_end.hpp"
#include "net/authority.hpp"
#include "twinkle/base/error.hpp"

using namespace links;

namespace {

const std::string here = "127.0.0.1";

void run(const std::string& command) {
  REQUIRE_MESSAGE(std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0, command);
}

/// Two authorities, each of which has signed a certificate.
struct certificates {
  tls::authority ours{"ours"};
  tls::authority theirs{"theirs"};
  tk::net::tls_files our_node = ours.vouch("node");
  tk::net::tls_files their_node = theirs.vouch("node");

  /// Trusts one authority and shows a certificate of another.
  [[nodiscard]] static tk::net::control::link_options trusts(const tk::net::tls_files& authority,
                                                             const tk::net::tls_files& shown) {
    return {.tls = tk::net::tls_files{authority.authority, shown.certificate, shown.key}};
  }
};

}  // namespace

TEST_CASE_FIXTURE(certificates, "under TLS messages arrive whole and in order, both ways") {
  link_end a(trusts(our_node, our_node));
  link_end b(trusts(our_node, our_node));
  a.echoes = true;
  b->connect(here, a->listen(here, 0));
  constexpr std::size_t messages = 2000;
  for (std::size_t place = 0; place < messages; ++place)
    b->send(b.peer(), bytes(std::string(place % 500 == 3 ? 1 << 20 : 1, '.') + std::to_string(place)));
  const std::vector<std::string> back = b.arrived(b.peer(), messages);
  std::size_t in_place = 0;
  for (std::size_t place = 0; place < messages; ++place)
    in_place += back[place] == std::string(place % 500 == 3 ? 1 << 20 : 1, '.') + std::to_string(place);
  CHECK(in_place == messages);
  a.end();
  CHECK(b.why_down() == "closed by the other side");
}

TEST_CASE_FIXTURE(certificates, "a certificate of another authority is refused, by the side that does not trust it") {
  link_end listens(trusts(our_node, our_node));
  const std::uint16_t port = listens->listen(here, 0);
  link_end rogue(trusts(our_node, their_node));
  rogue->connect(here, port);
  rogue.fails(port, "certificate refused: ours, by the other side");
  link_end careful(trusts(their_node, their_node));
  careful->connect(here, port);
  careful.fails(port, "certificate refused: that of the other side");
  CHECK(rogue.end().up.empty());
  CHECK(careful.end().up.empty());
  CHECK(listens.end().up.empty());
}

TEST_CASE_FIXTURE(certificates, "who shows no certificate, or speaks no TLS, does not come in") {
  link_end listens(trusts(our_node, our_node));
  const std::uint16_t port = listens->listen(here, 0);
  run("openssl s_client -quiet -CAfile " + our_node.authority + " -connect 127.0.0.1:" + std::to_string(port) +
      " </dev/null 2>&1 | grep 'alert certificate required'");

  link_end open;
  open->connect(here, port);
  CHECK(open.wait([&](const told&) { return !open->last_failure(here, port).empty(); }));
  const std::uint16_t open_port = open->listen(here, 0);
  listens->connect(here, open_port);
  listens.fails(open_port, "no TLS with the other side: wrong version number");
  CHECK(open.end().up.empty());
  CHECK(listens.end().up.empty());
}

TEST_CASE_FIXTURE(certificates, "a file that cannot be used is named") {
  tk::net::control::link_options how = trusts(our_node, our_node);
  how.tls->key = their_node.key;
  CHECK_THROWS_WITH_AS(link_end{how}, doctest::Contains("cannot use the key"), tk::error);
  how.tls->certificate = "nowhere.pem";
  CHECK_THROWS_WITH_AS(link_end{how}, doctest::Contains("nowhere.pem"), tk::error);
}
