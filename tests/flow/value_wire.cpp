// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/value_wire.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "data/rows.hpp"
#include "data/wire_bytes.hpp"
#include "flow/desk.hpp"
#include "twinkle/base/error.hpp"

using flow_test::mood;
using flow_test::nothing;
using flow_test::options;
using flow_test::tree;
using twinkle::batch;
using twinkle::buffer;
using twinkle::metrics;
using twinkle::value_reader;
using twinkle::value_writer;
using twinkle::weights;
using twinkle::wire_form;
using twinkle::wire_kind;
using twinkle::wire_limits;
using twinkle::data::wire_parts;
using twinkle::data::wire_writer;

namespace {

wire_form whole(wire_writer body, std::vector<buffer> pieces = {}) {
  wire_writer out{wire_kind::message, pieces};
  const buffer bytes = std::move(body).written();
  out.bytes({bytes.data(), bytes.bytes()});
  return {std::move(out).written(), std::move(pieces)};
}

template <class T>
wire_form sent(const T& value) {
  wire_writer body;
  std::vector<buffer> pieces;
  value_writer out{body, pieces};
  out.put(value);
  return whole(std::move(body), std::move(pieces));
}

template <class T>
T received(const wire_form& form, const wire_limits& limits = {}) {
  wire_parts from{form, wire_kind::message, limits};
  value_reader in{from, limits};
  T value{};
  in.get(value);
  from.done();
  return value;
}

template <class T>
T there_and_back(const T& value) {
  return received<T>(sent(value));
}

template <class T>
std::string complaint(const wire_form& form, const wire_limits& limits = {}) {
  try {
    (void)received<T>(form, limits);
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

std::size_t body_bytes(const wire_form& form) { return form.header.bytes() - whole({}).header.bytes(); }

tree chain(std::size_t depth) {
  tree made;
  for (std::size_t at = 1; at < depth; ++at) {
    tree above;
    above.below.push_back(std::move(made));
    made = std::move(above);
  }
  return made;
}

struct flat {
  float x = 0;
};
template <class Visitor>
void describe(Visitor& visit, flat& of) {
  visit(of.x);
}
enum unfixed { here, there };
enum fixed : std::uint8_t {};

static_assert(twinkle::wireable<std::map<mood, std::vector<flat>>> && twinkle::wireable<tree> &&
              twinkle::wireable<fixed> && twinkle::wireable<char8_t>);
static_assert(!twinkle::wireable<unfixed> && !twinkle::wireable<long double> && !twinkle::wireable<const int> &&
              !twinkle::wireable<std::vector<int*>>);

}  // namespace

TEST_CASE("numbers, texts and enums arrive as they were sent, in as many bytes as they have") {
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()})
    CHECK(there_and_back(number) == number);
  CHECK(there_and_back(std::numeric_limits<std::uint64_t>::max()) == std::numeric_limits<std::uint64_t>::max());
  CHECK(there_and_back(char{'\xff'}) == '\xff');
  CHECK(there_and_back(char32_t{0x1F600}) == 0x1F600);
  CHECK(there_and_back(true));
  CHECK_FALSE(there_and_back(false));
  CHECK(there_and_back(mood::calm) == mood::calm);
  CHECK(there_and_back(std::string("a\0\xff", 3)) == std::string("a\0\xff", 3));
  CHECK(body_bytes(sent(std::int16_t{-2})) == 2);
  CHECK(sent(std::uint32_t{0x01020304}).header.data()[sent(std::uint32_t{}).header.bytes() - 1] == std::byte{1});
}

TEST_CASE("floating point numbers arrive bit by bit") {
  using limits = std::numeric_limits<double>;
  for (const double number : {0.0, -0.0, limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                              std::bit_cast<double>(std::uint64_t{0xfff0000000000123}), limits::denorm_min(),
                              limits::max(), limits::lowest()}) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    CHECK(std::bit_cast<std::uint64_t>(there_and_back(std::vector{number, 1.0}).front()) == bits);
    CHECK(std::bit_cast<std::uint64_t>(there_and_back(std::optional{number}).value()) == bits);
  }
}

TEST_CASE("optionals, vectors, maps, pairs and tuples arrive, in one another and empty") {
  using deep = std::map<std::pair<int, std::string>, std::optional<std::vector<std::tuple<mood, std::vector<bool>>>>>;
  const deep value{{{1, ""}, std::nullopt},
                   {{1, "b"}, {{}}},
                   {{2, "a"}, {{{mood::loud, {true, false, true}}, {mood::calm, {}}}}}};
  CHECK(there_and_back(value) == value);
  CHECK(there_and_back(deep{}).empty());
  using twice = std::optional<std::optional<int>>;
  for (const twice& each : {twice{}, twice{std::optional<int>{}}, twice{5}})
    CHECK(there_and_back(each) == each);
}

TEST_CASE("a described type arrives member by member, and may hold itself") {
  options value{-0.5,
                std::optional<std::int8_t>{-4}, {{"a", {1, 2}}, {"", {}}}, {{mood::loud, true}}, {true, false}, {}};
  std::get<1>(value.mark) = "marked";
  CHECK(there_and_back(value) == value);
  CHECK(there_and_back(options{}) == options{});
  const tree grown{1, {{2, {{3, {}}, {4, {}}}}, {5, {}}}};
  CHECK(there_and_back(grown) == grown);
  CHECK(there_and_back(std::vector<nothing>(3)).size() == 3);
}

TEST_CASE("batches, metrics and weights travel inside of values, and no element of them is copied") {
  const batch rows = rows::numbered(3);
  const weights tensors{{{"w", {twinkle::element::f32, {2}, buffer::of(std::vector<float>{1, 2})}}}, 7};
  using mixed = std::tuple<std::vector<batch>, std::optional<weights>, std::map<int, metrics>>;
  const wire_form form = sent(mixed{{rows, batch{}, rows[{1, 2}]}, tensors, {{3, metrics{}.mean("m", 0.5, 2)}}});
  REQUIRE(form.pieces.size() == 6 + 6 + 1);
  CHECK(form.pieces[0].as<float>() == rows[rows::score].values().data());
  const auto [batches, snapshot, numbers] = received<mixed>(form);
  REQUIRE(batches.size() == 3);
  CHECK(rows::content_of(batches[0]) == rows::content_of(rows));
  CHECK(batches[0][rows::score].values().data() == rows[rows::score].values().data());
  CHECK(batches[1].names().empty());
  CHECK(rows::content_of(batches[2]) == rows::content_of(rows[{1, 2}]));
  REQUIRE(snapshot.has_value());
  CHECK(snapshot->version() == 7);
  CHECK(snapshot->find("w")->values.data() == tensors.find("w")->values.data());
  CHECK(numbers.at(3).find("m") == 0.5);
}

TEST_CASE("a value that takes more memory than its bytes is refused before it is there") {
  const wire_form empty = sent(std::vector<std::optional<options>>(1000));
  CHECK(body_bytes(empty) == 8 + 1000);
  CHECK(received<std::vector<std::optional<options>>>(empty).size() == 1000);
  CHECK(complaint<std::vector<std::optional<options>>>(empty, {.value_bytes_max = 1000 * sizeof(options)}) ==
        "wire: the values of a message take more than the " + std::to_string(1000 * sizeof(options)) +
            " bytes of memory that are given to them");
  wire_writer many;
  many.number(std::uint64_t{1} << 60);
  CHECK(complaint<std::vector<nothing>>(whole(std::move(many))) ==
        "wire: 1152921504606846976 things of 1 bytes or more must follow in the header, but 0 bytes are left; it is "
        "cut off or damaged");
}

TEST_CASE("what lies too deep is neither sent nor read") {
  CHECK(there_and_back(chain(256)) == chain(256));
  CHECK_THROWS_WITH_AS(sent(chain(257)),
                       "wire: a value lies 257 described types or tuples deep; 256 are the most", twinkle::error);
  wire_writer body;
  for (int at = 0; at < 300; ++at) {
    body.number(std::uint32_t{7});
    body.count(1);
  }
  body.bytes(std::vector<std::byte>(1000));
  CHECK(complaint<tree>(whole(std::move(body))) ==
        "wire: a value lies 257 described types or tuples deep; 256 are the most");
}

TEST_CASE("flags, keys and members that cannot be are refused") {
  const auto of_bytes = [](std::initializer_list<int> bytes) {
    wire_writer body;
    for (const int each : bytes)
      body.number(static_cast<std::uint8_t>(each));
    return whole(std::move(body));
  };
  CHECK(complaint<bool>(of_bytes({2})) == "wire: a flag in the header is 2; it must be 0 or 1");
  CHECK(complaint<std::optional<bool>>(of_bytes({3})) == "wire: a flag in the header is 3; it must be 0 or 1");
  using small = std::map<std::uint8_t, std::uint8_t>;
  CHECK(received<small>(of_bytes({2, 0, 0, 0, 0, 0, 0, 0, 1, 9, 2, 9})) == small{{1, 9}, {2, 9}});
  for (const int second : {0, 1})
    CHECK(complaint<small>(of_bytes({2, 0, 0, 0, 0, 0, 0, 0, 1, 9, second, 9})) ==
          "wire: the keys of a map do not ascend");
  CHECK(complaint<std::tuple<>>(of_bytes({1})) ==
        "wire: a value of 1 members where one of 0 is read; run the same binary on every node");
  CHECK(complaint<int>(of_bytes({1, 2, 3})) ==
        "wire: 4 bytes must follow in the header, but 3 are left; it is cut off or damaged");
  CHECK(complaint<int>(of_bytes({1, 2, 3, 4, 5})) == "wire: 1 bytes follow behind the end of the header");
}
