// SPDX-License-Identifier: Apache-2.0
#include "net/gateway.hpp"

#include <doctest/doctest.h>

#include "net/gateway_lab.hpp"
#include "twinkle/base/error.hpp"

namespace tk = twinkle;
using lab::a;
using lab::b;
using lab::c;
using lab::model;
using lab::sampler;
using tk::address;

namespace {

constexpr tk::ragged<float> wide{"wide"};
constexpr std::size_t width = 1000;  // of a row: 4,000 bytes

tk::batch wide_rows(std::size_t count, float first = 0) {
  std::vector<std::vector<float>> values;
  std::vector<tk::row_tag> tags(count);
  for (std::size_t row = 0; row < count; ++row) {
    values.emplace_back(width, first + static_cast<float>(row));
    tags[row].id.sequence = row;
  }
  return tk::batch{}.with(wide, values).with_tags(std::move(tags));
}

std::size_t endpoint(const lab::nodes& in, std::size_t stage, const std::string& name) {
  const auto& all = in.placed.stages[stage].endpoints;
  for (std::size_t at = 0; at < all.size(); ++at)
    if (all[at].name == name)
      return at;
  FAIL("no endpoint " << name);
  return 0;
}

tk::message task(tk::route::call_id call, std::size_t of, tk::payload input) {
  tk::msg::task made;
  made.call = call;
  made.endpoint = of;
  made.input = std::move(input);
  return made;
}

float first_value(const tk::batch& rows, std::size_t row) { return rows[wide][row][0]; }

const tk::batch& rows_of(const lab::delivered& of) {
  if (const auto* task = std::get_if<tk::msg::task>(&of.content))
    return std::get<tk::batch>(task->input);
  return std::get<tk::batch>(std::get<tk::msg::reply>(of.content).value.value());
}

struct joined : lab::nodes {
  joined() {
    join();
    REQUIRE((each[a]->complete && each[b]->complete && each[c]->complete));
  }

  lab::node& at(std::size_t which) { return *each[which]; }

  /// A sampler on b answers with wide rows, which its router gets.
  tk::batch sampled(std::size_t rows, std::size_t worker = 0, tk::route::call_id call = 1) {
    at(b).way->post(address::worker(sampler, worker), address::router(sampler),
                    tk::msg::reply{worker, call, tk::payload{wide_rows(rows)}});
    run();
    tk::batch got = rows_of(at(a).got.back());
    at(a).got.clear();
    return got;
  }
};

}  // namespace

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
    CHECK(at(c).fetched_bytes == 100 * width * sizeof(float));
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
  CHECK(at(c).fetched_bytes == 100 * width * sizeof(float));
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
        "toy/model[dp=1]@c:gpu1 in train: rows that it needs cannot be fetched: node 1 keeps nothing under 1");
}

TEST_CASE_FIXTURE(joined, "what cannot be sent fails its call, and says why") {
  const tk::batch bad = wide_rows(1).with(tk::column<std::int64_t>{"\xff\xfe"}, {1});
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
}

TEST_CASE_FIXTURE(joined, "weights come to the node that leads before its router hears of them") {
  const tk::weights made{{{"w", {tk::element::f32, {100000}, tk::buffer::of(std::vector<float>(100000, 5.0F))}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  CHECK(at(a).got.empty());
  run();
  REQUIRE(at(a).got.size() == 1);
  const auto& reply = std::get<tk::msg::reply>(at(a).got[0].content);
  const auto& arrived = std::get<tk::weights>(reply.value.value());
  CHECK_FALSE(is_far(arrived));
  CHECK(arrived.find("w")->values.as<float>()[99999] == 5.0F);
  CHECK(at(c).kept->pieces() == 0);
  for (std::size_t worker = 0; worker < 4; ++worker)
    at(a).way->post(address::router(sampler), address::worker(sampler, worker),
                    task(1, endpoint(*this, sampler, "load"), arrived));
  CHECK(at(a).kept->pieces() == 1);
  run();
  CHECK(at(b).got.size() == 4);
  CHECK(at(b).fetched_bytes == 400000);
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

TEST_CASE_FIXTURE(joined, "a node that is lost takes its workers along, and what was kept for them is released") {
  at(a).way->post(address::router(sampler), address::worker(sampler, 0),
                  task(1, endpoint(*this, sampler, "sample"), wide_rows(100)));
  CHECK(at(a).kept->pieces() == 1);
  at(a).way->down(1, "closed by the other side");
  REQUIRE(at(a).got.size() == 4);
  for (std::size_t worker = 0; worker < 4; ++worker) {
    CHECK(at(a).got[worker].to == address::router(sampler));
    const auto& lost = std::get<tk::msg::lost>(at(a).got[worker].content);
    CHECK(lost.worker == worker);
    CHECK(lost.cause == "node 'b' was lost: closed by the other side");
  }
  CHECK(at(a).kept->pieces() == 0);
  CHECK(at(a).known[b].incarnation == 0);
}

TEST_CASE_FIXTURE(joined, "a process that comes back takes its place, and nothing is released there that it does not keep") {
  std::optional<tk::batch> described = sampled(100);
  start(b, 2);
  connect(b);
  pass();
  REQUIRE(at(a).got.size() == 8);
  CHECK(std::get<tk::msg::lost>(at(a).got[0].content).cause == "node 'b' was lost: its process was started again");
  CHECK(std::get<tk::msg::back>(at(a).got[4].content).worker == 0);
  CHECK(at(c).known[b].incarnation == 2);
  CHECK(at(b).keep(tk::buffer::of(std::vector<int>{1})) > 0);
  const std::size_t kept = at(b).kept->pieces();
  described.reset();
  pass();
  CHECK(at(b).kept->pieces() == kept);
}

TEST_CASE_FIXTURE(joined, "a node that says nothing is noticed on both sides, and an idle one that pings is not") {
  using namespace std::chrono_literals;
  for (; now < tk::time_point{60s}; now += 500ms) {
    for (const auto& each_node : each)
      each_node->way->tick();
    pass();
  }
  CHECK(at(a).got.empty());
  CHECK(at(b).failed.empty());
  for (; now < tk::time_point{66s}; now += 500ms) {  // b hears, but does not speak
    at(a).way->tick();
    at(c).way->tick();
    pass();
  }
  REQUIRE(at(a).got.size() == 4);
  CHECK(std::get<tk::msg::lost>(at(a).got[0].content).cause == "node 'b' was lost: nothing came from it for 5 s");
  CHECK(at(b).failed == "'a', which leads the run, was lost: closed by the other side");
  CHECK(at(c).failed.empty());
}

TEST_CASE_FIXTURE(joined, "a node that cannot reach another says so to the one that leads") {
  at(c).way->silent(b, "nothing came for 5 s");
  pass();
  REQUIRE(at(a).got.size() == 4);
  CHECK(std::get<tk::msg::lost>(at(a).got[0].content).cause ==
        "node 'b' was lost: 'c' cannot reach it: nothing came for 5 s");
}

TEST_CASE_FIXTURE(joined, "the end of the run is told to all, and who goes then is not missed") {
  at(a).way->say_goodbye(3);
  pass();
  CHECK(at(b).goodbye == 3);
  CHECK(at(c).goodbye == 3);
  at(a).way->down(1, "closed by the other side");
  at(a).way->down(2, "closed by the other side");
  CHECK(at(a).got.empty());
  CHECK(at(a).way->peers() == 0);
}

TEST_CASE_FIXTURE(joined, "whoever wants the run to end says so to the one that leads") {
  at(b).way->interrupt();
  pass();
  CHECK(at(a).interrupts == 1);
  CHECK(at(b).interrupts == 0);
}

TEST_CASE_FIXTURE(joined, "a node that sends what it may not is closed, and the run hears of its loss") {
  const auto hurt = [&](const std::vector<std::byte>& bytes) {
    at(a).got.clear();
    at(a).way->arrived(1, bytes);
    CHECK(at(a).got.size() == 4);
    start(b, numbers + 10);
    connect(b);
    pass();
    at(a).got.clear();
  };
  SUBCASE("no letter") { hurt(std::vector<std::byte>(100, std::byte{200})); }
  SUBCASE("in the name of a worker of another node") {
    hurt(tk::place::to_bytes(tk::place::node_letter{tk::place::letter::post{
        address::worker(model, 0), address::router(model), tk::buffer::of(std::vector<std::byte>(8))}}));
  }
  SUBCASE("a worker that there is not") {
    hurt(tk::place::to_bytes(tk::place::node_letter{tk::place::letter::post{
        address::worker(sampler, 99), address::router(sampler), tk::buffer::of(std::vector<std::byte>(8))}}));
  }
  SUBCASE("no message") {
    hurt(tk::place::to_bytes(tk::place::node_letter{tk::place::letter::post{
        address::worker(sampler, 0), address::router(sampler), tk::buffer::of(std::vector<std::byte>(80))}}));
  }
}

TEST_CASE("a node that does not belong is told why, and the others wait for the right one") {
  lab::nodes all;
  all.connect(b);
  all.pass();
  tk::net::gateway_options how;
  how.machines = lab::machines();
  how.node = c;
  how.graph = 43;
  how.incarnation = 1;
  tk::net::gateway_events to;
  std::string failed;
  to.failed = [&](const std::string& why) { failed = why; };
  all.each[c]->way = std::make_unique<tk::net::gateway>(how, all.placed, *all.each[c], to);
  all.connect(c);
  all.pass();
  CHECK(failed.find("'a' turned this node away: its graph is not that of 'a'") == 0);
  CHECK_FALSE(all.each[a]->complete);
  all.start(c, 2);
  all.connect(c);
  all.pass();
  CHECK(all.each[a]->complete);
}
