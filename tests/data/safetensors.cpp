// SPDX-License-Identifier: Apache-2.0
#include "twinkle/data/safetensors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/base/random.hpp"

using twinkle::buffer;
using twinkle::element;
using twinkle::from_safetensors;
using twinkle::named_tensor;
using twinkle::tensor;
using twinkle::to_safetensors;
using twinkle::weights;
using bytes = std::vector<std::byte>;

namespace {

weights some_weights() {
  return weights{{{"bytes", {element::u8, {3}, buffer::of(std::vector<std::uint8_t>{1, 2, 3})}},
                  {"w", {element::f32, {2, 2}, buffer::of(std::vector<float>{1, 2, 3, 4})}},
                  {"steps", {element::i64, {}, buffer::of(std::vector<std::int64_t>{-7})}},
                  {"none", {element::f64, {0, 4}, buffer{}}},
                  {"ids", {element::i32, {1}, buffer::of(std::vector<std::int32_t>{-9})}}},
                 12};
}

bytes file_of(std::string_view header, std::size_t data_bytes) {
  bytes file(8 + header.size() + data_bytes);
  for (std::size_t at = 0; at < 8; ++at)
    file[at] = static_cast<std::byte>(header.size() >> (8 * at) & 0xff);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

std::string complaint(bytes file) {
  try {
    (void)from_safetensors(buffer::of(std::move(file)));
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

std::string complaint(std::string_view header, std::size_t data_bytes) {
  return complaint(file_of(header, data_bytes));
}

std::string complaint(const tensor& value) {
  try {
    (void)to_safetensors(weights{{{"w", value}}});
  } catch (const twinkle::error& bad) {
    return bad.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("weights come back from a safetensors file with names, types, shapes, values and version") {
  const weights before = some_weights();
  const weights after = from_safetensors(buffer::of(to_safetensors(before)));
  CHECK(after.version() == 12);
  REQUIRE(after.tensors().size() == before.tensors().size());
  for (const named_tensor& each : before.tensors()) {
    const tensor* found = after.find(each.name);
    REQUIRE(found != nullptr);
    CHECK(found->type == each.value.type);
    CHECK(found->shape == each.value.shape);
    REQUIRE(found->values.bytes() == each.value.values.bytes());
    CHECK(std::equal(found->values.data(), found->values.data() + found->values.bytes(), each.value.values.data()));
  }
  CHECK(after.tensors()[1].name == "w");
  CHECK(to_safetensors(after) == to_safetensors(before));
}

TEST_CASE("a file has the layout of the format, its data aligned") {
  const bytes file = to_safetensors(weights{{{"w", {element::f32, {2}, buffer::of(std::vector<float>{1, 2})}}}, 3});
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto length = std::to_integer<std::size_t>(file[0]);
  CHECK(length % 8 == 0);
  CHECK(file.size() == 8 + length + 8);
  const std::string_view header = text.substr(8, length);
  CHECK(header.substr(0, header.find_last_not_of(' ') + 1) ==
        R"({"__metadata__":{"version":"3"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})");
}

TEST_CASE("no weights at all are a file as well") {
  const weights after = from_safetensors(buffer::of(to_safetensors(weights{{}, 5})));
  CHECK(after.version() == 5);
  CHECK(after.tensors().empty());
}

TEST_CASE("tensors are borrowed from the file, and keep it") {
  auto owner = std::make_shared<const bytes>(to_safetensors(some_weights()));
  const std::weak_ptr<const bytes> watched = owner;
  const bytes* file = owner.get();
  weights read = from_safetensors(buffer{owner->data(), owner->size(), owner});
  owner.reset();
  for (const named_tensor& each : read.tensors()) {
    CHECK(each.value.values.data() >= file->data());
    CHECK(each.value.values.data() <= file->data() + file->size());
  }
  CHECK_FALSE(watched.expired());
  read = weights{};
  CHECK(watched.expired());
}

TEST_CASE("a tensor that is not aligned in the file is copied") {
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})";
  bytes file = file_of(header, 9);
  const double value = 2.5;
  std::memcpy(file.data() + 8 + header.size() + 1, &value, sizeof value);
  const weights read = from_safetensors(buffer::of(std::move(file)));
  CHECK(*read.find("b")->values.as<double>() == 2.5);
  CHECK(read.version() == 0);
}

TEST_CASE("files of others are read: metadata without version, fields in any order") {
  CHECK(complaint(R"({"__metadata__":{"format":"pt"},"w":{"data_offsets":[0,8],"shape":[1,2],"dtype":"F32"}} )", 8) ==
        "nothing");
}

TEST_CASE("weights that cannot be written are refused by name") {
  const buffer two = buffer::of(std::vector<float>{1, 2});
  CHECK(complaint(tensor{element::f32, {3}, two}) ==
        "safetensors: tensor 'w' of shape [3] has 8 bytes, which do not fit its shape");
  CHECK(complaint(tensor{element::f32, {std::size_t{1} << 63, 2}, buffer{}}).starts_with("safetensors: tensor 'w'"));
  CHECK(complaint(tensor{element::f32, {2}, two, twinkle::shard{0, {2, 4}, 8}}) ==
        "safetensors: tensor 'w' is the shard [2,4) of 8; assemble the whole first");
  const tensor good{element::f32, {2}, two};
  CHECK_THROWS_WITH_AS((void)to_safetensors(weights{{{"w", good}, {"w", good}}}),
                       "safetensors: tensor 'w' is there twice", twinkle::error);
  CHECK_THROWS_AS((void)to_safetensors(weights{{{"\xff", good}}}), twinkle::error);
  CHECK_THROWS_AS((void)to_safetensors(weights{{{"__metadata__", good}}}), twinkle::error);
}

TEST_CASE("a file that is cut off anywhere is refused") {
  const bytes whole = to_safetensors(some_weights());
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK(complaint(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)))
              .starts_with("safetensors: "));
  CHECK(complaint(bytes(3)) == "safetensors: it has 3 bytes; it must have 8 or more, so it is cut off");
  CHECK(complaint(file_of("{}", 0)) == "nothing");
}

TEST_CASE("a header length beyond the file is refused before it is read") {
  bytes file = file_of("{}", 0);
  std::fill_n(file.begin(), 8, std::byte{0xff});
  CHECK(complaint(file) ==
        "safetensors: its header claims 18446744073709551615 bytes, but 2 follow, and at most 100000000 are read; it "
        "is cut off or no such file");
}

TEST_CASE("a header that is no JSON object is refused") {
  for (const std::string_view header : {"", "[]", "{", "null", "{} {}", "\xff", "{\"a\":\"\xff\"}"})
    CHECK(complaint(header, 0).starts_with("safetensors: its header is no JSON object"));
  std::string deep;
  for (int level = 0; level < 10'000; ++level)
    deep += "{\"a\":";
  CHECK(complaint(deep, 0).starts_with("safetensors: its header is no JSON object"));
}

TEST_CASE("a header that contradicts itself is refused with the tensor and the values") {
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8) ==
        "safetensors: tensor 'w' of shape [3] and type F32 has 8 bytes, which do not fit its shape");
  CHECK(complaint(R"({"w":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})", 8) ==
        "safetensors: tensor 'w' has the type \"BF16\"; U8, I32, I64, F32 and F64 are read");
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 8) ==
        "safetensors: tensor 'w' has the data_offsets [0,16], which do not lie in the 8 bytes behind the header");
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[2]}})", 8) ==
        "safetensors: tensor 'w' has no data_offsets in the header");
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8) ==
        "safetensors: tensor 'w' has -2 where a whole number must be");
  std::string many = "1";
  for (int dimension = 0; dimension < 64; ++dimension)
    many += ",1";
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[)" + many + R"(],"data_offsets":[0,4]}})", 4) ==
        "safetensors: tensor 'w' has 65 numbers as its shape; at most 64 are read");
  CHECK(complaint(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                  12) ==
        "safetensors: tensor 'b' lies at bytes [4,12), but the one before it ends at 8; tensors may not overlap nor "
        "leave gaps");
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12).find("leave gaps") !=
        std::string::npos);
  CHECK(complaint(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 12) ==
        "safetensors: its tensors end at byte 8 of 12 behind the header; there must be nothing else");
  CHECK(complaint(R"({"__metadata__":{"version":"new"}})", 0) ==
        "safetensors: the metadata has the version \"new\", which is not a whole number in quotes");
}

TEST_CASE("numbers that overflow, and values of other kinds, are refused") {
  for (const std::string_view entry :
       {R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})",
        R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})",
        R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})",
        R"({"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]})",
        R"({"dtype":"F32","shape":[2],"data_offsets":[0,1e300]})", R"({"dtype":"F32","shape":[2],"data_offsets":[0]})",
        R"({"dtype":"F32","shape":[2],"data_offsets":{}})", R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})",
        R"({"dtype":"F32","shape":["2"],"data_offsets":[0,8]})", R"({"dtype":4,"shape":[2],"data_offsets":[0,8]})",
        R"({"shape":[2],"data_offsets":[0,8]})", "[]", "null", "7"})
    CHECK(complaint("{\"w\":" + std::string(entry) + "}", 8).starts_with("safetensors: tensor 'w' "));
  for (const std::string_view version : {"7", "\"\"", "\"-1\"", "\"1.0\"", "\"99999999999999999999\"", "null"})
    CHECK(complaint("{\"__metadata__\":{\"version\":" + std::string(version) + "}}", 0)
              .starts_with("safetensors: the metadata has the version "));
}

TEST_CASE("no file breaks the reader, whatever is in it") {
  const bytes good = to_safetensors(some_weights());
  twinkle::generator random{1};
  std::size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    bytes file = good;
    for (std::uint64_t change = 1 + random.below(3); change-- > 0;)
      file[random.below(file.size())] = static_cast<std::byte>(random.below(256));
    const std::string said = complaint(std::move(file));
    read += said == "nothing" ? 1 : 0;
    CHECK((said == "nothing" || said.starts_with("safetensors: ")));
  }
  CHECK(read > 100);
}
