// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <array>
#include <thread>

#include "link_end.hpp"
#include "net/control/sockets.hpp"
#include "twinkle/base/error.hpp"

using namespace links;

namespace {

const std::string here = "127.0.0.1";

std::uint16_t join(link_end& listens, link_end& connects) {
  const std::uint16_t port = listens->listen(here, 0);
  connects->connect(here, port);
  REQUIRE(listens.wait([](const told& now) { return !now.up.empty(); }));
  REQUIRE(connects.wait([](const told& now) { return !now.up.empty(); }));
  return port;
}

// A socket without a link behind it, connected as soon as the other side's backlog takes it.
tk::net::control::socket_handle stranger(std::uint16_t port) {
  return tk::net::control::connecting_socket(
      tk::net::control::addresses_of({here, port}, tk::net::control::lookups::numbers_only).front());
}

bool wait_for(const tk::net::control::socket_handle& socket, short what) {
  pollfd poll{socket.get(), what, 0};
  return ::poll(&poll, 1, 60'000) == 1;
}

// Long messages among short ones, each with its place.
std::string numbered(const std::string& from, std::size_t place) {
  std::string text = from + std::to_string(place);
  if (place % 1000 == 7)
    text.resize(std::size_t{1} << 20, '.');
  return text;
}

void check_in_order(const std::vector<std::string>& arrived, const std::string& from) {
  std::size_t in_place = 0;
  for (std::size_t place = 0; place < arrived.size(); ++place)
    in_place += arrived[place] == numbered(from, place);
  CHECK(in_place == arrived.size());
}

}  // namespace

TEST_CASE("messages arrive whole and in order, both ways at once") {
  constexpr std::size_t messages = 10'000;
  link_end a;
  link_end b;
  join(a, b);
  std::thread other([&] {
    for (std::size_t place = 0; place < messages; ++place)
      b->send(b.peer(), bytes(numbered("b", place)));
  });
  for (std::size_t place = 0; place < messages; ++place)
    a->send(a.peer(), bytes(numbered("a", place)));
  other.join();
  check_in_order(b.arrived(b.peer(), messages), "a");
  check_in_order(a.arrived(a.peer(), messages), "b");
  const told by_a = a.end();
  CHECK_FALSE(by_a.two_at_once);
  CHECK(by_a.up.size() == 1);
  CHECK(by_a.down.size() == 1);
}

TEST_CASE("a message may be empty and as long as the longest, and no longer") {
  link_end a({.message_bytes_max = 5000});
  link_end b({.message_bytes_max = 5000});
  join(a, b);
  a->send(a.peer(), {});
  a->send(a.peer(), bytes(std::string(5000, 'x')));
  CHECK_THROWS_WITH_AS(a->send(a.peer(), bytes(std::string(5001, 'x'))),
                       "a message of 5001 bytes is longer than message_bytes_max, 5000: send less at once",
                       tk::error);
  a->send(a.peer(), bytes("last"));
  CHECK(b.arrived(b.peer(), 3) == std::vector<std::string>{"", std::string(5000, 'x'), "last"});
}

TEST_CASE("a peer that sends more than is allowed is closed, whether a little or a lot more") {
  for (const std::size_t too_long : {std::size_t{5001}, std::size_t{100'000}}) {
    link_end strict({.message_bytes_max = 5000});
    link_end generous;
    join(strict, generous);
    generous->send(generous.peer(), bytes(std::string(too_long, 'x')));
    CHECK(strict.why_down().find("longer than message_bytes_max") != std::string::npos);
    generous.why_down();
    CHECK(strict.end().arrived.empty());
  }
}

TEST_CASE("who connects before the other listens is up when it does") {
  std::uint16_t port = 0;
  {
    link_end first;
    port = first->listen(here, 0);
  }
  link_end connects;
  connects->connect(here, port);
  connects.fails(port, "connection refused");
  link_end listens;
  CHECK(listens->listen(here, port) == port);
  listens->send(listens.peer(), bytes("here I am"));
  CHECK(connects.arrived(connects.peer(), 1).front() == "here I am");
}

TEST_CASE("when one side ends, the other is told once and why, and a message to it is dropped") {
  link_end a;
  auto b = std::make_unique<link_end>();
  join(a, *b);
  const told by_b = b->end();
  REQUIRE(by_b.down.size() == 1);
  CHECK(by_b.down.front().second == "this side closed the link");
  CHECK(a.why_down() == "closed by the other side");
  a->send(a.peer(), bytes("too late"));
  a->close(a.peer());
  CHECK(a.end().down.size() == 1);
}

TEST_CASE("a link that ends as soon as it is up leaves nothing behind") {
  // What it left would be found when the process ends, by the sanitizer of leaks.
  link_end a;
  const std::uint16_t port = a->listen(here, 0);
  for (std::size_t nth = 0; nth < 20; ++nth) {
    link_end b;
    b->connect(here, port);
    a.peer(nth);
    b.peer();
    CHECK(b.end().down.size() == 1);
  }
}

TEST_CASE("a closed connection can be opened again, under another number") {
  link_end a;
  link_end b;
  const std::uint16_t port = join(a, b);
  const std::uint64_t first = b.peer();
  b->close(first);
  CHECK(b.why_down() == "this side closed it");
  CHECK(a.why_down() == "closed by the other side");
  b->connect(here, port);
  CHECK(b.peer(1) != first);
  CHECK(a.peer(1) != a.peer(0));
  b->send(b.peer(1), bytes("again"));
  CHECK(a.arrived(a.peer(1), 1).front() == "again");
}

TEST_CASE("many may connect to one, and each is heard apart") {
  link_end hub;
  const std::uint16_t port = hub->listen(here, 0);
  hub.echoes = true;
  std::array<link_end, 5> spokes;
  for (link_end& each : spokes)
    each->connect(here, port);
  for (std::size_t spoke = 0; spoke < spokes.size(); ++spoke)
    spokes[spoke]->send(spokes[spoke].peer(), bytes("from " + std::to_string(spoke)));
  for (std::size_t spoke = 0; spoke < spokes.size(); ++spoke)
    CHECK(spokes[spoke].arrived(spokes[spoke].peer(), 1).front() == "from " + std::to_string(spoke));
}

TEST_CASE("another protocol is refused, and so is a second connection to a process, or one to oneself") {
  link_end a;
  const std::uint16_t port = a->listen(here, 0);
  link_end stranger({.protocol = "elsewhere"});
  stranger->connect(here, port);
  stranger.fails(port, "another version of the protocol");

  link_end b;
  b->connect("localhost", port);
  b.peer();
  b->connect(here, port);
  b.fails(port, "already connected to this process");
  a->connect(here, port);
  a.fails(port, "this is the process that connects");
  b->give_up(here, port);
  b->send(b.peer(), bytes("still here"));
  CHECK(a.arrived(a.peer(), 1).front() == "still here");
  CHECK(stranger.end().up.empty());
  CHECK(a.end().up.size() == 1);
}

TEST_CASE("a port in use and a host of others are named, with what to do") {
  link_end a;
  const std::uint16_t port = a->listen(here, 0);
  link_end b;
  CHECK_THROWS_WITH_AS(b->listen(here, port),
                       ("cannot listen on 127.0.0.1:" + std::to_string(port) +
                        ": address already in use; give this node another port").c_str(),
                       tk::error);
  CHECK_THROWS_WITH_AS(b->listen("192.0.2.1", 7070),
                       "cannot listen on 192.0.2.1:7070: cannot assign requested address; give this node an "
                       "address of this machine",
                       tk::error);
}

TEST_CASE("a name that leads to this machine alone is nothing to listen on for others") {
  using tk::net::control::listening_host;
  for (const char* own : {"localhost", "127.0.0.1", "::1"})
    CHECK(listening_host(own) == own);
  CHECK(listening_host("10.0.0.1") == "10.0.0.1");
  CHECK_THROWS_WITH_AS(listening_host("0x7f000001"),
                       "'0x7f000001' is 127.0.0.1 on this machine, where no other can come; write its address instead, or "
                       "correct /etc/hosts",
                       tk::error);
  CHECK_THROWS_AS(listening_host("no-such-host.invalid"), tk::error);
}

TEST_CASE("a host that nobody knows is a failure with its name") {
  link_end a;
  a->connect("no-such-host.invalid", 7070);
  CHECK(a.wait([&](const told&) { return !a->last_failure("no-such-host.invalid", 7070).empty(); }));
  CHECK(a->last_failure("no-such-host.invalid", 7070).find("no address of no-such-host.invalid") == 0);
}

TEST_CASE("options that contradict each other are refused with their values") {
  CHECK_THROWS_WITH_AS(link_end({.message_bytes_max = 100, .unacknowledged_bytes_max = 99}),
                       "a link with message_bytes_max 100 and unacknowledged_bytes_max 99: let the second hold a "
                       "message and 64 bytes, and be at most 1073741824",
                       tk::error);
}

TEST_CASE("a link that still connects ends, also where nobody answers") {
  // Nobody accepts, and a backlog of one is soon full: from then on the other side is as silent as an empty street.
  const tk::net::control::socket_handle silent = tk::net::control::listening_socket({here, 0});
  REQUIRE(::listen(silent.get(), 0) == 0);
  const std::uint16_t port = tk::net::control::port_of(silent);
  std::vector<tk::net::control::socket_handle> waiting;
  for (int each = 0; each < 4; ++each)
    waiting.push_back(stranger(port));
  link_end a;
  a->connect(here, port);
  a->connect(here, 1);
  a.fails(1, "connection refused");
  CHECK(a.end().up.empty());
}

TEST_CASE("silence holds nobody up, and is given up after a while") {
  const tk::net::control::socket_handle silent = tk::net::control::listening_socket({here, 0});
  const std::uint16_t silent_port = tk::net::control::port_of(silent);
  link_end a;
  const std::uint16_t port = a->listen(here, 0);
  const tk::net::control::socket_handle says_nothing = stranger(port);
  link_end b;
  b->connect(here, silent_port);
  b->connect(here, port);
  b->send(b.peer(), bytes("hello"));
  CHECK(a.arrived(a.peer(), 1).front() == "hello");
  b.fails(silent_port, "no answer within 5 s");
  // Those who call are given up likewise.
  std::array<char, 4096> read{};
  ssize_t got = 1;
  while (got > 0 && wait_for(says_nothing, POLLIN))
    got = ::recv(says_nothing.get(), read.data(), read.size(), 0);
  CHECK(got == 0);
}

TEST_CASE("of a flood of strangers the oldest are closed, and who is up is not disturbed") {
  link_end a({.strangers_max = 8, .up_within = std::chrono::seconds(3600)});
  const std::uint16_t port = a->listen(here, 0);
  link_end b;
  b->connect(here, port);
  b.peer();
  std::vector<tk::net::control::socket_handle> flood;
  for (std::size_t count = 0; count < 100; ++count)
    flood.push_back(stranger(port));
  for (std::size_t oldest = 0; oldest < flood.size() - 8; ++oldest) {
    std::array<char, 4096> read{};
    ssize_t got = 1;
    while (got > 0 && wait_for(flood[oldest], POLLIN))
      got = ::recv(flood[oldest].get(), read.data(), read.size(), 0);
    CHECK(got <= 0);
  }
  b->send(b.peer(), bytes("hello"));
  CHECK(a.arrived(a.peer(), 1).front() == "hello");
  CHECK(a.end().down.size() == 1);
}

TEST_CASE("whatever strangers send, the others are not disturbed") {
  link_end a;
  const std::uint16_t port = a->listen(here, 0);
  // A greeting that announces 4 GiB, and plain nonsense.
  std::string forged(32, '\0');
  forged[0] = 1;
  forged.replace(4, 4, "\xff\xff\xff\xf0");
  const std::string request = "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n";
  for (const std::string& garbage : {std::string(70'000, 'x'), request, forged}) {
    const tk::net::control::socket_handle socket = stranger(port);
    REQUIRE(wait_for(socket, POLLOUT));
    CHECK(::send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL) > 0);
    std::array<char, 4096> read{};
    ssize_t got = 1;
    while (got > 0 && wait_for(socket, POLLIN))
      got = ::recv(socket.get(), read.data(), read.size(), 0);
    CHECK(got <= 0);
  }
  link_end b;
  b->connect(here, port);
  b->send(b.peer(), bytes("hello"));
  CHECK(a.arrived(a.peer(), 1).front() == "hello");
  CHECK(a.end().up.size() == 1);
}

TEST_CASE("what is acknowledged makes room for more") {
  const tk::net::control::link_options tight{.message_bytes_max = 1000, .unacknowledged_bytes_max = 8000};
  link_end a(tight);
  link_end b(tight);
  b.echoes = true;
  join(a, b);
  for (std::size_t turn = 0; turn < 300; ++turn) {
    a->send(a.peer(), bytes(std::string(1000, 'x')));
    REQUIRE(a.arrived(a.peer(), turn + 1).size() == turn + 1);
  }
}
