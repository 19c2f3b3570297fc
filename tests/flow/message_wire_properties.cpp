// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <numeric>

#include "data/rows.hpp"
#include "flow/desk.hpp"
#include "for_all.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/message_wire.hpp"

using namespace flow_test;
using twinkle::batch;
using twinkle::buffer;
using twinkle::message;
using twinkle::payload;
namespace msg = twinkle::msg;
using bytes = std::vector<std::byte>;

namespace {

const auto endpoints = desk_endpoints();

bytes bytes_of(const message& sent) { return twinkle::to_bytes(to_wire(sent, endpoints)); }

// Of an exact copy on the heap: one byte too far is seen.
message read(const bytes& sent) { return message_from_wire(twinkle::from_bytes(buffer::of(sent)), endpoints); }

// Reads every number there is, so that the sanitizers see a column that leaves its memory.
void read_all(const batch& from) {
  std::vector<std::size_t> all(from.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  (void)from.take(all);
}

// Whether it is a message; then one that can be read and sent on.
bool is_message(const bytes& sent) {
  try {
    const message received = read(sent);
    if (const auto* task = std::get_if<msg::task>(&received))
      if (const batch* rows = rows_in(task->input))
        read_all(*rows);
    if (const auto* emitted = std::get_if<msg::emitted>(&received))
      read_all(emitted->rows);
    const bytes again = bytes_of(received);
    CHECK(bytes_of(read(again)) == again);
    return true;
  } catch (const twinkle::error&) {
    return false;
  }
}

double any_double() { return std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>()); }

options any_options() {
  options made;
  made.temperature = any_double();
  if (*rc::gen::arbitrary<bool>())
    made.top = std::optional<std::int8_t>(*rc::gen::arbitrary<std::int8_t>());
  made.bias = *rc::gen::arbitrary<std::map<std::string, std::vector<float>>>();
  for (const auto& [number, flag] : *rc::gen::arbitrary<std::vector<std::pair<std::int16_t, bool>>>())
    made.moods.emplace_back(mood{number}, flag);
  made.flags = *rc::gen::arbitrary<std::vector<bool>>();
  std::get<1>(made.mark) = *rc::gen::arbitrary<std::string>();
  return made;
}

twinkle::fault any_fault() {
  const auto text = [] { return *rc::gen::arbitrary<std::string>(); };
  twinkle::fault why{text(), text(), std::nullopt, text()};
  if (*rc::gen::arbitrary<bool>())
    why.rows = twinkle::interval{1, 1 + *rc::gen::inRange<std::size_t>(0, 9)};
  return why;
}

payload any_payload(std::size_t endpoint) {
  const batch rows = rows::any_batch("rows");
  if (endpoint == choose_at)
    return twinkle::arguments{{rows, rows}, chosen{{}, any_options(), {}, mood::calm}};
  if (endpoint == measure_at)
    return twinkle::arguments{{}, std::tuple{std::vector{any_double(), any_double()}}};
  return rows;
}

message any_message() {
  const auto call = *rc::gen::arbitrary<std::uint64_t>();
  const std::size_t worker = *rc::gen::inRange<std::size_t>(0, 9);
  switch (*rc::gen::inRange(0, 5)) {
    case 0: {
      const auto endpoint = *rc::gen::element(pass_at, choose_at, measure_at);
      const auto version = *rc::gen::arbitrary<std::int64_t>();
      msg::task task{call, msg::task::kind::run, endpoint, version, any_payload(endpoint)};
      const batch* rows = rows_in(task.input);
      if (rows != nullptr && !rows->empty())
        task.micro_batches = std::make_shared<const std::vector<twinkle::micro_batch>>(
            std::vector<twinkle::micro_batch>{{{rows->rows() - 1}, *rc::gen::arbitrary<bool>(), true}});
      return task;
    }
    case 1: return msg::cancel{call, any_fault()};
    case 2: return msg::emitted{worker, call, rows::any_batch("emitted")};
    case 3: return msg::reply{worker, call, any_fault()};
    default: return msg::reply{worker, call, payload{twinkle::value{any_options()}}};
  }
}

std::vector<message> small_messages() {
  const batch part = rows::numbered(2).drop(std::vector<std::size_t>{1}, "bad");
  const batch rows = batch::concat({{part, part}});
  options given{0.5, std::optional<std::int8_t>{1}, {{"a", {1}}, {"b", {}}}, {{mood::loud, true}}, {true}, {}};
  msg::task task{1, msg::task::kind::run, choose_at, 0,
                 twinkle::arguments{{part, part}, chosen{{}, given, {}, mood::calm}}};
  task.micro_batches = std::make_shared<const std::vector<twinkle::micro_batch>>(1, twinkle::micro_batch{{0}});
  return {task,
          msg::emitted{1, 2, rows},
          msg::cancel{3, {"here", "sample", twinkle::interval{0, 1}, "it broke"}},
          msg::reply{1, 2, payload{twinkle::value{tree{1, {{2, {}}, {3, {{4, {}}}}}}}}},
          msg::reply{1, 2, payload{twinkle::value{found{{part}, {{1, twinkle::weights{{}, 1}}}}}}}};
}

}  // namespace

TEST_CASE("any message arrives as it was sent, bit by bit") {
  for_all([] {
    const bytes sent = bytes_of(any_message());
    RC_ASSERT(bytes_of(read(sent)) == sent);
  });
}

TEST_CASE("values of any numbers and texts arrive by value") {
  for_all([] {
    const options sent = any_options();
    const auto received = std::get<msg::reply>(read(bytes_of(msg::reply{0, 0, payload{twinkle::value{sent}}})));
    const auto got = std::any_cast<options>(std::get<twinkle::value>(received.value.value()).content);
    RC_ASSERT(std::bit_cast<std::uint64_t>(got.temperature) == std::bit_cast<std::uint64_t>(sent.temperature));
    RC_ASSERT(got.top == sent.top);
    RC_ASSERT(got.bias == sent.bias);
    RC_ASSERT(got.moods == sent.moods);
    RC_ASSERT(got.flags == sent.flags);
    RC_ASSERT(got.mark == sent.mark);
  });
}

TEST_CASE("a control message that is cut off anywhere is refused") {
  for (const message& each : small_messages()) {
    const bytes whole = bytes_of(each);
    REQUIRE(is_message(whole));
    for (std::size_t length = 0; length < whole.size(); ++length)
      CHECK_FALSE(is_message({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}));
  }
}

TEST_CASE("a control message with one wrong byte is refused, or is a message") {
  std::size_t refused = 0;
  for (const message& each : small_messages()) {
    const bytes whole = bytes_of(each);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const unsigned flip : {0x01U, 0x02U, 0x04U, 0x80U, 0xffU}) {
        bytes wrong = whole;
        wrong[at] ^= static_cast<std::byte>(flip);
        refused += is_message(wrong) ? 0 : 1;
      }
  }
  CHECK(refused > 1000);
}

TEST_CASE("a header of noise behind a good start is refused, or is a message") {
  for_all([] {
    bytes wrong = bytes_of(*rc::gen::elementOf(small_messages()));
    const auto noise = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
    const auto first = *rc::gen::inRange<std::size_t>(24, wrong.size());
    for (std::size_t at = 0; at < noise.size() && first + at < wrong.size(); ++at)
      wrong[first + at] = static_cast<std::byte>(noise[at]);
    (void)is_message(wrong);
  });
}
