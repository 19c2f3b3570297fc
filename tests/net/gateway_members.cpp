// SPDX-License-Identifier: Apache-2.0
// What a gateway makes of nodes that come and go.
#include <doctest/doctest.h>

#include "net/gateway_lab.hpp"

namespace tk = twinkle;
using lab::a;
using lab::b;
using lab::c;
using lab::endpoint;
using lab::joined;
using lab::model;
using lab::sampler;
using lab::task;
using lab::wide_rows;
using tk::address;

namespace {

// What the routers of a node hear of workers that are lost or back.
template <class Message>
std::vector<std::pair<address, Message>> heard(const lab::node& by) {
  std::vector<std::pair<address, Message>> found;
  for (const lab::delivered& each : by.got)
    if (const auto* said = std::get_if<Message>(&each.content))
      found.emplace_back(each.to, *said);
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(joined, "a node that is lost takes its workers along, and what was kept for them is released") {
  at(a).way->post(address::router(sampler), address::worker(sampler, 0),
                  task(1, endpoint(*this, sampler, "sample"), wide_rows(100)));
  CHECK(at(a).kept->pieces() == 1);
  at(a).way->down(1, "closed by the other side");
  const auto lost = heard<tk::msg::lost>(at(a));
  REQUIRE(lost.size() == 4);
  for (std::size_t worker = 0; worker < 4; ++worker) {
    CHECK(lost[worker].first == address::router(sampler));
    CHECK(lost[worker].second.worker == worker);
    CHECK(lost[worker].second.cause == "node 'b' was lost: closed by the other side");
  }
  CHECK(at(a).kept->pieces() == 0);
  CHECK(at(a).known[b].incarnation == 0);
}

TEST_CASE_FIXTURE(joined, "a process that comes back takes its place, and nothing is released there that it does not keep") {
  std::optional<tk::batch> described = sampled(100);
  start(b, 2);
  connect(b);
  pass();
  REQUIRE(heard<tk::msg::lost>(at(a)).size() == 4);
  CHECK(heard<tk::msg::lost>(at(a))[0].second.cause == "node 'b' was lost: its process was started again");
  CHECK(heard<tk::msg::back>(at(a)).at(0).second.worker == 0);
  CHECK(at(c).known[b].incarnation == 2);
  CHECK(at(b).keep(tk::buffer::of(std::vector<int>{1})) > 0);
  const std::size_t kept = at(b).kept->pieces();
  described.reset();
  pass();
  CHECK(at(b).kept->pieces() == kept);
}

TEST_CASE_FIXTURE(joined, "every router hears which process is lost, and finds the rows that it kept, and no others") {
  const tk::batch described = sampled(100);
  start(b, 2);
  connect(b);
  run();
  const auto lost = heard<tk::msg::node_lost>(at(a));
  REQUIRE(lost.size() == placed.stages.size());
  for (std::size_t stage = 0; stage < placed.stages.size(); ++stage)
    CHECK(lost[stage].first == address::router(stage));
  const tk::route::lost_node& what = lost[0].second.what;
  CHECK(what.node == b);
  const auto kept_there = [&](const tk::far_bytes& where) { return where.node == b && where.life() == what.life; };
  CHECK(rows_gone(described, kept_there).size() == 100);
  at(a).got.clear();
  at(a).way->spawn(address::worker(sampler, 0));
  run();
  CHECK(rows_gone(sampled(100), kept_there).empty());
}

TEST_CASE_FIXTURE(joined, "rows of a process that is gone are not taken to be what the next one keeps") {
  const tk::batch described = sampled(100);
  start(b, 2);
  connect(b);
  run();
  at(a).got.clear();
  at(a).way->spawn(address::worker(sampler, 0));
  run();
  const tk::batch others = sampled(100);
  at(a).way->post(address::router(model), address::worker(model, 0), task(7, endpoint(*this, model, "train"), described));
  run();
  CHECK(at(c).got.empty());
  REQUIRE(at(a).got.size() == 1);
  CHECK_FALSE(std::get<tk::msg::reply>(at(a).got[0].content).value.has_value());
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
  REQUIRE(heard<tk::msg::lost>(at(a)).size() == 4);
  CHECK(heard<tk::msg::lost>(at(a))[0].second.cause == "node 'b' was lost: nothing came from it for 5 s");
  CHECK(at(b).failed == "'a', which leads the run, was lost: closed by the other side");
  CHECK(at(c).failed.empty());
}

TEST_CASE_FIXTURE(joined, "a node that cannot reach another says so to the one that leads") {
  at(c).way->silent(b, 1, "nothing came for 5 s");
  pass();
  REQUIRE(heard<tk::msg::lost>(at(a)).size() == 4);
  CHECK(heard<tk::msg::lost>(at(a))[0].second.cause ==
        "node 'b' was lost: 'c' cannot reach it: nothing came for 5 s");
}

TEST_CASE_FIXTURE(joined, "a worker whose node was lost gets nothing before it is there anew, though its node is back") {
  const std::size_t of = endpoint(*this, sampler, "sample");
  start(b, 2);
  connect(b);
  run();
  at(a).way->post(address::router(sampler), address::worker(sampler, 0), task(5, of, wide_rows(100)));
  run();
  CHECK(at(b).got.empty());
  CHECK(at(a).kept->pieces() == 0);
  at(a).way->spawn(address::worker(sampler, 0));
  at(a).way->post(address::router(sampler), address::worker(sampler, 0), task(6, of, wide_rows(1)));
  run();
  REQUIRE(at(b).got.size() == 1);
  CHECK(std::get<tk::msg::task>(at(b).got[0].content).call == 6);
}

TEST_CASE_FIXTURE(joined, "of two nodes that are lost at once the first to come back is taken, though the other does not") {
  at(a).way->down(1, "closed by the other side");
  at(a).way->down(2, "closed by the other side");
  at(a).got.clear();
  start(b, 2);
  connect(b);
  run();
  CHECK(at(b).complete);
  CHECK(heard<tk::msg::back>(at(a)).size() == 4);
  CHECK(at(b).known[c].incarnation == 0);
  at(a).got.clear();
  start(c, 2);
  connect(c);
  run();
  CHECK(heard<tk::msg::back>(at(a)).size() == 2);
  CHECK(at(b).known[c].incarnation == 2);
}

TEST_CASE_FIXTURE(joined, "what is kept for a worker whose node is lost meanwhile is released") {
  at(a).meanwhile = [this] { at(a).way->down(1, "closed by the other side"); };
  at(a).way->post(address::router(sampler), address::worker(sampler, 0),
                  task(1, endpoint(*this, sampler, "sample"), wide_rows(100)));
  run();
  CHECK(at(a).kept->pieces() == 0);
  CHECK(at(b).got.empty());
}

TEST_CASE_FIXTURE(joined, "what a worker still waited for is not given to the one that takes its place") {
  const std::size_t of = endpoint(*this, sampler, "sample");
  at(a).way->post(address::router(sampler), address::worker(sampler, 0), task(5, of, wide_rows(100)));
  pass();
  at(a).way->spawn(address::worker(sampler, 0));
  run();
  CHECK(at(b).spawned == std::vector{address::worker(sampler, 0)});
  CHECK(at(b).got.empty());
}

TEST_CASE_FIXTURE(joined, "a worker that missed a load gets no rows until it is replaced: they would say that it has it") {
  const tk::weights made{{{"w", {tk::element::f32, {100000}, tk::buffer::of(std::vector<float>(100000, 5.0F))}}}, 3};
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 9, tk::payload{made}});
  pass();
  const auto described = std::get<tk::weights>(std::get<tk::msg::reply>(at(a).got[0].content).value.value());
  at(c).lose_rows();
  const auto try_rows = [&](tk::route::call_id call) {
    at(a).got.clear();
    at(b).got.clear();
    at(a).way->post(address::router(sampler), address::worker(sampler, 0),
                    task(call, endpoint(*this, sampler, "sample"), wide_rows(1)));
    run();
  };
  at(a).way->post(address::router(sampler), address::worker(sampler, 0),
                  task(1, endpoint(*this, sampler, "load"), described));
  run();
  try_rows(2);
  CHECK(at(b).got.empty());
  REQUIRE(at(a).got.size() == 1);
  CHECK(to_string(std::get<tk::msg::reply>(at(a).got[0].content).value.failure()).find("what it needs cannot be fetched") !=
        std::string::npos);
  at(a).way->spawn(address::worker(sampler, 0));
  try_rows(3);
  CHECK(at(b).got.size() == 1);
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

TEST_CASE_FIXTURE(joined, "of a connection that is nobody's, or of a node that is lost, nothing counts") {
  const auto says = [&](std::uint64_t peer, const tk::place::node_letter& what) {
    at(a).way->arrived(peer, tk::place::to_bytes(what));
    run();
  };
  at(a).way->up(77);
  says(77, tk::place::letter::interrupt{});
  says(77, tk::place::letter::unreachable{b, 1, "nothing came"});
  CHECK(at(a).interrupts == 0);
  CHECK(at(a).got.empty());
  // A connection between b and c fell, and both say so.
  says(2, tk::place::letter::unreachable{b, 1, "it closed the connection"});
  CHECK(heard<tk::msg::lost>(at(a)).size() == 4);
  at(a).got.clear();
  says(1, tk::place::letter::unreachable{c, 1, "it closed the connection"});
  CHECK(at(a).got.empty());
}

TEST_CASE("a node that was not taken yet wants the one that leads again, unless that has said why not") {
  lab::nodes all;
  CHECK(all.each[b]->way->awaits_leader());
  all.connect(b);
  all.pass();
  CHECK_FALSE(all.each[b]->way->awaits_leader());
  all.each[b]->way->down(1, "closed by the other side");
  CHECK(all.each[b]->way->awaits_leader());
  CHECK(all.each[b]->failed.empty());
  all.start(a, 2);
  all.connect(b);
  all.pass();
  all.now += std::chrono::seconds(30);
  all.each[a]->way->arrived(2, tk::place::to_bytes(tk::place::letter::ping{}));
  all.each[a]->way->tick();
  all.pass();
  CHECK(all.each[a]->failed.find("is not complete after 30 s:\n  - 'c'") != std::string::npos);
  CHECK(all.each[b]->failed == "'a' turned this node away: " + all.each[a]->failed);
  all.each[b]->way->down(2, "closed by the other side");
  CHECK_FALSE(all.each[b]->way->awaits_leader());
}

TEST_CASE_FIXTURE(joined, "a node that sends what it may not is closed, and the run hears of its loss") {
  const auto hurt = [&](const std::vector<std::byte>& bytes) {
    at(a).got.clear();
    at(a).way->arrived(1, bytes);
    CHECK(heard<tk::msg::lost>(at(a)).size() == 4);
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
