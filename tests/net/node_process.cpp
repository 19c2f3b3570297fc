// SPDX-License-Identifier: Apache-2.0
// Nodes as a program has them, two in one process.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "net/control/sockets.hpp"
#include "stories/toy.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/runtime/node.hpp"
#include "twinkle/runtime/session.hpp"

namespace tk = twinkle;

namespace {

// What a node says, for a test to wait for.
class lines {
 public:
  void say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    said_ += line + "\n";
    changed_.notify_all();
  }
  void await(const std::string& text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return said_.find(text) != std::string::npos; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string said_;
};

struct two_nodes {
  two_nodes() {
    using namespace tk::net::control;
    while (!a) {  // a port that nobody has; somebody may have the one behind it
      how.machines.nodes[0].port = port_of(listening_socket({"127.0.0.1", 0}));
      try {
        make(a, "a");
      } catch (const tk::error&) {
        REQUIRE(++taken < 100);
      }
    }
    make(b, "b");
    bool joined = false;
    std::thread other([&] { joined = b->join(); });
    CHECK(a->join());
    other.join();
    CHECK(joined);
  }

  void make(std::unique_ptr<tk::node>& into, const std::string& name) {
    how.node = name;
    into = std::make_unique<tk::node>(pipeline, how);
  }

  lines said;
  tk::graph pipeline = toy::pipeline();
  tk::node_options how{.machines = {"two", {{.name = "a", .host = "127.0.0.1", .cpus = 4},
                                            {.name = "b", .host = "127.0.0.1", .devices = 6}}},
                       .node = "a",
                       .log = [this](const std::string& line) { said.say(line); }};
  std::unique_ptr<tk::node> a;
  std::unique_ptr<tk::node> b;
  tk::run_listener nobody;
  int taken = 0;
};

}  // namespace

TEST_CASE_FIXTURE(two_nodes, "a node that is lost before the run has begun is not forgotten") {
  b.reset();
  said.await("node 'b' was lost");
  tk::session run{pipeline, {.self = a.get()}, nobody};
  const tk::run_report& report = run.wait();
  REQUIRE(report.why);
  CHECK(to_string(*report.why).find("node 'b' was lost") != std::string::npos);
  CHECK(report.steps == 0);
}

TEST_CASE_FIXTURE(two_nodes, "a node takes part in one run") {
  b.reset();
  said.await("node 'b' was lost");
  static_cast<void>(tk::session{pipeline, {.self = a.get()}, nobody}.wait());
  CHECK_THROWS_WITH_AS((tk::session{pipeline, {.self = a.get()}, nobody}),
                       "node 'a' takes part in one run; make another node for another one", tk::error);
}
