// SPDX-License-Identifier: Apache-2.0
#include "net/bulk/bulk_plane.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "net/bulk_node.hpp"
#include "net/raw_socket.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/time.hpp"

using namespace bulk;
using tk::frame_kind;

namespace {

bytes part(const bytes& of, std::size_t first, std::size_t count) {
  return {of.begin() + static_cast<std::ptrdiff_t>(first), of.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

std::string place(node& of) { return "at 127.0.0.1:" + std::to_string(of.plane().port()); }

// Node a, and a b that a test plays.
struct with_raw_b {
  node a{options(0)};
  raw_node b{1};

  with_raw_b() { a.plane().know({a.peer(), b.peer()}); }
};

}  // namespace

TEST_CASE_FIXTURE(two_nodes, "ranges of what another node keeps arrive one after the other") {
  const bytes rows = numbered(3'000'000);
  const bytes tags = numbered(1000, 2);
  const std::uint64_t row_key = b.keep(rows);
  const std::uint64_t tag_key = b.keep(tags);
  std::vector<tk::bulk_range> ranges;
  bytes wanted;
  for (std::size_t at = 0; at < 500; ++at) {
    ranges.push_back({row_key, at * 5000 + at % 7, at * 3});
    ranges.push_back({tag_key, at, at % 2});
    for (const auto& more : {part(rows, at * 5000 + at % 7, at * 3), part(tags, at, at % 2)})
      wanted.insert(wanted.end(), more.begin(), more.end());
  }
  bytes into(wanted.size());
  CHECK(a.fetch(1, ranges, into).outcome() == "");
  CHECK(into == wanted);
}

TEST_CASE("many MiB arrive as they are, checked on their way or not") {
  for (const bool checksums : {false, true}) {
    CAPTURE(checksums);
    auto how = options(1);
    how.checksums = checksums;
    node a{options(0)};
    node b{how};
    acquaint({&a, &b});
    const bytes rows = numbered(std::size_t{64} << 20);
    const std::uint64_t key = b.keep(rows);
    bytes into(rows.size());
    CHECK(a.fetch_all(1, key, into) == "");
    CHECK(into == rows);
    CHECK(a.plane().counted().bytes_received >= rows.size());
    CHECK(b.plane().counted().bytes_sent >= rows.size());
  }
}

TEST_CASE_FIXTURE(two_nodes, "many fetches both ways are answered, each with its own") {
  std::vector<std::uint64_t> keys;
  for (std::size_t at = 0; at < 300; ++at)
    keys.push_back(b.keep(numbered(5000 * (at % 9) + 1, at)));
  const std::uint64_t other = a.keep(numbered(3'000'000, 77));
  std::vector<bytes> into(keys.size());
  std::vector<pending> under_way;
  for (std::size_t at = 0; at < keys.size(); ++at) {
    into[at].resize(5000 * (at % 9) + 1);
    under_way.push_back(a.fetch(1, {{keys[at], 0, into[at].size()}}, into[at]));
  }
  bytes back(3'000'000);
  CHECK(b.fetch_all(0, other, back) == "");
  CHECK(back == numbered(3'000'000, 77));
  for (std::size_t at = 0; at < keys.size(); ++at) {
    CHECK(under_way[at].outcome() == "");
    CHECK(into[at] == numbered(into[at].size(), at));
  }
  CHECK(a.plane().counted().connections == 2);
}

TEST_CASE_FIXTURE(two_nodes, "a node fetches from itself, and nothing from anybody") {
  const std::uint64_t key = a.keep(numbered(100));
  bytes into(20);
  CHECK(a.fetch(0, {{key, 90, 10}, {key, 0, 10}}, into).outcome() == "");
  CHECK(part(into, 10, 10) == numbered(10));
  CHECK(a.fetch(0, {{999, 0, 20}}, into).outcome() ==
        "node 'a': nothing is kept under key 999; it was released, or never kept");
  CHECK(a.fetch(1, {}, {}).outcome() == "");
  CHECK(a.plane().counted().connections == 0);
}

TEST_CASE_FIXTURE(two_nodes, "what is not kept is refused with a cause, and the next fetch is answered") {
  const std::uint64_t key = b.keep(numbered(100));
  bytes into(60);
  CHECK(a.fetch(1, {{999, 0, 60}}, into).outcome() ==
        "node 'b' " + place(b) + ": nothing is kept under key 999; it was released, or never kept");
  CHECK(a.fetch(1, {{key, 50, 60}}, into).outcome() ==
        "node 'b' " + place(b) + ": 60 bytes from 50 of key " + std::to_string(key) + ", which has 100");
  CHECK(a.fetch(1, {{key, 0, 60}}, into).outcome() == "");
  CHECK(a.fetch(7, {{key, 0, 60}}, into).outcome() == "node 7 is not known here");
  CHECK(a.silent.waiting() == 0);
}

TEST_CASE_FIXTURE(two_nodes, "a fetch that cannot be is refused at once") {
  bytes into(60);
  const auto then = [](const std::optional<std::string>&) {};
  CHECK_THROWS_WITH_AS(a.plane().fetch(1, {{1, 0, 59}}, into, then),
                       "bulk plane: a fetch of 59 bytes into 60; they must be as many", tk::error);
  CHECK_THROWS_AS(a.plane().fetch(1, {{1, 0, ~std::uint64_t{0}}, {1, 0, 61}}, into, then), tk::error);
  CHECK_THROWS_AS(a.plane().send(1, bytes((1 << 20) + 1), {}), tk::error);
}

TEST_CASE("a port that is taken is an error that says so") {
  node a{options(0)};
  auto how = options(1);
  how.port = a.plane().port();
  CHECK_THROWS_WITH_AS(node{how}, ("node 'b' cannot listen on 127.0.0.1:" + std::to_string(how.port) +
                                   ": Address already in use; give it an address of this host and a port that is "
                                   "free (0: any)").c_str(), tk::error);
}

TEST_CASE_FIXTURE(with_raw_b, "a fetch that is cancelled is answered at once, and its memory left alone") {
  auto into = std::make_unique<bytes>(1000);
  pending first = a.fetch(1, {{5, 0, 1000}}, *into);
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.id == first.id);

  tk::frame_header half{.kind = frame_kind::data, .id = first.id};
  half.body_bytes = 800;
  CHECK(other.write(tk::to_bytes(half)));
  CHECK(other.write(numbered(300)));
  a.plane().cancel(first.id);
  CHECK(first.outcome() == "cancelled");
  into.reset();

  const raw_socket::frame said = other.read_word();
  CHECK(said.header.kind == frame_kind::cancel);
  CHECK(said.header.id == first.id);
  bytes again(10);
  pending second = a.fetch(1, {{5, 0, 10}}, again);
  CHECK(other.write(numbered(500)));
  CHECK(other.write({.kind = frame_kind::data, .id = first.id, .offset = 800}, {}, numbered(200)));
  CHECK(other.write({.kind = frame_kind::data, .id = second.id}, {}, numbered(10, 3)));
  CHECK(second.outcome() == "");
  CHECK(again == numbered(10, 3));
}

TEST_CASE("no more fetches are under way at once than may be, and one that waits can be cancelled") {
  auto how = options(0);
  how.fetches_max = 2;
  node a{how};
  const raw_node b{1};
  a.plane().know({a.peer(), b.peer()});
  std::vector<bytes> into(5, bytes(8));
  std::vector<pending> all;
  for (bytes& each : into)
    all.push_back(a.fetch(1, {{5, 0, 8}}, each));
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.id == all[0].id);
  CHECK(other.read_word().header.id == all[1].id);
  a.plane().cancel(all[2].id);
  CHECK(all[2].outcome() == "cancelled");
  CHECK(other.write({.kind = frame_kind::data, .id = all[1].id}, {}, numbered(8)));
  CHECK(all[1].outcome() == "");
  CHECK(other.read_word().header.id == all[3].id);
}

TEST_CASE_FIXTURE(with_raw_b, "a peer that closes in the middle of an answer is named, and the next fetch connects anew") {
  bytes into(1000);
  pending first = a.fetch(1, {{5, 0, 1000}}, into);
  {
    const raw_socket other = b.welcome();
    const auto asked = other.read_word();
    CHECK(tk::ranges_of(asked.head) == std::vector<tk::bulk_range>{{5, 0, 1000}});
    CHECK(other.write({.kind = frame_kind::data, .id = first.id}, {}, numbered(400)));
  }
  const std::string why = "node 'b' at 127.0.0.1:" + std::to_string(b.peer().port) + ": it closed the connection";
  CHECK(first.outcome() == why);
  const silence said = a.silent.next();
  CHECK(said.node == 1);
  CHECK(said.why == why);

  pending second = a.fetch(1, {{5, 0, 1000}}, into);
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.id == second.id);
  CHECK(other.write({.kind = frame_kind::data, .id = second.id}, {}, numbered(1000)));
  CHECK(second.outcome() == "");
  CHECK(into == numbered(1000));
}

TEST_CASE_FIXTURE(with_raw_b, "a plane that ends answers what is under way") {
  bytes into(1000);
  pending first = a.fetch(1, {{5, 0, 1000}}, into);
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.id == first.id);
  pending second = a.fetch(1, {{5, 0, 1000}}, into);
  a.stop();
  CHECK(first.outcome() == "node 'a' stops");
  CHECK(second.outcome() == "node 'a' stops");
  CHECK(a.silent.waiting() == 0);
}

TEST_CASE_FIXTURE(with_raw_b, "data that nobody asked for ends the connection") {
  bytes into(100);
  pending first = a.fetch(1, {{5, 0, 100}}, into);
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.id == first.id);
  CHECK(other.write({.kind = frame_kind::data, .id = first.id, .offset = 50}, {}, numbered(51)));
  CHECK(first.outcome().ends_with(": data [50, 101) came where 0 of 100 bytes were there"));
  CHECK(other.is_closed());
}

TEST_CASE_FIXTURE(with_raw_b, "a frame that was damaged on its way ends the connection") {
  bytes into(100);
  pending first = a.fetch(1, {{5, 0, 100}}, into);
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.id == first.id);
  const bytes rows = numbered(100);
  tk::frame_header header{.kind = frame_kind::data, .checked = true, .id = first.id};
  header.checksum = tk::frame_checksum({}, rows);
  bytes damaged = rows;
  damaged[70] ^= std::byte{4};
  CHECK(other.write(header, {}, damaged));
  CHECK(first.outcome().ends_with(": a frame of kind data was damaged on its way"));
}

TEST_CASE_FIXTURE(two_nodes, "a node that came back is refused as the old one, and answers as the new one") {
  bytes into(100);
  CHECK(a.fetch_all(1, b.keep(numbered(100)), into) == "");
  const auto port = b.plane().port();
  b.stop();
  CHECK(a.silent.next().why == "node 'b' at 127.0.0.1:" + std::to_string(port) + ": it closed the connection");
  CHECK(a.fetch_all(1, 1, into) ==
        "node 'b' at 127.0.0.1:" + std::to_string(port) + " cannot be reached: Connection refused");

  b.how().port = port;
  b.how().incarnation = 0x200;
  b.start();
  b.plane().know({a.peer(), b.peer()});
  CHECK(a.fetch_all(1, 1, into) == "node 'b' at 127.0.0.1:" + std::to_string(port) +
                                       " cannot be reached: another is there: incarnation 0000000000000200 of node 1, "
                                       "where 0000000000000065 is expected");
  a.plane().know({a.peer(), b.peer()});
  CHECK(a.fetch_all(1, b.keep(numbered(100, 9)), into) == "");
  CHECK(into == numbered(100, 9));
  CHECK(a.silent.waiting() == 0);
}

TEST_CASE_FIXTURE(two_nodes, "what is under way with a node that is known as another now fails") {
  bytes into(100);
  CHECK(a.fetch_all(1, b.keep(numbered(100)), into) == "");
  const raw_node other{1};
  a.plane().know({a.peer(), other.peer()});
  pending first = a.fetch(1, {{1, 0, 100}}, into);
  const raw_socket connected = other.welcome();
  CHECK(connected.read_word().header.id == first.id);
  a.plane().know({a.peer(), b.peer()});
  CHECK(first.outcome() == "node 'b' " + place(b) + ": another is known there now");
  CHECK(a.fetch_all(1, 1, into) == "");
  CHECK(a.silent.waiting() == 0);
}

TEST_CASE_FIXTURE(two_nodes, "messages arrive in their order from each peer") {
  node c{options(2)};
  acquaint({&a, &b, &c});
  for (std::size_t at = 0; at < 200; ++at)
    for (node* from : {&a, &c})
      from->plane().send(1, {static_cast<std::byte>(at)}, tk::buffer::of(numbered(at * 1000, at)));
  std::vector<std::size_t> next(3);
  for (std::size_t count = 0; count < 400; ++count) {
    const message got = b.messages.next();
    const std::size_t at = next[got.from]++;
    REQUIRE(got.head == bytes{static_cast<std::byte>(at)});
    REQUIRE(got.body == numbered(at * 1000, at));
  }
  CHECK(next == std::vector<std::size_t>{200, 0, 200});
  b.plane().send(1, {}, tk::buffer::of(numbered(3)));
  CHECK(b.messages.next().body == numbered(3));
}

TEST_CASE("a message to a node that cannot be reached is told") {
  node a{options(0)};
  auto gone = std::make_unique<node>(options(1));
  const auto peer = gone->peer();
  gone.reset();
  a.plane().know({a.peer(), peer});
  a.plane().send(1, numbered(3), {});
  CHECK(a.silent.next().why ==
        "node 'b' at 127.0.0.1:" + std::to_string(peer.port) + " cannot be reached: Connection refused");
}

TEST_CASE("a peer that leaves too many messages unread is gone") {
  auto how = options(0);
  how.unsent_bytes_max = std::size_t{2} << 20;
  node a{how};
  const raw_node b{1};
  a.plane().know({a.peer(), b.peer()});
  a.plane().send(1, {}, {});
  const raw_socket other = b.welcome();
  CHECK(other.read_word().header.kind == frame_kind::message);
  const tk::buffer body = tk::buffer::of(bytes(std::size_t{1} << 20));
  while (a.silent.waiting() == 0) {
    a.plane().send(1, {}, body);
    a.settle();
  }
  CHECK(a.silent.next().why.ends_with(" bytes of messages wait to be sent to it, at most 2097152 may"));
}

TEST_CASE("a peer that greets and then says nothing is gone, whoever connected") {
  auto how = options(0);
  how.silence = std::chrono::seconds(2);
  const std::string nothing = ": nothing came for " + tk::to_string(how.silence);
  node a{how};
  const raw_node b{1};
  a.plane().know({a.peer(), b.peer()});
  const raw_socket asks = greeted_as(1, a.plane().port());
  CHECK(a.silent.next().why.ends_with(nothing));

  bytes into(10);
  pending first = a.fetch(1, {{1, 0, 10}}, into);
  const raw_socket answers = b.welcome();
  CHECK(first.outcome().ends_with(nothing));
  CHECK(a.silent.next().node == 1);
  CHECK(a.plane().counted().refused_strangers == 0);
}

TEST_CASE("a connection with nothing to say is kept by pings") {
  auto how = options(0);
  how.silence = std::chrono::seconds(3);
  node a{how};
  const raw_node b{1};
  a.plane().know({a.peer(), b.peer()});
  const raw_socket asks = greeted_as(1, a.plane().port());
  for (std::size_t pings = 0; pings < 5; ++pings) {  // one comes each quarter of the silence
    REQUIRE(asks.read_frame().header.kind == frame_kind::ping);
    REQUIRE(asks.write(tk::frame_header{}));
  }
  const std::uint64_t key = a.keep(numbered(10));
  CHECK(asks.write({.kind = frame_kind::fetch, .id = 1}, tk::to_bytes(std::vector<tk::bulk_range>{{key, 0, 10}})));
  CHECK(asks.read_word().body == numbered(10));
  CHECK(a.silent.waiting() == 0);
}

TEST_CASE_FIXTURE(two_nodes, "what is released while it is sent arrives all the same") {
  const bytes rows = numbered(std::size_t{24} << 20);
  const std::uint64_t key = a.keep(rows);
  const raw_socket asks = greeted_as(1, a.plane().port());
  CHECK(asks.write({.kind = frame_kind::fetch, .id = 1},
                   tk::to_bytes(std::vector<tk::bulk_range>{{key, 0, rows.size()}})));
  bytes got = asks.read_word().body;
  a.kept.release(key);
  CHECK(a.kept.pieces() == 0);
  CHECK(a.kept.bytes() == 0);
  while (got.size() < rows.size()) {
    const bytes more = asks.read_word().body;
    REQUIRE(!more.empty());
    got.insert(got.end(), more.begin(), more.end());
  }
  CHECK(got == rows);
}

TEST_CASE("the same bytes are kept once, and until nobody needs them") {
  tk::net::bulk_store kept;
  const tk::buffer rows = tk::buffer::of(numbered(10));
  const std::uint64_t key = kept.keep(rows);
  CHECK(kept.keep(rows) == key);
  CHECK(kept.keep(rows.part(0, 5)) != key);
  CHECK(kept.pieces() == 2);
  kept.release(key);
  CHECK(kept.find(key));
  kept.release(key);
  CHECK_FALSE(kept.find(key));
  CHECK(kept.bytes() == 5);
  kept.release(key);
  CHECK(kept.keep(rows) != key);
}
