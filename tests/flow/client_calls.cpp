// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/client_calls.hpp"

#include <doctest/doctest.h>

#include "numbered.hpp"

using namespace flow_test;
using twinkle::address;
using twinkle::client_calls;
using twinkle::collected;
using twinkle::fault;
using twinkle::outbox;
using twinkle::payload;
using twinkle::result;
namespace msg = twinkle::msg;

namespace {

const address client = address::client(0);

msg::call call(std::uint64_t id, std::vector<msg::call::awaited> awaits = {}) {
  msg::call wanted{id, client, 0, call_with(numbered(2)), std::move(awaits)};
  wanted.kept = true;
  return wanted;
}

result<collected> rows(std::size_t count) { return collected{payload{numbered(count)}}; }

template <class Message>
std::vector<Message> all(const outbox& out) {
  std::vector<Message> found;
  for (const twinkle::envelope& each : out)
    if (const auto* content = std::get_if<Message>(&each.content))
      found.push_back(*content);
  return found;
}

}  // namespace

TEST_CASE("calls start in the order in which they came, also when a later one has all that it awaits") {
  client_calls calls;
  outbox out;
  calls.add(call(1, {{0, 7, 70}}));
  calls.add(call(2));
  CHECK_FALSE(calls.next(out));
  calls.arrived({1, client, 0, rows(3)});
  const auto first = calls.next(out);
  REQUIRE(first);
  CHECK(first->id == 1);
  CHECK(rows_of(first->how.input).rows() == 3);
  CHECK(calls.next(out)->id == 2);
  CHECK_FALSE(calls.next(out));
}

TEST_CASE("an outcome is kept for those who claim it, before it is there and after, until it is forgotten") {
  client_calls calls;
  outbox out;
  calls.add(call(1));
  CHECK(calls.next(out).has_value());
  calls.claim({1, client, address::router(3), 9, 1}, out);
  CHECK(out.empty());
  calls.settle({client, 1}, rows(2), out);
  REQUIRE(all<msg::claimed>(out).size() == 1);
  CHECK(out[0].to == address::router(3));
  CHECK(all<msg::claimed>(out)[0].by == 9);
  CHECK(all<msg::claimed>(out)[0].position == 1);
  calls.claim({1, client}, out);
  CHECK(all<msg::answer>(out).size() == 1);
  calls.forget({1, client});
  calls.claim({1, client}, out);
  CHECK_FALSE(all<msg::answer>(out)[1].value.has_value());
}

TEST_CASE("a call that is not kept is answered to its client, once") {
  client_calls calls;
  outbox out;
  auto wanted = call(4);
  wanted.kept = false;
  calls.add(wanted);
  CHECK(calls.next(out).has_value());
  calls.settle({client, 4}, rows(1), out);
  calls.settle({client, 4}, rows(1), out);
  CHECK(all<msg::answer>(out).size() == 1);
}

TEST_CASE("a call whose input failed does not start, and comes to the first cause") {
  client_calls calls;
  outbox out;
  calls.add(call(1, {{0, 7, 70}}));
  calls.claim({1, client}, out);
  calls.arrived({1, client, 0, fault{"s/2", "sample", std::nullopt, "out of memory"}});
  CHECK_FALSE(calls.next(out));
  REQUIRE(all<msg::answer>(out).size() == 1);
  CHECK(all<msg::answer>(out)[0].value.failure().cause == "out of memory");
}

TEST_CASE("an outcome that is no batch cannot be given as one") {
  client_calls calls;
  outbox out;
  calls.add(call(1, {{0, 7, 70}}));
  calls.claim({1, client}, out);
  calls.arrived({1, client, 0, collected{payload{twinkle::metrics{}}}});
  CHECK_FALSE(calls.next(out));
  CHECK(all<msg::answer>(out)[0].value.failure().cause.find("no batch") != std::string::npos);
}

TEST_CASE("a call that has not started can be withdrawn, and all can at the end") {
  client_calls calls;
  outbox out;
  calls.add(call(1, {{0, 7, 70}}));
  calls.add(call(2, {{0, 7, 71}}));
  calls.claim({2, client}, out);
  CHECK(calls.withdraw({client, 1}, {"", "", std::nullopt, "cancelled"}, out));
  CHECK_FALSE(calls.withdraw({client, 1}, {"", "", std::nullopt, "cancelled"}, out));
  calls.arrived({1, client, 0, rows(1)});  // too late: nothing happens
  calls.give_up({"", "", std::nullopt, "the run stops"}, out);
  REQUIRE(all<msg::answer>(out).size() == 1);
  CHECK(all<msg::answer>(out)[0].value.failure().cause == "the run stops");
  CHECK_FALSE(calls.next(out));
}

TEST_CASE("an outcome may come before the call that awaits it") {
  client_calls calls;
  outbox out;
  calls.arrived({1, client, 0, rows(3)});
  calls.add(call(1, {{0, 7, 70}}));
  const auto ready = calls.next(out);
  REQUIRE(ready);
  CHECK(rows_of(ready->how.input).rows() == 3);
}
