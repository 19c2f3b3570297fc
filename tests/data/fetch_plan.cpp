// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/fetch_plan.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "data/rows.hpp"
#include "for_all.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/data/wire.hpp"

using rows::content_of;
using rows::numbered;
using twinkle::batch;
using twinkle::buffer;
using twinkle::far_bytes;
using twinkle::fetch_plan;
using twinkle::interval;

namespace {

/// What a node keeps, and who still needs it elsewhere.
struct node {
  std::size_t number = 0;
  std::map<std::uint64_t, buffer> kept = {};
  std::map<std::uint64_t, std::weak_ptr<const far_bytes>> owned = {};  // on the other side

  buffer keep(const buffer& bytes) {
    const std::uint64_t key = kept.size() + 1;
    kept[key] = bytes;
    return {std::make_shared<const far_bytes>(number, key), 0, bytes.bytes()};
  }

  /// What arrives elsewhere: an owner for each key.
  std::shared_ptr<const far_bytes> own(far_bytes where) {
    std::shared_ptr<const far_bytes> owner = owned[where.key].lock();
    if (!owner)
      owned[where.key] = owner = std::make_shared<const far_bytes>(where);
    return owner;
  }

  [[nodiscard]] std::size_t needed() const {
    std::size_t count = 0;
    for (const auto& [key, owner] : owned)
      count += owner.expired() ? 0 : 1;
    return count;
  }

  void fetch(const fetch_plan& plan) const {
    for (const fetch_plan::piece& each : plan.pieces()) {
      if (each.from.far()->node != number)
        continue;
      const buffer part = kept.at(each.from.far()->key).part(each.from.first(), each.into.size());
      std::memcpy(each.into.data(), part.data(), part.bytes());
    }
  }
};

std::optional<buffer> nothing_is_here(const buffer&) { return std::nullopt; }

batch sent(node& from, const batch& rows) {
  const auto left = leave_behind(rows, [&](const buffer& bytes) { return from.keep(bytes); });
  const std::vector<std::byte> bytes = to_bytes(twinkle::to_wire(left));
  return twinkle::from_wire<batch>(
      twinkle::from_bytes(buffer::of(bytes), {}, [&](far_bytes where) { return from.own(where); }));
}

batch fetched(const node& from, const batch& rows) {
  fetch_plan plan{rows, nothing_is_here};
  from.fetch(plan);
  return plan.rows();
}

std::vector<float> numbers_of(const twinkle::tensor& of) {
  const float* first = of.values.as<float>();
  return {first, first + of.values.bytes() / sizeof(float)};
}

bool same(const twinkle::weights& a, const twinkle::weights& b) {
  return std::equal(a.tensors().begin(), a.tensors().end(), b.tensors().begin(), b.tensors().end(),
                    [](const twinkle::named_tensor& x, const twinkle::named_tensor& y) {
                      return x.name == y.name && x.value.shape == y.value.shape && x.value.part == y.value.part &&
                             numbers_of(x.value) == numbers_of(y.value);
                    });
}

/// A tensor in shards, some of them with replicas, on this node and on two others; and one that all have.
struct scattered {
  std::vector<std::size_t> extents = *rc::gen::container<std::vector<std::size_t>>(3, rc::gen::inRange<std::size_t>(1, 5));
  std::array<node, 2> makers{node{1}, node{2}};
  std::vector<twinkle::weights> here;
  std::vector<twinkle::weights> described;

  scattered() {
    const auto along = *rc::gen::inRange<std::size_t>(0, 3);
    const std::size_t whole = extents[along];
    const auto shards = *rc::gen::inRange<std::size_t>(1, whole + 2);  // one more may be empty
    float next = 0;
    for (std::size_t part = 0; part < shards; ++part) {
      const interval held{part * whole / shards, (part + 1) * whole / shards};
      std::vector<std::size_t> shape = extents;
      shape[along] = held.size();
      std::vector<float> values(shape[0] * shape[1] * shape[2]);
      std::iota(values.begin(), values.end(), next);
      next += 1000;
      for (int replica = *rc::gen::inRange(0, 2); replica >= 0; --replica)
        put(twinkle::weights{{{"w", {twinkle::element::f32, shape, buffer::of(values), {{along, held, whole}}}},
              {"same", {twinkle::element::f32, {1}, buffer::of(std::vector<float>{7})}}}});
    }
  }

  void put(const twinkle::weights& made) {
    here.push_back(made);
    const auto where = *rc::gen::inRange<std::size_t>(0, 3);
    if (where == 0) {  // on this node
      described.push_back(made);
      return;
    }
    node& maker = makers[where - 1];
    const twinkle::weights left = leave_behind(made, [&](const buffer& bytes) { return maker.keep(bytes); });
    described.push_back(twinkle::from_wire<twinkle::weights>(twinkle::from_bytes(
        buffer::of(to_bytes(twinkle::to_wire(left))), {}, [&](far_bytes where) { return maker.own(where); })));
  }

  /// A part of the whole tensor, by the meaning of row-major order.
  [[nodiscard]] std::vector<float> cut(const twinkle::tensor& of, const twinkle::shard& wanted) const {
    std::vector<float> found;
    std::array<std::size_t, 3> at{};
    const std::vector<float> all = numbers_of(of);
    std::size_t index = 0;
    for (at[0] = 0; at[0] < extents[0]; ++at[0])
      for (at[1] = 0; at[1] < extents[1]; ++at[1])
        for (at[2] = 0; at[2] < extents[2]; ++at[2], ++index)
          if (wanted.held.contains(at[wanted.dimension]))
            found.push_back(all[index]);
    return found;
  }
};

}  // namespace

TEST_CASE("rows that were left behind are fetched as they were") {
  node maker{3};
  const batch made = batch::concat({{numbered(5), numbered(4)}});
  const batch description = sent(maker, made);
  CHECK(is_far(description));
  CHECK_FALSE(is_far(made));
  CHECK(description.rows() == 9);
  CHECK(description.lengths("line") == made.lengths("line"));
  const batch back = fetched(maker, description);
  CHECK_FALSE(is_far(back));
  CHECK(content_of(back) == content_of(made));
}

TEST_CASE("what lies elsewhere cannot be read, and says what to do") {
  node maker{1};
  const batch description = sent(maker, numbered(3));
  CHECK_THROWS_WITH_AS(description[rows::score],
                       "column 'score' lies on the node where a stage made it, and cannot be read between stages; "
                       "declare its key with twinkle::routed, or read it in a stage",
                       twinkle::error);
}

TEST_CASE("a routed column goes along") {
  const twinkle::column<float> reward = twinkle::routed(twinkle::column<float>{"reward"});
  node maker{1};
  const batch description = sent(maker, numbered(3).with(reward, {1, 2, 3}));
  CHECK(description[reward][2] == 3.0f);
  CHECK(is_far(description));
}

TEST_CASE("slices, orders and mixtures of rows from several nodes move no element until they are fetched") {
  for_all([](std::vector<std::uint8_t> picks) {
    std::vector<node> makers{{0}, {1}, {2}};
    std::vector<batch> parts;
    std::vector<batch> descriptions;
    for (node& each : makers) {
      parts.push_back(numbered(4 + each.number));
      descriptions.push_back(each.number == 0 ? parts.back() : sent(each, parts.back()));
    }
    const batch all = batch::concat(parts);
    const batch far = batch::concat(descriptions);
    std::vector<std::size_t> order;
    for (const std::uint8_t pick : picks)
      order.push_back(pick % all.rows());
    const interval half{order.size() / 4, order.size()};
    const batch wanted = all.take(order)[half];
    fetch_plan plan{far.take(order)[half], nothing_is_here};
    for (const node& each : makers)
      each.fetch(plan);
    RC_ASSERT(content_of(plan.rows()) == content_of(wanted));
  });
}

TEST_CASE("no byte is fetched that is not of the rows") {
  node maker{1};
  const batch description = sent(maker, numbered(100));
  fetch_plan plan{description[{10, 20}], nothing_is_here};
  std::size_t bytes = 0;
  for (const fetch_plan::piece& each : plan.pieces())
    bytes += each.into.size();
  CHECK(bytes == bytes_to_leave(numbered(100)[{10, 20}]));
}

TEST_CASE("rows that are here can be read, in pieces too, though others of their column lie elsewhere") {
  node maker{1};
  const batch all = batch::concat(std::vector<batch>{numbered(4), sent(maker, numbered(2))});
  const batch here = all.take(std::vector<std::size_t>{4, 3, 0, 1, 3})[{1, 5}];
  CHECK_FALSE(is_far(here));
  CHECK(content_of(here) == content_of(numbered(4).take(std::vector<std::size_t>{3, 0, 1, 3})));
}

TEST_CASE("each column arrives in one block") {
  node maker{1};
  const batch description = sent(maker, numbered(10));
  const std::vector<std::size_t> order{9, 3, 4, 0};
  const batch back = fetched(maker, description.take(order));
  CHECK(twinkle::to_wire(back).pieces.size() == twinkle::to_wire(numbered(4)).pieces.size());
}

TEST_CASE("what turns out to be here is not copied") {
  node maker{1};
  const batch made = numbered(10);
  fetch_plan plan{sent(maker, made)[{2, 5}], [&](const buffer& from) {
                          return maker.kept.at(from.far()->key).part(from.first(), from.bytes());
                        }};
  CHECK(plan.pieces().empty());
  CHECK(content_of(plan.rows()) == content_of(made[{2, 5}]));
  CHECK(&plan.rows()[rows::score][0] == &made[rows::score][2]);
}

TEST_CASE("bytes are needed until the last batch that shows them is gone") {
  node maker{1};
  std::optional<batch> part = sent(maker, numbered(10))[{0, 1}];
  CHECK(maker.needed() > 0);
  part.reset();
  CHECK(maker.needed() == 0);
}

TEST_CASE("weights are left behind and fetched as batches are") {
  node maker{2};
  twinkle::weights made{{{"a", {twinkle::element::f32, {2, 2}, buffer::of(std::vector<float>{1, 2, 3, 4})}},
                         {"none", {twinkle::element::f32, {0}, {}}}},
                        7};
  const twinkle::weights left = leave_behind(made, [&](const buffer& bytes) { return maker.keep(bytes); });
  const auto arrived = twinkle::from_wire<twinkle::weights>(twinkle::from_bytes(
      buffer::of(to_bytes(twinkle::to_wire(left))), {}, [&](far_bytes where) { return maker.own(where); }));
  CHECK(is_far(arrived));
  fetch_plan plan{arrived, nothing_is_here};
  maker.fetch(plan);
  CHECK_FALSE(is_far(plan.tensors()));
  CHECK(plan.tensors().version() == 7);
  CHECK(plan.tensors().find("a")->values.as<float>()[3] == 4);
}

TEST_CASE("shards on several nodes are not put together before they are fetched, and then are what they would have been") {
  for_all([] {
    const scattered made;
    fetch_plan plan{assemble(made.described).at_version(3), nothing_is_here};
    for (const node& maker : made.makers)
      maker.fetch(plan);
    const twinkle::weights arrived = plan.tensors();
    RC_ASSERT(arrived.version() == 3U);
    RC_ASSERT(same(arrived, assemble(made.here)));
  });
}

TEST_CASE("of tensors, whatever shards and replicas lie where, what is wanted is fetched, and no other byte") {
  for_all([] {
    const scattered made;
    const auto dimension = *rc::gen::inRange<std::size_t>(0, 3);
    const std::size_t whole = made.extents[dimension];
    const auto first = *rc::gen::inRange<std::size_t>(0, whole + 1);
    const twinkle::shard wanted{dimension, {first, *rc::gen::inRange<std::size_t>(first, whole + 1)}, whole};
    const twinkle::shard_rule rule = [&](std::string_view name, std::span<const std::size_t> shape) {
      CHECK(shape.size() == (name == "w" ? 3 : 1));
      return name == "w" ? std::optional(wanted) : std::nullopt;
    };
    // What is wanted, element by element.
    const twinkle::weights all = assemble(made.here);
    const std::vector<float> expected = made.cut(*all.find("w"), wanted);
    const twinkle::weights cut = narrow(all, rule);
    RC_ASSERT(numbers_of(*cut.find("w")) == expected);
    RC_ASSERT(cut.find("w")->part == wanted);
    RC_ASSERT(same(narrow(cut, rule), cut));

    const auto turn = *rc::gen::inRange<std::size_t>(0, 3);
    fetch_plan plan{assemble(made.described), nothing_is_here, rule, turn};
    std::size_t bytes = 0;
    for (const fetch_plan::piece& each : plan.pieces())
      bytes += each.into.size();
    RC_ASSERT(bytes <= (expected.size() + 1) * sizeof(float));
    for (const node& maker : made.makers)
      maker.fetch(plan);
    RC_ASSERT(same(plan.tensors(), cut));
  });
}

TEST_CASE("a part of a tensor that is one run of bytes is not copied") {
  const twinkle::weights all{{{"w", {twinkle::element::f32, {4, 2}, buffer::of(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7})}}}};
  const auto part = [&](std::size_t dimension, interval held) {
    const twinkle::weights cut = narrow(all, [&](std::string_view, std::span<const std::size_t> shape) {
      return std::optional(twinkle::shard{dimension, held, shape[dimension]});
    });
    return *cut.find("w");
  };
  const float* values = all.find("w")->values.as<float>();
  CHECK(part(0, {1, 3}).values.as<float>() == values + 2);
  CHECK(part(0, {1, 3}).shape == std::vector<std::size_t>{2, 2});
  CHECK(part(1, {0, 2}).values.as<float>() == values);
  CHECK(numbers_of(part(1, {1, 2})) == std::vector<float>{1, 3, 5, 7});
  CHECK(part(0, {4, 4}).values.bytes() == 0);
  CHECK_THROWS_WITH_AS((void)part(0, {1, 5}), "weights: [1,5) of 4 along dimension 0 is wanted of tensor 'w', whose shape is "
                                              "[4,2]", twinkle::error);
  CHECK_THROWS_WITH_AS((void)narrow(all, [](std::string_view, std::span<const std::size_t>) {
                         return std::optional(twinkle::shard{2, {0, 0}, 0});
                       }), "weights: [0,0) of 0 along dimension 2 is wanted of tensor 'w', whose shape is [4,2]",
                       twinkle::error);
}

TEST_CASE("shards that are not all there stay shards, and what is wanted of those that lack is refused") {
  node maker{1};
  const auto part = [&](std::size_t dimension, interval held) {
    std::vector<std::size_t> shape{4, 4};
    shape[dimension] = held.size();
    return twinkle::named_tensor{"w", {twinkle::element::f32, shape, buffer::of(std::vector<float>(held.size() * 4, 1.0F)),
                                       twinkle::shard{dimension, held, 4}}};
  };
  const auto far = [&](std::vector<twinkle::named_tensor> shards) {
    return leave_behind(twinkle::weights{std::move(shards)}, [&](const buffer& bytes) { return maker.keep(bytes); });
  };
  for (const std::size_t dimension : {std::size_t{0}, std::size_t{1}}) {
    for (const auto& made : {far({part(dimension, {2, 4})}), far({part(dimension, {0, 1}), part(dimension, {2, 4})})}) {
      fetch_plan plan{made, nothing_is_here};
      maker.fetch(plan);
      REQUIRE(plan.tensors().tensors().size() == made.tensors().size());
      for (std::size_t at = 0; at < made.tensors().size(); ++at) {
        CHECK(plan.tensors().tensors()[at].value.part == made.tensors()[at].value.part);
        CHECK(plan.tensors().tensors()[at].value.shape == made.tensors()[at].value.shape);
      }
    }
    const twinkle::weights lacks{{part(dimension, {2, 4})}};
    CHECK_THROWS_WITH_AS((void)narrow(lacks, [&](std::string_view, std::span<const std::size_t>) {
                           return std::optional(twinkle::shard{dimension, {0, 3}, 4});
                         }), doctest::Contains("is wanted, and not all of it is there"), twinkle::error);
  }
}

TEST_CASE("of replicas on several nodes, one that is here is taken, else they take turns") {
  std::array<node, 3> makers{node{0}, node{1}, node{2}};
  std::vector<twinkle::weights> described;
  for (std::size_t rank = 0; rank < 6; ++rank)  // two on each node
    described.push_back(leave_behind(
        twinkle::weights{{{"w", {twinkle::element::f32, {2}, buffer::of(std::vector<float>{5, 6})}}}},
        [&](const buffer& bytes) { return makers[rank / 2].keep(bytes); }));
  const twinkle::weights all = assemble(described);
  CHECK(all.tensors().size() == 3);
  for (std::size_t turn = 0; turn < 6; ++turn) {
    fetch_plan plan{all, nothing_is_here, nullptr, turn};
    REQUIRE(plan.pieces().size() == 1);
    CHECK(plan.pieces()[0].from.far()->node == turn % 3);
    CHECK(plan.tensors().tensors().size() == 1);
  }
  fetch_plan plan{all, [&](const buffer& from) {
                          return from.far()->node == 1 ? std::optional(makers[1].kept.at(from.far()->key)) : std::nullopt;
                        }};
  CHECK(plan.pieces().empty());
  CHECK(numbers_of(*plan.tensors().find("w")) == std::vector<float>{5, 6});
}

TEST_CASE("far pieces are refused where none may be") {
  node maker{1};
  const auto left = leave_behind(numbered(3), [&](const buffer& bytes) { return maker.keep(bytes); });
  CHECK_THROWS_WITH_AS((void)twinkle::from_bytes(buffer::of(to_bytes(twinkle::to_wire(left)))),
                       "wire: pieces are said to lie on another node, where all must be here", twinkle::error);
}

TEST_CASE("the rows that are gone are those of which some node kept elements") {
  node left{1};
  node right{2};
  const batch some = sent(left, numbered(3));
  const batch others = sent(right, numbered(2));
  const batch all = batch::concat(std::vector<batch>{some, others, some[{1, 3}]});
  const auto of = [](std::size_t number) { return [=](const far_bytes& where) { return where.node == number; }; };
  CHECK(rows_gone(all, of(1)) == std::vector<std::size_t>{0, 1, 2, 5, 6});
  CHECK(rows_gone(all, of(2)) == std::vector<std::size_t>{3, 4});
  CHECK(rows_gone(all[{2, 4}], of(2)) == std::vector<std::size_t>{1});
  CHECK(rows_gone(all, of(3)).empty());
  CHECK(rows_gone(fetched(left, some), of(1)).empty());
  CHECK(rows_gone(batch{}, of(1)).empty());
}
