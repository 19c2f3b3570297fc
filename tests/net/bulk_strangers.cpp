// SPDX-License-Identifier: Apache-2.0
// Who connects to a plane and may not, or says what nobody may.
#include <doctest/doctest.h>

#include "net/bulk_node.hpp"
#include "net/bulk/bulk_plane.hpp"
#include "net/raw_socket.hpp"

using namespace bulk;
using tk::frame_kind;

namespace {

bytes bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

bytes header(frame_kind kind, std::size_t head_bytes, std::size_t body_bytes) {
  const auto made = tk::to_bytes({.kind = kind, .id = 1, .head_bytes = head_bytes, .body_bytes = body_bytes});
  return {made.begin(), made.end()};
}

// That a still answers b while and after this.
struct still_answers : two_nodes {
  std::uint64_t key = a.keep(numbered(100'000));

  void check() {
    bytes into(100'000);
    CHECK(b.fetch_all(0, key, into) == "");
    CHECK(into == numbered(100'000));
  }
};

// What a says to who greets so.
std::string refusal(node& a, const tk::greeting& as) {
  const raw_socket stranger = raw_socket::to(a.plane().port());
  CHECK(stranger.write({.kind = frame_kind::hello}, tk::to_bytes(as)));
  const auto said = stranger.read_word();
  CHECK(said.header.kind == frame_kind::refused);
  CHECK(stranger.is_closed());
  return text_of(said.head);
}

}  // namespace

TEST_CASE_FIXTURE(still_answers, "who greets as another than is expected is told what differs") {
  auto as = greeting_of(1);
  as.cluster = "other";
  CHECK(refusal(a, as) == "cluster 'other', where 'test' is expected");
  as = greeting_of(1);
  as.graph = 8;
  CHECK(refusal(a, as) == "graph 0000000000000008, where 0000000000000007 is expected; run the same binary with the "
                          "same options on every node");
  as = greeting_of(1);
  as.incarnation = 3;
  CHECK(refusal(a, as) == "incarnation 0000000000000003 of node 1, where 0000000000000065 is expected");
  as.incarnation = 0;
  CHECK(refusal(a, as) == "incarnation 0, which no process has");
  as = greeting_of(1);
  as.node = 5;
  CHECK(refusal(a, as) == "node 5 is not known here");
  as.node = 0;
  CHECK(refusal(a, as) == "node 0 is not known here");
  CHECK(a.refused(6) == 6);
  check();
  CHECK(a.plane().counted().connections == 1);
}

TEST_CASE("a process that greets before it is known is heard when it is") {
  auto how = options(0);
  how.heard_within = std::chrono::seconds(60);
  node a{how};
  node b{options(1)};
  node c{options(2)};
  auto early = b.peer();
  early.incarnation = 3;
  a.plane().know({a.peer(), early, c.peer()});
  b.plane().know({a.peer(), b.peer(), c.peer()});
  c.plane().know({a.peer(), b.peer(), c.peer()});
  const std::uint64_t key = a.keep(numbered(1000));
  bytes into(1000);
  auto asked = b.fetch(0, {{key, 0, 1000}}, into);
  // Somebody else who has greeted meanwhile, more than once.
  bytes others(1000);
  for (std::size_t round = 0; round < 10; ++round)
    CHECK(c.fetch_all(0, key, others) == "");
  CHECK(asked.cause.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  a.plane().know({a.peer(), b.peer(), c.peer()});
  CHECK(asked.outcome() == "");
  CHECK(into == numbered(1000));
  CHECK(a.plane().counted().connections == 2);
}

TEST_CASE_FIXTURE(still_answers, "who speaks another version is told so") {
  bytes hello = header(frame_kind::hello, 40, 0);
  hello[4] = std::byte{9};
  const raw_socket stranger = raw_socket::to(a.plane().port());
  CHECK(stranger.write(hello));
  CHECK(text_of(stranger.read_word().head) ==
        "bulk plane: the other side speaks version 9, but this program speaks version 1; run the same binary on every "
        "node");
  CHECK(stranger.is_closed());
}

TEST_CASE("nodes of other graphs do not talk, and each says why") {
  auto how = options(1);
  how.graph = 8;
  node a{options(0)};
  node b{how};
  acquaint({&a, &b});
  bytes into(1);
  CHECK(a.fetch_all(1, 1, into).ends_with(" cannot be reached: it refuses this node: graph 0000000000000007, where "
                                          "0000000000000008 is expected; run the same binary with the same options "
                                          "on every node"));
  CHECK(b.fetch_all(0, 1, into).ends_with("it refuses this node: graph 0000000000000008, where 0000000000000007 is "
                                          "expected; run the same binary with the same options on every node"));
}

TEST_CASE_FIXTURE(still_answers, "whoever says what is no greeting is closed, and others do not notice") {
  const std::vector<bytes> said{
      bytes_of("GET / HTTP/1.1\r\n\r\n"),
      bytes(1000),
      numbered(100'000),
      bytes_of("xxxx"),
      header(frame_kind::message, 0, std::size_t{1} << 30),
      header(frame_kind::message, 0xffffffff, 0xffffffff),
      header(frame_kind::fetch, 24, 0),
      header(frame_kind::data, 0, 100),
      header(static_cast<frame_kind>(0), 0, 0),
      header(static_cast<frame_kind>(200), 0, 0),
      header(frame_kind::ping, 0, 0),
      header(frame_kind::hello, 0xffffffff, 0),
      header(frame_kind::hello, 100, 100),
  };
  std::size_t strangers = 0;
  for (const bytes& each : said) {
    ++strangers;
    CAPTURE(strangers);
    const raw_socket stranger = raw_socket::to(a.plane().port());
    (void)stranger.write(each);
    while (!stranger.read(1).empty()) {
    }
    check();
    CHECK(a.refused(strangers) == strangers);
  }
  CHECK(a.plane().counted().connections == 1);
  CHECK(a.silent.waiting() == 0);
}

TEST_CASE("whoever greets too late, or by half, is closed") {
  auto how = options(0);
  how.silence = std::chrono::milliseconds(500);
  node a{how};
  a.plane().know({a.peer()});
  const raw_socket says_nothing = raw_socket::to(a.plane().port());
  const raw_socket says_half = raw_socket::to(a.plane().port());
  const bytes whole = header(frame_kind::hello, 30, 0);
  CHECK(says_half.write(std::span(whole).first(11)));
  const raw_socket stays_behind = raw_socket::to(a.plane().port());
  tk::frame_header hello{.kind = frame_kind::hello};
  hello.head_bytes = 30;
  CHECK(stays_behind.write(tk::to_bytes(hello)));
  CHECK(stays_behind.write(numbered(29)));
  CHECK(says_nothing.is_closed());
  CHECK(says_half.is_closed());
  CHECK(stays_behind.is_closed());
  CHECK(a.refused(3) == 3);
}

TEST_CASE("of a flood of strangers only so many stay, and others do not notice") {
  auto how = options(0);
  how.strangers_max = 8;
  node a{how};
  node b{options(1)};
  acquaint({&a, &b});
  const std::uint64_t key = a.keep(numbered(1000));
  std::vector<raw_socket> flood;
  for (std::size_t count = 0; count < 200; ++count) {
    flood.push_back(raw_socket::to(a.plane().port()));
    if (count % 50 == 49) {
      bytes into(1000);
      CHECK(b.fetch_all(0, key, into) == "");
    }
  }
  for (std::size_t oldest = 0; oldest < 200 - 8; ++oldest)
    CHECK(flood[oldest].is_closed());
  CHECK(a.refused(200 - 8) == 200 - 8);
  CHECK(a.plane().counted().connections == 1);
}

TEST_CASE("a node that asks for more at once than may be is gone") {
  auto how = options(0);
  how.fetches_max = 3;
  node a{how};
  const raw_node b{1};
  a.plane().know({a.peer(), b.peer()});
  const std::uint64_t key = a.keep(bytes(std::size_t{64} << 20));
  const raw_socket asks = greeted_as(1, a.plane().port());
  const bytes all = tk::to_bytes(std::vector<tk::bulk_range>{{key, 0, std::size_t{64} << 20}});
  for (std::uint64_t id = 1; id <= 4; ++id)
    CHECK(asks.write({.kind = frame_kind::fetch, .id = id}, all));
  CHECK(a.silent.next().why.ends_with(": it asks for more than 3 things at once"));
}

TEST_CASE_FIXTURE(two_nodes, "a node that connects anew takes the place of its earlier connection") {
  const raw_socket first = greeted_as(1, a.plane().port());
  const raw_socket second = greeted_as(1, a.plane().port());
  CHECK(first.is_closed());
  CHECK(a.silent.next().why.ends_with(": it connected anew, what was under way is lost"));
  CHECK(second.write({.kind = frame_kind::message}, numbered(3)));
  CHECK(a.messages.next().head == numbered(3));
  CHECK(a.plane().counted().connections == 1);
}
