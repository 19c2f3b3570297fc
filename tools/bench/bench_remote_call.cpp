// SPDX-License-Identifier: Apache-2.0
// A call with small rows to a worker on another node, by its router alone and as a client sees it, against a request of
// CAF's to an actor in another process that hands over to a thread and back, with as many bytes and the same scheduler.
// Blocks of all take turns.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <chrono>
#include <semaphore>
#include <thread>

#include "net/node_process.hpp"
#include "runtime/assembly.hpp"
#include "runtime/real_executor.hpp"
#include "twinkle/data/wire.hpp"

namespace {

namespace tk = twinkle;
using opaque = std::vector<char>;

constexpr std::size_t rows = 16;
constexpr tk::column<std::int64_t> number{"number"};

struct source {
  std::optional<tk::batch> next(tk::context&) { return std::nullopt; }
};
struct echo {
  tk::batch pass(tk::context&, tk::batch rows) { return rows; }
};

tk::graph pipeline() {
  tk::graph g{"bench"};
  auto from = g.spawn<source>("source", {{.name = "host", .ranks = 1, .device_type = "cpu"}});
  auto to = g.spawn<echo>("echo", {{.name = "far", .ranks = 1}});
  auto next = g.spawn<echo>("next", {{.name = "farther", .ranks = 1}});
  static_cast<void>(from.emits(&source::next).to(to, &echo::pass).to(next, &echo::pass));
  return g;
}

tk::batch some_rows() {
  std::vector<tk::row_tag> tags(rows);
  for (std::size_t row = 0; row < tags.size(); ++row)
    tags[row].id.sequence = row;
  return tk::batch{}.with(number, std::vector<std::int64_t>(rows)).with_tags(std::move(tags));
}

// Ports that nobody has, with one behind the first that nobody has either.
struct ports {
  std::uint16_t first;
  std::uint16_t other;
  std::uint16_t bare;

  static ports free() {
    boost::asio::io_context context;
    using boost::asio::ip::tcp;
    const auto any = [&] { return tcp::acceptor(context, {boost::asio::ip::address_v4::loopback(), 0}).local_endpoint().port(); };
    return {static_cast<std::uint16_t>(any() & ~1), any(), any()};
  }
};

tk::node_options options(const ports& at, const std::string& node) {
  return {{"bench",
           {{.name = "a", .host = "127.0.0.1", .port = at.first, .cpus = 1},
            {.name = "b", .host = "127.0.0.1", .port = at.other, .devices = 2}}},
          node};
}

struct tuned final : caf::actor_system_config {
  tuned() {
    load<caf::io::middleman>();
    set("work-stealing.moderate-poll-attempts", std::size_t{0});
    set("work-stealing.aggressive-poll-attempts", std::size_t{600});
    set("scheduler.max-throughput", std::size_t{50});
    set("scheduler.max-threads", std::size_t{2});
  }
};

// Hands over to a thread and back.
struct bare_echo final : caf::event_based_actor {
  explicit bare_echo(caf::actor_config& config) : caf::event_based_actor(config) {}
  caf::behavior make_behavior() override {
    return {[this](opaque& in) {
              promises_.push_back(make_response_promise<opaque>());
              thread_->run([in = std::move(in), self = caf::actor(this)]() mutable {
                caf::anon_send(self, caf::ok_atom_v, std::move(in));
              });
              return promises_.back();
            },
            [this](caf::ok_atom, opaque& out) {
              promises_.front().deliver(std::move(out));
              promises_.erase(promises_.begin());
            }};
  }

 private:
  tk::runtime::real_clock clock_;
  tk::runtime::real_executor executor_{clock_};
  std::unique_ptr<tk::body_seam> thread_ = executor_.make("bare", tk::bodies::own_thread);
  std::vector<caf::typed_response_promise<opaque>> promises_;
};

// The other process: a node that serves, and bare CAF.
[[noreturn]] void be_the_other(const ports& at) {
  std::thread([at] {
    static tuned config;
    static caf::actor_system system{config};
    if (!system.middleman().publish(system.spawn<bare_echo>(), at.bare, "127.0.0.1"))
      std::_Exit(2);
  }).detach();
  const tk::graph g = pipeline();
  tk::net::node_process self(g, options(at, "b"));
  tk::ensure(self.join(), "the run begins");
  std::_Exit(self.serve());
}

class ours {
 public:
  explicit ours(const ports& at) : self_(graph_, options(at, "a")), meter_(3) {
    tk::ensure(self_.join(), "the run begins");
    world_ = self_.make_world();
    for (const tk::address& each : {tk::address::client(0), tk::address::session(), bare_router})
      world_->spawn(each, std::make_unique<receiver>(*this));
    world_->spawn(tk::address::worker(2, 0), nullptr);
    world_->open();
    world_->post(bare_router, tk::address::worker(2, 0), tk::msg::task{0, tk::msg::task::kind::construct});
    answered_.acquire();
    tk::runtime::assembly_options how;
    how.here = 0;
    how.kit = [this](const tk::stage_plan& stage) { return self_.make_kit(stage); };
    tk::runtime::spawn_stage(self_.placed().stages[1], how, world_->all(), meter_);
    post(tk::msg::build{});
    answered_.acquire();
  }
  ~ours() {
    post(tk::msg::abort{{"bench", "", {}, "the end"}, std::chrono::seconds(10)});
    answered_.acquire();
    world_->close();
    world_ = nullptr;
    self_.conclude(0);
  }
  enum class from { router, client };
  void calls(from whom, std::size_t count, std::vector<double>& times) {
    whom_ = whom;
    times_ = &times;
    left_ = count;
    call();
    answered_.acquire();
  }

 private:
  static constexpr tk::address bare_router = tk::address::router(2);  // that does nothing but send and receive

  struct receiver final : tk::actor_role {
    explicit receiver(ours& of) : of_(of) {}
    void receive(tk::message&& content) override {
      if (of_.left_ == 0)
        return of_.answered_.release();
      if (const auto* answer = std::get_if<tk::msg::answer>(&content))
        tk::ensure(std::get<tk::batch>(std::get<tk::payload>(answer->value.value())).rows() == rows, "rows");
      else
        tk::ensure(std::get<tk::batch>(std::get<tk::msg::reply>(content).value.value()).rows() == rows, "rows");
      of_.times_->push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - of_.began_).count());
      if (--of_.left_ == 0)
        of_.answered_.release();
      else
        of_.call();
    }
    ours& of_;
  };
  void call() {
    began_ = std::chrono::steady_clock::now();
    if (whom_ == from::router) {
      tk::msg::task task{++next_};
      task.input = rows_;
      return world_->post(bare_router, tk::address::worker(2, 0), std::move(task));
    }
    tk::route::call how{"pass"};
    how.input = rows_;
    post(tk::msg::call{next_++, tk::address::client(0), 0, std::move(how)});
  }
  void post(tk::message&& content) { world_->post({}, tk::address::router(1), std::move(content)); }

  tk::graph graph_ = pipeline();
  tk::net::node_process self_;
  tk::busy_meter meter_;
  std::unique_ptr<tk::runtime::run_world> world_;
  tk::batch rows_ = some_rows();
  std::counting_semaphore<8> answered_{0};
  std::uint64_t next_ = 0;
  from whom_ = from::client;
  std::size_t left_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::vector<double>* times_ = nullptr;
};

class bare {
 public:
  explicit bare(const ports& at) {
    const std::size_t bytes = to_bytes(to_wire(some_rows())).size();
    const caf::actor other = system_.middleman().remote_actor("127.0.0.1", at.bare).value();
    caller_ = system_.spawn([this, other, bytes](caf::event_based_actor* self) -> caf::behavior {
      return {[this, self, other, bytes](caf::ok_atom) { call(self, other, opaque(bytes)); }};
    });
  }
  ~bare() { caf::anon_send_exit(caller_, caf::exit_reason::user_shutdown); }
  void calls(std::size_t count, std::vector<double>& times) {
    times_ = &times;
    left_ = count;
    caf::anon_send(caller_, caf::ok_atom_v);
    answered_.acquire();
  }

 private:
  void call(caf::event_based_actor* self, const caf::actor& other, opaque what) {
    began_ = std::chrono::steady_clock::now();
    self->request(other, caf::infinite, std::move(what)).then([this, self, other](opaque& back) {
      times_->push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began_).count());
      if (--left_ == 0)
        answered_.release();
      else
        call(self, other, std::move(back));
    });
  }

  tuned config_;
  caf::actor_system system_{config_};
  caf::actor caller_;
  std::counting_semaphore<8> answered_{0};
  std::size_t left_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::vector<double>* times_ = nullptr;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void remote_call(benchmark::State& state) {
  const ports at = ports::free();
  const pid_t other = fork();  // before there are any threads
  if (other == 0)
    be_the_other(at);
  {
    ours left{at};
    std::this_thread::sleep_for(std::chrono::seconds(1));  // until the other has published
    bare right{at};
    std::vector<double> of_router;
    std::vector<double> of_client;
    std::vector<double> of_bare;
    for (auto _ : state) {
      std::vector<double> times;
      left.calls(ours::from::router, 200, times);
      of_router.push_back(median(times));
      times.clear();
      left.calls(ours::from::client, 200, times);
      of_client.push_back(median(times));
      times.clear();
      right.calls(200, times);
      of_bare.push_back(median(times));
    }
    state.counters["router us"] = median(of_router);
    state.counters["client us"] = median(of_client);
    state.counters["CAF us"] = median(of_bare);
    state.counters["router, times CAF"] = median(of_router) / median(of_bare);
    state.counters["client, times CAF"] = median(of_client) / median(of_bare);
  }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}
BENCHMARK(remote_call)->Iterations(40)->Unit(benchmark::kMillisecond);

}  // namespace
