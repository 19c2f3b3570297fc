// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/message_wire.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "data/rows.hpp"
#include "data/wire_bytes.hpp"
#include "flow/desk.hpp"
#include "twinkle/base/error.hpp"

using namespace flow_test;
using rows::content_of;
using rows::numbered;
using twinkle::arguments;
using twinkle::batch;
using twinkle::buffer;
using twinkle::fault;
using twinkle::message;
using twinkle::metrics;
using twinkle::micro_batch;
using twinkle::payload;
using twinkle::value;
using twinkle::weights;
using twinkle::wire_form;
using twinkle::wire_kind;
using twinkle::wire_limits;
using twinkle::data::wire_writer;
namespace msg = twinkle::msg;
using plan = std::vector<micro_batch>;

namespace {

const auto endpoints = desk_endpoints();

// As a receiver puts it together: in one piece, and back.
template <class Message>
Message there_and_back(const Message& sent) {
  const wire_form form = to_wire(sent, endpoints);
  const auto bytes = twinkle::to_bytes(form);
  const message received = message_from_wire(twinkle::from_bytes(buffer::of(bytes)), endpoints);
  CHECK(twinkle::to_bytes(to_wire(received, endpoints)) == bytes);
  REQUIRE(std::holds_alternative<Message>(received));
  return std::get<Message>(received);
}

payload there_and_back(payload sent) { return there_and_back(msg::task{.input = std::move(sent)}).input; }

msg::task with_plan(std::size_t rows, plan micro_batches) {
  msg::task task{.endpoint = pass_at, .input = numbered(rows)};
  task.micro_batches = std::make_shared<const plan>(std::move(micro_batches));
  return task;
}

arguments choice(options given = {}, std::size_t rows = 2) {
  return {{numbered(rows), numbered(rows, 10)}, chosen{{}, std::move(given), {}, mood::loud}};
}

template <class T>
T returned(T sent) {
  const auto reply = there_and_back(msg::reply{0, 0, payload{value{std::move(sent)}}});
  return std::any_cast<T>(std::get<value>(reply.value.value()).content);
}

std::string complaint(const std::function<void()>& of) {
  try {
    of();
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}
std::string complaint(const message& sent, std::span<const twinkle::blueprint::endpoint_spec> known) {
  return complaint([&] { (void)message_from_wire(to_wire(sent, endpoints), known); });
}

// A message of these bytes behind the prologue.
std::string complaint(const std::vector<std::uint64_t>& numbers, std::size_t bytes_of_first) {
  wire_writer body{wire_kind::message, {}};
  for (std::size_t at = 0; at < numbers.size(); ++at)
    if (at < bytes_of_first)
      body.number(static_cast<std::uint8_t>(numbers[at]));
    else
      body.number(numbers[at]);
  return complaint([&] { (void)message_from_wire({std::move(body).written(), {}}, endpoints); });
}

// The task with one byte of its header, counted from behind the prologue, replaced.
std::string complaint(const msg::task& sent, std::size_t at, unsigned byte) {
  wire_form form = to_wire(sent, endpoints);
  std::vector<std::byte> header(form.header.data(), form.header.data() + form.header.bytes());
  header[24 + 8 * form.pieces.size() + at] = static_cast<std::byte>(byte);
  form.header = buffer::of(std::move(header));
  return complaint([&] { (void)message_from_wire(form, endpoints); });
}

}  // namespace

TEST_CASE("what a router and its workers say to each other crosses nodes, and nothing else") {
  for (const message& each : {message{msg::task{}}, message{msg::cancel{}}, message{msg::abandon{}},
                              message{msg::reply{0, 0, payload{}}}, message{msg::emitted{}}})
    CHECK(twinkle::crosses_nodes(each));
  for (const message& each : {message{msg::build{}}, message{msg::lost{}}, message{msg::rows{}}})
    CHECK_FALSE(twinkle::crosses_nodes(each));
}

TEST_CASE("a task arrives with all that it says") {
  using kind = msg::task::kind;
  const plan micro_batches{{{0, 2}, false, true}, {{1}, true, false}, {{}, true, false}};
  msg::task sent{0xfedcba9876543210, kind::run, find_at, -1, numbered(3)};
  sent.micro_batches = std::make_shared<const plan>(micro_batches);
  sent.streams = true;
  const msg::task task = there_and_back(sent);
  CHECK(task.call == 0xfedcba9876543210);
  CHECK(task.what == kind::run);
  CHECK(task.endpoint == find_at);
  CHECK(task.version == -1);
  CHECK(task.streams);
  CHECK(content_of(std::get<batch>(task.input)) == content_of(numbered(3)));
  REQUIRE(task.micro_batches != nullptr);
  CHECK(*task.micro_batches == micro_batches);
  CHECK_FALSE(task.gathered.has_value());
  sent.gathered = 17;
  CHECK(there_and_back(sent).gathered == 17);
  CHECK(there_and_back(msg::task{}).micro_batches == nullptr);
  CHECK(there_and_back(with_plan(0, {})).micro_batches->empty());
  for (const kind what : {kind::construct, kind::destroy, kind::gather})
    CHECK(there_and_back(msg::task{.what = what}).what == what);
}

TEST_CASE("a stage without endpoints constructs and destroys its workers") {
  using kind = msg::task::kind;
  for (const kind what : {kind::construct, kind::destroy})
    CHECK(complaint(msg::task{.what = what}, {}) == "nothing");
  CHECK(complaint(msg::task{}, {}) ==
        "wire: the message names endpoint 0 of a stage that has 0; every node must build the same graph");
}

TEST_CASE("cancels, abandons, replies and emitted rows arrive with all that they say") {
  const fault why{"grpo/sampler[dp=1]", "sample", twinkle::interval{8, 16}, "out of memory \xff"};
  const auto one = there_and_back(msg::cancel{7, why});
  CHECK(one.call == 7);
  CHECK(one.why == why);
  const auto all = there_and_back(msg::cancel{std::nullopt, {}});
  CHECK_FALSE(all.call.has_value());
  CHECK(all.why == fault{});
  (void)there_and_back(msg::abandon{});
  CHECK(there_and_back(msg::reply{3, 9, payload{}, std::chrono::milliseconds(5)}).ran == std::chrono::milliseconds(5));
  const auto failed = there_and_back(msg::reply{3, 9, why});
  CHECK(failed.worker == 3);
  CHECK(failed.call == 9);
  REQUIRE_FALSE(failed.value.has_value());
  CHECK(failed.value.failure() == why);
  const auto rows = there_and_back(msg::emitted{2, 5, numbered(2)});
  CHECK(rows.worker == 2);
  CHECK(rows.call == 5);
  CHECK(content_of(rows.rows) == content_of(numbered(2)));
}

TEST_CASE("every payload but a value arrives in a task and in a reply") {
  const weights tensors{{{"w", {twinkle::element::f32, {2}, buffer::of(std::vector<float>{1, -0.0F})}}}, 7};
  CHECK(std::holds_alternative<std::monostate>(there_and_back(payload{})));
  CHECK(std::holds_alternative<twinkle::end_of_source>(there_and_back(payload{twinkle::end_of_source{}})));
  CHECK(std::get<batch>(there_and_back(payload{batch{}})).names().empty());
  CHECK(std::get<metrics>(there_and_back(payload{metrics{}.mean("m", 0.5, 2).max("x", 3)})).find("x") == 3);
  CHECK(std::get<weights>(there_and_back(payload{tensors})).version() == 7);
  const auto reply = there_and_back(msg::reply{0, 0, payload{tensors}});
  CHECK(std::get<weights>(reply.value.value()).find("w")->values.bytes() == 8);
}

TEST_CASE("a batch arrives in its chunks, with tombstones and tags, and shares the memory that was sent") {
  const batch kept = numbered(4).drop(std::vector<std::size_t>{1}, "too long");
  const batch part = kept.expand(std::vector<std::size_t>{0, 0, 2});
  const batch sent = batch::concat({{part, part[{1, 2}]}}).with_tombstone({part.tags()[0], "lost"});
  const wire_form form = to_wire(msg::emitted{0, 0, sent}, endpoints);
  CHECK(form.pieces.size() == 12);
  const auto received = std::get<msg::emitted>(message_from_wire(form, endpoints)).rows;
  CHECK(content_of(received) == content_of(sent));
  const wire_form again = to_wire(received);
  for (std::size_t at = 0; at < form.pieces.size(); ++at)
    CHECK(again.pieces[at].data() == form.pieces[at].data());
}

TEST_CASE("arguments arrive: batches beside the values, each in its place") {
  const options given{0.25, {}, {{"a", {1}}}, {}, {true}, {5, "x", {}}};
  const wire_form form = to_wire(msg::task{.endpoint = choose_at, .input = choice(given)}, endpoints);
  CHECK(form.pieces.size() == 12);
  const auto task = there_and_back(msg::task{.endpoint = choose_at, .input = choice(given)});
  const auto& several = std::get<arguments>(task.input);
  REQUIRE(several.batches.size() == 2);
  CHECK(content_of(several.batches[0]) == content_of(numbered(2)));
  CHECK(content_of(several.batches[1]) == content_of(numbered(2, 10)));
  const auto others = std::any_cast<chosen>(several.others);
  CHECK(std::get<1>(others) == given);
  CHECK(std::get<3>(others) == mood::loud);
  (void)there_and_back(msg::task{.endpoint = name_at, .input = arguments{{}, std::tuple<>{}}});
  const std::tuple<std::vector<batch>, metrics, weights> searched{{numbered(1), batch{}}, metrics{}.sum("s", 1), {}};
  (void)there_and_back(msg::task{.endpoint = find_at, .input = arguments{{}, searched}});
}

TEST_CASE("values that control endpoints return arrive as what they are") {
  CHECK(returned(std::string("desk")) == "desk");
  CHECK(returned(-0.0) == 0);
  const options given{2, {}, {}, {{mood::calm, false}}, {}, {}};
  CHECK(returned(given) == given);
  CHECK(returned(tree{1, {{2, {}}}}) == tree{1, {{2, {}}}});
  CHECK(returned(std::vector<options>(2)).size() == 2);
  const found sent{{numbered(2), batch{}}, {{-1, weights{{}, 4}}, {5, std::nullopt}}};
  const found got = returned(sent);
  CHECK(content_of(got.first.at(0)) == content_of(numbered(2)));
  CHECK(got.second.at(-1)->version() == 4);
  CHECK_FALSE(got.second.at(5).has_value());
}

TEST_CASE("what an endpoint does not take or return is not sent") {
  const auto sent = [](const message& content) { return complaint(content, endpoints); };
  const std::string wrong = "wire: a call carries other arguments than its endpoint takes, and cannot be sent";
  CHECK(sent(msg::task{.endpoint = name_at, .input = choice()}) == wrong);
  CHECK(sent(msg::task{.endpoint = pass_at, .input = choice()}) == wrong);
  CHECK(sent(msg::task{.endpoint = 99, .input = choice()}) == wrong);
  CHECK(sent(msg::reply{0, 0, payload{choice()}}) == wrong);
  arguments one_less = choice();
  one_less.batches.pop_back();
  CHECK(sent(msg::task{.endpoint = choose_at, .input = one_less}) == wrong);
  const std::string unknown = "wire: a value is of a type that no endpoint of the stage returns, and cannot be sent";
  CHECK(sent(msg::reply{0, 0, payload{value{1.0F}}}) == unknown);
  CHECK(sent(msg::reply{0, 0, payload{value{}}}) == unknown);
}

TEST_CASE("kinds, endpoints and flags that there are not are refused") {
  CHECK(complaint({0}, 1) == "wire: there is no message of kind 0");
  CHECK(complaint({6}, 1) == "wire: there is no message of kind 6");
  const msg::task task{.endpoint = choose_at, .input = choice()};
  CHECK(complaint(task, 9, 4) == "wire: there is no task of kind 4");
  CHECK(complaint(task, 10, 9) ==
        "wire: the message names endpoint 9 of a stage that has 9; every node must build the same graph");
  CHECK(complaint(task, 10, pass_at) == "wire: there are arguments for what takes none");
  CHECK(complaint(task, 10, name_at) == "wire: 2 batches for endpoint 'name', which takes 0");
  CHECK(complaint(task, 26, 2) == "wire: a flag in the header is 2; it must be 0 or 1");
  CHECK(complaint(task, 27, 7) == "wire: there is no payload of kind 7");
  const msg::task plain{.endpoint = pass_at, .input = value{std::string("x")}};
  CHECK(complaint(plain, 28, pass_at) == "wire: a value is said to be of endpoint 'pass', which returns none");
  CHECK(complaint(plain, 28, 9) ==
        "wire: the message names endpoint 9 of a stage that has 9; every node must build the same graph");
}

TEST_CASE("batches of one call that have other rows are refused") {
  arguments uneven = choice();
  uneven.batches[1] = numbered(1);
  CHECK(complaint(msg::task{.endpoint = choose_at, .input = uneven}, endpoints) ==
        "wire: the batches of a call have 2 and 1 rows; they must have the same");
}

TEST_CASE("micro-batches of rows that are not there are refused") {
  const auto refused = [](const msg::task& task) { return complaint(task, endpoints); };
  CHECK(refused(with_plan(2, {{{0}}, {{1}}})) == "nothing");
  CHECK(refused(with_plan(2, {{{0}}, {{2}}})) ==
        "wire: a micro-batch names row 2 of 2; they must be there, and ascend");
  CHECK(refused(with_plan(2, {{{1, 1}}})) == "wire: a micro-batch names row 1 of 2; they must be there, and ascend");
  msg::task without = with_plan(2, {{{0}}});
  without.input = payload{};
  CHECK(refused(without) == "wire: a micro-batch names row 0 of 0; they must be there, and ascend");
}

TEST_CASE("a fault of rows that end before they begin is refused") {
  CHECK(complaint(msg::cancel{std::nullopt, {"", "", twinkle::interval{2, 1}, ""}}, endpoints) ==
        "wire: the rows of a fault are [2,1)");
}

TEST_CASE("another thing's header, pieces that lack, and what follows are refused") {
  const auto refused = [](const wire_form& form, const wire_limits& limits = {}) {
    return complaint([&] { (void)message_from_wire(form, endpoints, limits); });
  };
  wire_form form = to_wire(msg::emitted{0, 0, numbered(3)}, endpoints);
  CHECK(refused(form, {.rows_max = 2}) == "wire: 3 rows; at most 2 are taken");
  CHECK(refused(form, {.pieces_max = 5}) == "wire: 6 pieces; at most 5 are taken");
  CHECK(refused(form, {.header_bytes_max = 10}) ==
        "wire: " + std::to_string(form.header.bytes()) + " bytes of header; at most 10 are taken");
  CHECK(refused(to_wire(numbered(1))) == "wire: the header is of a batch, where a message must be");
  CHECK(complaint([&] { (void)twinkle::from_wire<batch>(form); }) ==
        "wire: the header is of a message, where a batch must be");
  form.pieces.pop_back();
  CHECK(refused(form) == "wire: the header names 6 pieces, but 5 are there");
  CHECK(complaint({3, 0}, 2) == "wire: 1 bytes follow behind the end of the header");
  wire_writer body{wire_kind::message, std::vector<buffer>{buffer{}}};
  body.number(std::uint8_t{3});
  CHECK(refused({std::move(body).written(), {buffer{}}}) == "wire: 1 pieces belong to nothing");
}
