// SPDX-License-Identifier: Apache-2.0
#include "net/gateway.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "net/gateway_lab.hpp"
#include "twinkle/base/error.hpp"

namespace tk = twinkle;
using lab::a;
using lab::b;
using lab::c;
using lab::endpoint;
using lab::first_value;
using lab::joined;
using lab::model;
using lab::rows_of;
using lab::sampler;
using lab::task;
using lab::wide;
using lab::wide_rows;
using tk::address;

TEST_CASE_FIXTURE(joined, "nodes that have joined know where all of them serve rows") {
  for (const auto& each_node : each) {
    REQUIRE(each_node->known.size() == 3);
    for (std::size_t other = 0; other < 3; ++other) {
      CHECK(each_node->known[other].incarnation == 1);
      CHECK(each_node->known[other].port == 7100 + 10 * other);
    }
  }
}

TEST_CASE_FIXTURE(joined, "few bytes ride in the message") {
  const std::size_t of = endpoint(*this, sampler, "sample");
  at(a).way->post(address::router(sampler), address::worker(sampler, 2), task(1, of, wide_rows(3)));
  pass();
  CHECK(fetches.empty());
  REQUIRE(at(b).got.size() == 1);
  CHECK(at(b).got[0].to == address::worker(sampler, 2));
  CHECK(first_value(rows_of(at(b).got[0]), 2) == 2);
  CHECK(at(a).kept->pieces() == 0);
}

TEST_CASE_FIXTURE(joined, "many bytes are kept until the worker that needs them has answered") {
  const std::size_t of = endpoint(*this, sampler, "sample");
  at(a).way->post(address::router(sampler), address::worker(sampler, 0), task(1, of, wide_rows(100)));
  pass();
  CHECK(at(b).got.empty());
  CHECK(at(a).kept->pieces() == 1);
  run();
  REQUIRE(at(b).got.size() == 1);
  CHECK(first_value(rows_of(at(b).got[0]), 99) == 99);
  CHECK(at(a).kept->pieces() == 1);
  at(b).way->post(address::worker(sampler, 0), address::router(sampler), tk::msg::reply{0, 1, tk::payload{wide_rows(1)}});
  pass();
  CHECK(at(a).kept->pieces() == 0);
}

TEST_CASE_FIXTURE(joined, "what a worker gathers is there for the task that it came ahead of, and is fetched once") {
  const tk::batch described = sampled(100);
  const std::size_t train = endpoint(*this, model, "train");
  const auto post = [&](tk::route::call_id call, bool gathers, std::optional<tk::route::call_id> gathered) {
    tk::msg::task made{call, gathers ? tk::msg::task::kind::gather : tk::msg::task::kind::run, train};
    if (!gathered)
      made.input = described;
    made.gathered = gathered;
    at(a).way->post(address::router(model), address::worker(model, 0), made);
    run();
  };
  post(7, true, std::nullopt);
  REQUIRE(at(c).got.size() == 1);  // who answers that it is there
  CHECK(std::get<tk::msg::task>(at(c).got[0].content).what == tk::msg::task::kind::gather);
  CHECK(std::holds_alternative<std::monostate>(std::get<tk::msg::task>(at(c).got[0].content).input));
  CHECK(at(c).fetched_bytes == 100 * lab::width * sizeof(float));
  at(c).got.clear();
  SUBCASE("which gets it") {
    at(b).lose_rows();
    post(8, false, 7);
    REQUIRE(at(c).got.size() == 1);
    CHECK(first_value(rows_of(at(c).got[0]), 99) == 99);
    CHECK(at(c).fetched_bytes == 100 * lab::width * sizeof(float));
    at(c).got.clear();
    post(9, false, 7);  // but once
    CHECK(at(c).got.empty());
    CHECK(std::get<tk::msg::reply>(at(a).got.at(0).content).value.failure().cause ==
          "what it needs cannot be fetched: what was gathered for it in call 7 is not here");
  }
  SUBCASE("and no other that comes before it") {
    post(8, false, std::nullopt);
    at(b).lose_rows();
    post(9, false, 7);
    REQUIRE(at(c).got.size() == 2);
    CHECK(first_value(rows_of(at(c).got[1]), 99) == 99);
  }
  SUBCASE("but not for one that came ahead of another") {
    post(8, true, std::nullopt);
    post(9, false, 7);
    CHECK(at(c).got.size() == 1);
    CHECK(std::get<tk::msg::reply>(at(a).got.at(0).content).call == 9);
  }
  SUBCASE("and one that takes its worker's place gets nothing of it") {
    at(a).way->spawn(address::worker(model, 0));
    run();
    post(8, false, 7);
    CHECK(at(c).got.empty());
  }
}

TEST_CASE_FIXTURE(joined, "results stay where they were made, go straight to who works on them, and are then released") {
  {
    const tk::batch described = sampled(100);
    CHECK(is_far(described));
    CHECK(at(a).fetched_bytes == 0);
    CHECK(at(b).kept->pieces() == 1);
    const std::size_t train = endpoint(*this, model, "train");
    at(a).way->post(address::router(model), address::worker(model, 0), task(7, train, described[{0, 50}]));
    at(a).way->post(address::router(model), address::worker(model, 1), task(7, train, described[{50, 100}]));
    run();
    REQUIRE(at(c).got.size() == 2);
    CHECK(first_value(rows_of(at(c).got[0]), 49) == 49);
    CHECK(first_value(rows_of(at(c).got[1]), 0) == 50);
    CHECK(at(c).fetched_bytes == 100 * lab::width * sizeof(float));
    CHECK(at(a).fetched_bytes == 0);
    CHECK(at(b).kept->pieces() == 1);
  }
  run();
  CHECK(at(b).kept->pieces() == 0);
  CHECK(at(a).kept->pieces() == 0);
}

TEST_CASE_FIXTURE(joined, "rows that several workers of a node get are fetched once") {
  const tk::batch described = sampled(100);
  const std::size_t train = endpoint(*this, model, "train");
  for (std::size_t worker : {0U, 1U})
    at(a).way->post(address::router(model), address::worker(model, worker), task(7, train, described));
  run();
  REQUIRE(at(c).got.size() == 2);
  CHECK(at(c).fetched_bytes == 100 * lab::width * sizeof(float));
  CHECK(&rows_of(at(c).got[0])[wide][5][0] == &rows_of(at(c).got[1])[wide][5][0]);
}

TEST_CASE_FIXTURE(joined, "rows that are on the node already are not fetched") {
  const tk::batch described = sampled(100);
  at(a).way->post(address::router(sampler), address::worker(sampler, 3),
                  task(2, endpoint(*this, sampler, "sample"), described));
  pass();
  CHECK(fetches.empty());
  REQUIRE(at(b).got.size() == 1);
  CHECK(first_value(rows_of(at(b).got[0]), 9) == 9);
}

TEST_CASE_FIXTURE(joined, "tasks of a worker stay in order, and the next rows are fetched before it is done with the last") {
  const tk::batch described = sampled(100);
  const std::size_t train = endpoint(*this, model, "train");
  at(a).way->post(address::router(model), address::worker(model, 0), task(1, train, described));
  at(a).way->post(address::router(model), address::worker(model, 0), task(2, train, wide_rows(1)));
  pass();
  CHECK(at(c).got.empty());
  run();
  REQUIRE(at(c).got.size() == 2);
  CHECK(std::get<tk::msg::task>(at(c).got[0].content).call == 1);
  CHECK(std::get<tk::msg::task>(at(c).got[1].content).call == 2);
}

TEST_CASE_FIXTURE(joined, "a cancellation does not wait for rows") {
  const tk::batch described = sampled(100);
  at(a).way->post(address::router(model), address::worker(model, 0), task(1, endpoint(*this, model, "train"), described));
  at(a).way->post(address::router(model), address::worker(model, 0), tk::msg::cancel{1, {"place", "train", {}, "why"}});
  pass();
  REQUIRE(at(c).got.size() == 1);
  CHECK(std::holds_alternative<tk::msg::cancel>(at(c).got[0].content));
}

TEST_CASE_FIXTURE(joined, "rows that cannot be fetched fail the call, and say which") {
  const tk::batch described = sampled(100);
  at(b).lose_rows();
  at(a).way->post(address::router(model), address::worker(model, 1), task(4, endpoint(*this, model, "train"), described));
  run();
  CHECK(at(c).got.empty());
  REQUIRE(at(a).got.size() == 1);
  CHECK(at(a).got[0].to == address::router(model));
  const auto& reply = std::get<tk::msg::reply>(at(a).got[0].content);
  CHECK(reply.worker == 1);
  CHECK(reply.call == 4);
  CHECK(to_string(reply.value.failure()) ==
        "toy/model[dp=1]@c:gpu1 in train: what it needs cannot be fetched: node 1 keeps nothing under " +
            std::to_string(tk::far_bytes::first_key(1)));
}

TEST_CASE_FIXTURE(joined, "what cannot be sent fails its call, says why, and is not kept") {
  const tk::batch bad = wide_rows(100).with(tk::column<std::int64_t>{"\xff\xfe"}, std::vector<std::int64_t>(100));
  at(a).way->post(address::router(model), address::worker(model, 0), task(5, endpoint(*this, model, "train"), bad));
  REQUIRE(at(a).got.size() == 1);
  const auto& refused = std::get<tk::msg::reply>(at(a).got[0].content);
  CHECK(refused.call == 5);
  CHECK(to_string(refused.value.failure()).find("it cannot be sent to another node: wire: a name that is not utf-8") !=
        std::string::npos);
  at(c).way->post(address::worker(model, 1), address::router(model), tk::msg::reply{1, 6, tk::payload{bad}});
  pass();
  REQUIRE(at(a).got.size() == 2);
  CHECK(std::get<tk::msg::reply>(at(a).got[1].content).call == 6);
  CHECK_FALSE(std::get<tk::msg::reply>(at(a).got[1].content).value);
  CHECK(at(a).kept->pieces() == 0);
  CHECK(at(c).kept->pieces() == 0);
}

TEST_CASE_FIXTURE(joined, "weights stay where they were made, and go straight to who loads them") {
  const tk::weights made{{{"w", {tk::element::f32, {100000}, tk::buffer::of(std::vector<float>(100000, 5.0F))}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  REQUIRE(at(a).got.size() == 1);
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  CHECK(is_far(described));
  for (std::size_t worker = 0; worker < 4; ++worker)
    at(a).way->post(address::router(sampler), address::worker(sampler, worker),
                    task(1, endpoint(*this, sampler, "load"), described));
  run();
  REQUIRE(at(b).got.size() == 4);
  const auto& task = std::get<tk::msg::task>(at(b).got[3].content);
  CHECK(std::get<tk::weights>(task.input).find("w")->values.as<float>()[99999] == 5.0F);
  CHECK(at(b).fetched_bytes == 400000);
  CHECK(at(a).fetched_bytes == 0);
  CHECK(at(c).kept->pieces() == 1);
}

TEST_CASE_FIXTURE(joined, "workers of one node that load different parts of a tensor fetch those, and what both load once") {
  tk::sharding by_dp{{"dp"}, [](std::string_view name, std::span<const std::size_t>) {
    return name == "w" ? std::optional<std::size_t>(0) : std::nullopt;
  }};
  placed.stages[sampler].endpoints[endpoint(*this, sampler, "load")].shards = std::make_shared<const tk::sharding>(by_dp);
  std::vector<float> numbers(100000);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const tk::tensor w{tk::element::f32, {1000, 100}, tk::buffer::of(numbers)};
  at(c).way->post(address::worker(model, 0), address::router(model),
                  tk::msg::reply{0, 9, tk::payload{tk::weights{{{"w", w}, {"v", w}}, 3}}});
  pass();
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  for (std::size_t worker = 0; worker < 4; ++worker)
    at(a).way->post(address::router(sampler), address::worker(sampler, worker),
                    task(1, endpoint(*this, sampler, "load"), described));
  run();
  REQUIRE(at(b).got.size() == 4);
  for (std::size_t worker = 0; worker < 4; ++worker) {
    const auto loaded = std::get<tk::weights>(std::get<tk::msg::task>(at(b).got[worker].content).input);
    CHECK(loaded.version() == 3);
    CHECK(loaded.find("w")->part == tk::shard{0, {worker * 250, worker * 250 + 250}, 1000});
    CHECK(loaded.find("w")->values.as<float>()[0] == static_cast<float>(worker * 25000));
    CHECK(loaded.find("v")->values.bytes() == 400000);
  }
  CHECK(at(b).fetched_bytes == 2 * 400000);
}

TEST_CASE_FIXTURE(joined, "tensors that share memory keep their names, and come once") {
  const tk::buffer tied = tk::buffer::of(std::vector<float>(100000, 5.0F));
  const tk::weights made{{{"embed", {tk::element::f32, {100000}, tied}}, {"head", {tk::element::f32, {1000, 100}, tied}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  at(a).way->post(address::router(sampler), address::worker(sampler, 0),
                  task(1, endpoint(*this, sampler, "load"), described));
  run();
  const auto loaded = std::get<tk::weights>(std::get<tk::msg::task>(at(b).got.at(0).content).input);
  REQUIRE(loaded.tensors().size() == 2);
  REQUIRE(loaded.find("head") != nullptr);
  CHECK(loaded.find("head")->shape == std::vector<std::size_t>{1000, 100});
  CHECK(loaded.find("embed")->values.as<float>() == loaded.find("head")->values.as<float>());
  CHECK(at(b).fetched_bytes == 400000);
}

TEST_CASE_FIXTURE(joined, "workers that share what is fetched of their rows have their own tags and routed columns") {
  const tk::batch far = sampled(64);
  const auto own = [&](std::int64_t of) {
    std::vector<tk::row_tag> tags(far.tags().begin(), far.tags().end());
    for (tk::row_tag& tag : tags)
      tag.version = of;
    const auto key = tk::routed(tk::column<std::int64_t>{of == 1 ? "one" : "two"});
    return far.with(key, std::vector<std::int64_t>(64, of)).with_tags(std::move(tags));
  };
  at(a).way->post(address::router(model), address::worker(model, 0), task(1, endpoint(*this, model, "train"), own(1)));
  at(a).way->post(address::router(model), address::worker(model, 1), task(1, endpoint(*this, model, "train"), own(2)));
  run();
  REQUIRE(at(c).got.size() == 2);
  CHECK(rows_of(at(c).got[0]).names() == std::vector<std::string>{"wide", "one"});
  CHECK(rows_of(at(c).got[1]).names() == std::vector<std::string>{"wide", "two"});
  CHECK(rows_of(at(c).got[1]).tags()[0].version == 2);
  CHECK(rows_of(at(c).got[0])[wide][5].data() == rows_of(at(c).got[1])[wide][5].data());
  CHECK(at(c).fetched_bytes == 64 * lab::width * sizeof(float));
}

TEST_CASE_FIXTURE(joined, "a part of very many runs of bytes is fetched by as many at once as one fetch may name") {
  placed.stages[sampler].endpoints[endpoint(*this, sampler, "load")].shards =
      std::make_shared<const tk::sharding>(tk::sharding{
          {"dp"}, [](std::string_view, std::span<const std::size_t>) { return std::optional<std::size_t>(1); }});
  std::vector<float> numbers(70000 * 4);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const tk::weights made{{{"w", {tk::element::f32, {70000, 4}, tk::buffer::of(numbers)}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  at(a).way->post(address::router(sampler), address::worker(sampler, 2),
                  task(1, endpoint(*this, sampler, "load"), described));
  run();
  const auto loaded = std::get<tk::weights>(std::get<tk::msg::task>(at(b).got.at(0).content).input);
  const float* column = loaded.find("w")->values.as<float>();
  CHECK(column[0] == 2);
  CHECK(column[69999] == 69999 * 4 + 2);
  CHECK(at(b).fetched_bytes == 70000 * sizeof(float));
}

TEST_CASE_FIXTURE(joined, "a part that a tensor does not have fails the load, and says which") {
  placed.stages[sampler].endpoints[endpoint(*this, sampler, "load")].shards =
      std::make_shared<const tk::sharding>(tk::sharding{
          {"dp"}, [](std::string_view, std::span<const std::size_t>) { return std::optional<std::size_t>(2); }});
  const tk::weights made{{{"w", {tk::element::f32, {100000}, tk::buffer::of(std::vector<float>(100000, 5.0F))}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  at(a).got.clear();
  at(a).way->post(address::router(sampler), address::worker(sampler, 1),
                  task(1, endpoint(*this, sampler, "load"), described));
  run();
  REQUIRE(at(a).got.size() == 1);
  const auto& reply = std::get<tk::msg::reply>(at(a).got[0].content);
  REQUIRE_FALSE(reply.value);
  CHECK(reply.value.failure().cause ==
        "what it needs cannot be fetched: weights: [0,0) of 0 along dimension 2 is wanted of tensor 'w', whose shape is "
        "[100000]");
}

TEST_CASE_FIXTURE(joined, "weights that are to be kept beyond the run come to the session whole, or not at all") {
  const tk::weights made{{{"w", {tk::element::f32, {100000}, tk::buffer::of(std::vector<float>(100000, 5.0F))}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  REQUIRE(at(a).got.size() == 1);
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  const auto saved = std::make_shared<const tk::checkpoint>(tk::checkpoint{4, described, {{0, described}}});
  at(a).way->post(address::router(model), address::session(), tk::msg::newest{described});
  at(a).way->post(address::router(model), address::session(), tk::msg::saved{saved});
  at(a).way->post(address::router(model), address::session(), tk::msg::ended{model});
  CHECK(at(a).got.size() == 1);
  run();
  REQUIRE(at(a).got.size() == 4);
  CHECK_FALSE(is_far(std::get<tk::msg::newest>(at(a).got[1].content).value));
  const tk::checkpoint& whole = *std::get<tk::msg::saved>(at(a).got[2].content).value;
  CHECK_FALSE(is_far(whole.state));
  CHECK_FALSE(is_far(whole.versions[0].value));
  CHECK(whole.step == 4);
  CHECK(is_far(saved->state));

  at(c).lose_rows();
  at(a).got.clear();
  at(a).way->post(address::router(model), address::session(), tk::msg::newest{described});
  at(a).way->post(address::router(model), address::session(), tk::msg::ended{model});
  run();
  REQUIRE(at(a).got.size() == 1);
  CHECK(std::holds_alternative<tk::msg::ended>(at(a).got[0].content));
}

TEST_CASE_FIXTURE(joined, "what a driver is answered is brought to it") {
  const tk::batch described = sampled(100);
  at(a).way->post(address::router(sampler), address::client(0),
                  tk::msg::answer{3, tk::collected{tk::payload{described}}});
  CHECK(at(a).got.empty());
  run();
  REQUIRE(at(a).got.size() == 1);
  const auto& answer = std::get<tk::msg::answer>(at(a).got[0].content);
  CHECK(first_value(std::get<tk::batch>(std::get<tk::payload>(answer.value.value())), 42) == 42);
}

TEST_CASE_FIXTURE(joined, "a worker on another node is made there") {
  at(a).way->spawn(address::worker(model, 1));
  pass();
  CHECK(at(c).spawned == std::vector{address::worker(model, 1)});
}
