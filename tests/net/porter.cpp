// SPDX-License-Identifier: Apache-2.0
// Values on their way: what is fetched once, what is put together aside, and in which order messages come.
#include "net/porter.hpp"

#include <doctest/doctest.h>

#include "net/gateway_lab.hpp"

namespace tk = twinkle;
using lab::a;
using lab::b;
using lab::c;
using lab::endpoint;
using lab::joined;
using lab::model;
using lab::rows_of;
using lab::sampler;
using lab::task;
using lab::wide_rows;
using tk::address;

namespace {

constexpr std::size_t row_bytes = lab::width * sizeof(float);

struct trained : joined {
  void train(tk::route::call_id call, const tk::batch& rows, std::size_t worker = 0) {
    at(a).way->post(address::router(model), address::worker(model, worker), task(call, endpoint(*this, model, "train"), rows));
  }
  void bring() {
    pass();
    fetch();
    pass();
  }
  std::vector<tk::route::call_id> calls() {
    std::vector<tk::route::call_id> found;
    for (const lab::delivered& each : at(c).got)
      found.push_back(std::get<tk::msg::task>(each.content).call);
    return found;
  }
};

using ids = std::vector<tk::route::call_id>;

}  // namespace

TEST_CASE_FIXTURE(trained, "rows that a worker of the node still has are not fetched for another") {
  const tk::batch described = sampled(100);
  train(1, described, 0);
  run();
  REQUIRE(at(c).got.size() == 1);
  CHECK(at(c).fetched_bytes == 100 * row_bytes);
  train(2, described, 1);
  run();
  REQUIRE(at(c).got.size() == 2);
  CHECK(at(c).fetched_bytes == 100 * row_bytes);
  CHECK(rows_of(at(c).got[1])[lab::wide][99][0] == 99);
  CHECK(rows_of(at(c).got[1])[lab::wide][0].data() == rows_of(at(c).got[0])[lab::wide][0].data());
  at(c).got.clear();
  train(3, described, 1);
  run();
  CHECK(at(c).fetched_bytes == 200 * row_bytes);
}

TEST_CASE_FIXTURE(trained, "rows that could not be fetched are asked for again, by whoever needs them next") {
  const tk::batch described = sampled(100);
  auto kept = std::move(at(b).kept);
  at(b).lose_rows(9);
  train(1, described, 0);
  run();
  CHECK(at(c).got.empty());
  at(b).kept = std::move(kept);
  train(2, described, 0);
  run();
  CHECK(calls() == ids{2});
}

TEST_CASE_FIXTURE(trained, "what has to be put together is so aside, and what came after it waits") {
  // Elements of one batch that lie on two nodes, one of them where it is needed.
  const tk::batch far = sampled(100);
  at(c).way->post(address::worker(model, 0), address::router(model), tk::msg::reply{0, 1, tk::payload{wide_rows(100, 500)}});
  run();
  const tk::batch near = rows_of(at(a).got.back());
  at(a).got.clear();
  train(1, tk::batch::concat(std::vector{far, near}));
  train(2, wide_rows(1));
  train(3, far[{0, 50}]);
  bring();
  CHECK(at(c).asides.size() == 1);
  CHECK(calls().empty());
  SUBCASE("and then comes in its order") {
    do_asides();
    CHECK(calls() == ids{1, 2, 3});
    CHECK(rows_of(at(c).got[0])[lab::wide][0][0] == 0);
    CHECK(rows_of(at(c).got[0])[lab::wide][199][0] == 599);
  }
  SUBCASE("but others do not") {
    train(4, wide_rows(1), 1);
    bring();
    CHECK(calls() == ids{4});
  }
  SUBCASE("and is nobody's when its worker is replaced meanwhile") {
    at(a).way->spawn(address::worker(model, 0));
    pass();
    do_asides();
    CHECK(calls().empty());
    train(5, wide_rows(1));
    run();
    CHECK(calls() == ids{5});
  }
}
