// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/graph.hpp"

#include <doctest/doctest.h>

#include "twinkle/flow/context.hpp"

namespace tk = twinkle;

namespace {

struct nobody final : tk::body_services {
  [[nodiscard]] tk::time_point now() const override { return {}; }
  void sleep_until(tk::time_point) override {}
  [[nodiscard]] bool stopping() const override { return false; }
  void hand_out(const tk::batch&) override {}
  [[nodiscard]] std::shared_ptr<tk::collective_port> along(std::initializer_list<std::string_view>) override {
    return nullptr;
  }
};

struct origin {
  explicit origin(std::size_t rows_) : rows(rows_) {}
  static tk::emission emits(std::size_t rows) { return {rows, rows - 1, true}; }
  std::optional<tk::batch> next(tk::context&) { return tk::batch{}; }
  tk::result<std::optional<tk::batch>> last(tk::context&) { return std::optional<tk::batch>{}; }

  std::size_t rows;
};

struct grader {
  explicit grader(tk::context& ctx, int bias = 0) : rank(ctx.rank()), offset(bias) {}
  tk::metrics grade(tk::context&, tk::batch) { return {}; }

  std::size_t rank;
  int offset;
};

struct worker : grader {
  using grader::grader;
  [[nodiscard]] tk::batch unchanged(tk::context&, const tk::batch& rows) const { return rows; }
  tk::result<tk::batch> refuse(tk::context&, tk::batch) { return tk::fault{"", "", std::nullopt, "not today"}; }
  void swallow(tk::context&, tk::batch) {}
  [[nodiscard]] tk::weights state(tk::context&) const { return tk::weights{{}, 5}; }
  tk::result<tk::weights> state_or_not(tk::context&) { return tk::weights{}; }
  void load(tk::context&, const tk::weights& newest) { loaded = newest.version(); }
  tk::metrics measure(tk::context&, tk::weights) { return tk::metrics{}.sum("seen", 1); }

  std::uint64_t loaded = 0;
};

struct fixture {
  tk::graph g{"test"};
  tk::device_group host{.name = "host", .ranks = 2, .device_type = "cpu"};
  tk::stage<origin> source = g.spawn<origin>("source", {host}, std::size_t{4});
  tk::stage<worker> stage = g.spawn<worker>("stage", {host});

  nobody services;
  tk::worker_place place{"here", 0, {0}, {}, std::make_shared<const tk::device_mesh>()};
  tk::context ctx{place, services, 1, -1};

  [[nodiscard]] const std::vector<tk::blueprint::endpoint_spec>& endpoints(std::size_t of) const {
    return g.plan().stages[of].endpoints;
  }
  tk::result<tk::payload> invoke(std::size_t endpoint, worker& on, tk::payload input) {
    return endpoints(1)[endpoint].target.invoke(&on, ctx, std::move(input));
  }
};

}  // namespace

TEST_CASE("an option is what was given, or else what the graph says, and is declared as text with its help") {
  tk::graph g{"test", {{"steps", "7"}, {"rate", "0.25"}, {"file", "a.jsonl"}}};
  CHECK(g.option("steps", 200, "training steps") == 7);
  CHECK(g.option("rate", 0.5, "learning rate") == 0.25);
  CHECK(g.option("file", "train.jsonl", "rows") == "a.jsonl");
  CHECK(g.option("seed_rows", std::size_t{3}, "more") == 3);
  CHECK(g.option("name", std::string("x"), "a name") == "x");
  REQUIRE(g.plan().options.size() == 5);
  CHECK(g.plan().options[0].name == "steps");
  CHECK(g.plan().options[0].value == "7");
  CHECK(g.plan().options[0].help == "training steps");
  CHECK(g.plan().options[3].value == "3");
}

TEST_CASE("an option that is no such number is refused by its flag and text") {
  for (const char* given : {"", "many", "7x", " 7", "1e99999", "99999999999999999999"}) {
    tk::graph g{"test", {{"steps", given}}};
    CHECK_THROWS_WITH_AS((void)g.option("steps", 200, ""),
                         (std::string("--steps is '") + given + "', which is not a number that it can hold").c_str(),
                         tk::error);
  }
  tk::graph g{"test", {{"steps", "-1"}}};
  CHECK(g.option("steps", 200, "") == -1);
  CHECK_THROWS_AS((void)g.option("steps", std::size_t{200}, ""), tk::error);
}

TEST_CASE("the seed of a graph is its flag, or 1") {
  CHECK(tk::graph{"test"}.seed() == 1);
  CHECK(tk::graph{"test", {{"seed", "18446744073709551615"}}}.seed() == 18446744073709551615ULL);
  CHECK_THROWS_AS((void)tk::graph("test", {{"seed", "0x7"}}).seed(), tk::error);
}

TEST_CASE_FIXTURE(fixture, "an endpoint has its given name, or the file and line of the call that declares it") {
  const auto rows = source.emits(&origin::next, {.name = "next"});
  const std::size_t line = __LINE__ + 1;
  (void)rows.to(stage, &worker::unchanged);
  (void)rows.to(stage, &worker::swallow, {.name = "swallow"});
  CHECK(g.plan().name_of({0, 0}) == "source.next");
  CHECK(g.plan().name_of({1, 0}) == "stage.graph.cpp:" + std::to_string(line));
  CHECK(g.plan().name_of({1, 1}) == "stage.swallow");
}

TEST_CASE_FIXTURE(fixture, "a member function that is named twice is one endpoint; another is another") {
  const auto rows = source.emits(&origin::next, {.name = "first"});
  (void)source.emits(&origin::next);
  CHECK(endpoints(0).size() == 1);
  CHECK(endpoints(0)[0].name == "first");
  (void)rows.to(stage, &worker::unchanged);
  (void)rows.to(stage, &worker::refuse);
  (void)rows.to(stage, &worker::unchanged);
  CHECK(endpoints(1).size() == 2);
  CHECK(g.plan().edges[2].to == tk::blueprint::port{1, 0});
  CHECK(g.plan().problems.empty());
}

TEST_CASE_FIXTURE(fixture, "an endpoint that is declared again under another name, or with other options, is a problem") {
  const auto rows = source.emits(&origin::next, {.name = "next"});
  (void)source.emits(&origin::next, {.name = "second"});
  (void)rows.to(stage, &worker::unchanged, {.name = "pass"});
  (void)rows.to(stage, &worker::unchanged, {.name = "pass", .retries = 1});
  const tk::to_options how{.name = "swallow", .dispatch = tk::by_groups(), .reads = {tk::text{"answer"}}};
  (void)rows.to(stage, &worker::swallow, how);
  (void)rows.to(stage, &worker::swallow, how);  // the very same
  const std::string rule = ", declared before; an endpoint has one name and one set of options";
  CHECK(g.plan().problems == std::vector<std::string>{"stage 'source': 'second' is the endpoint 'next'" + rule,
                                                      "stage 'stage': 'pass' is the endpoint 'pass'" + rule});
}

TEST_CASE_FIXTURE(fixture, "const and inherited member functions are endpoints") {
  const auto rows = source.emits(&origin::next);
  (void)rows.to(stage, &worker::unchanged);
  (void)rows.to(stage, &worker::grade);
  worker object{ctx};
  const auto value = invoke(0, object, tk::batch{});
  CHECK(std::holds_alternative<tk::batch>(value.value()));
  CHECK(std::holds_alternative<tk::metrics>(invoke(1, object, tk::batch{}).value()));
  CHECK(endpoints(1)[0].target.returns_batch);
  CHECK_FALSE(endpoints(1)[1].target.returns_batch);
  CHECK(endpoints(1)[1].target.returns_metrics);
}

TEST_CASE_FIXTURE(fixture, "result is accepted wherever a value is, and its fault comes out as one") {
  (void)source.emits(&origin::last).to(stage, &worker::refuse).to(stage, &worker::swallow);
  stage.publishes(&worker::state_or_not, {.after = &worker::swallow}).to(stage, &worker::measure);
  worker object{ctx};
  CHECK(invoke(0, object, tk::batch{}).failure().cause == "not today");
  CHECK(std::holds_alternative<std::monostate>(invoke(1, object, tk::batch{}).value()));
  CHECK(endpoints(1)[0].target.returns_batch);
  origin made{4};
  const auto end = endpoints(0)[0].target.invoke(&made, ctx, {});
  CHECK(std::holds_alternative<tk::end_of_source>(end.value()));
}

TEST_CASE_FIXTURE(fixture, "state and load endpoints move weights") {
  (void)source.emits(&origin::next).to(stage, &worker::swallow);
  stage.publishes(&worker::state, {.after = &worker::swallow}).to(stage, &worker::load, {.every = 3});
  worker object{ctx};
  const auto state = invoke(1, object, {});
  CHECK(std::get<tk::weights>(state.value()).version() == 5);
  CHECK(invoke(2, object, state.value()).has_value());
  CHECK(object.loaded == 5);
  REQUIRE(g.plan().publications.size() == 1);
  CHECK(g.plan().publications[0].after == 0);
  CHECK(g.plan().publications[0].subscribers[0].every == 3);
  CHECK(g.plan().problems.empty());
}

TEST_CASE_FIXTURE(fixture, "publishing after what no stream goes to is a problem that names the stage") {
  (void)stage.publishes(&worker::state, {.after = &worker::swallow});
  CHECK(g.plan().problems == std::vector<std::string>{
                                 "stage 'stage' publishes after an endpoint that no stream goes to; give .after an "
                                 "endpoint that is fed before publishes"});
}

TEST_CASE_FIXTURE(fixture, "a worker's type may say what it emits; the call may say otherwise") {
  CHECK(g.plan().stages[0].emits.rows == 4);
  CHECK(g.plan().stages[0].emits.least == 3);
  CHECK(g.plan().stages[0].emits.endless);
  (void)source.emits(&origin::next, {.rows = 9});
  CHECK(g.plan().stages[0].emits.rows == 9);
  CHECK(g.plan().stages[1].emits.rows == 0);
}

TEST_CASE_FIXTURE(fixture, "each worker is built from a copy of the arguments, with the context where it takes one") {
  const auto again = g.spawn<worker>("again", {host}, 7);
  CHECK(again.ordinal() == 2);
  for (int time = 0; time < 2; ++time) {
    const auto made = g.plan().stages[2].make(ctx);
    CHECK(static_cast<worker*>(made.get())->offset == 7);
  }
  CHECK(static_cast<origin*>(g.plan().stages[0].make(ctx).get())->rows == 4);
}

TEST_CASE_FIXTURE(fixture, "a stream that is named twice fans out, and operators belong to their branch") {
  const auto rows = source.emits(&origin::next);
  const auto groups = rows.group_by(tk::parent).rebatch(6, {.buffer = 20});
  (void)groups.to(stage, &worker::unchanged).to(stage, &worker::swallow);
  groups.to(stage, &worker::grade).stop_after(3);
  (void)rows.to(stage, &worker::refuse);
  const auto& edges = g.plan().edges;
  REQUIRE(edges.size() == 4);
  REQUIRE(edges[0].regroups.size() == 2);
  CHECK(edges[0].regroups[1].rows == 6);
  CHECK(edges[0].regroups[1].buffer == 20);
  CHECK(edges[1].regroups.empty());
  CHECK(edges[1].grouped);
  CHECK(edges[2].from == tk::blueprint::port{0, 0});
  CHECK(edges[3].regroups.empty());
  CHECK_FALSE(edges[3].grouped);
  CHECK(g.plan().stop_after->of == tk::blueprint::port{1, 2});
  CHECK(g.plan().stop_after->steps == 3);
}

TEST_CASE("an endpoint for calls says which columns it reads, if it takes one batch alone") {
  struct called {
    tk::batch one(tk::context&, tk::batch rows) { return rows; }
    tk::batch several(tk::context&, tk::batch rows, int) { return rows; }
  };
  const tk::column<float> reward{"reward"};
  tk::graph g{"calls"};
  auto stage = g.spawn<called>("called", {{.name = "host", .device_type = "cpu"}});
  (void)stage.endpoint(&called::one, {.reads = {reward, tk::text{"answer"}}});
  CHECK(*g.plan().stages[0].endpoints[0].reads == std::vector<std::string>{"reward", "answer"});
  CHECK(g.plan().problems.empty());
  (void)stage.endpoint(&called::several, {.reads = {reward}});
  CHECK(g.plan().problems == std::vector<std::string>{"stage 'called' has an endpoint with .reads that does not take one "
                                                      "batch alone; let it take one, or select the columns where it is "
                                                      "called"});
}
