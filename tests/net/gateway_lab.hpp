// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <map>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/bulk/bulk_store.hpp"
#include "net/gateway.hpp"
#include "runtime/assembly.hpp"
#include "stories/toy.hpp"
#include "twinkle/data/frame.hpp"

/// Three nodes in one thread, joined by queues: a leads, the samplers of a toy pipeline are on b, its model on c.
namespace lab {

namespace tk = twinkle;
using tk::address;

constexpr std::size_t a = 0, b = 1, c = 2;
constexpr std::size_t sampler = 1, model = 2;  // stages

inline tk::place::cluster machines() {
  return {"lab",
          {{.name = "a", .host = "127.0.0.1", .port = 7100, .cpus = 2},
           {.name = "b", .host = "127.0.0.1", .port = 7110, .devices = 4},
           {.name = "c", .host = "127.0.0.1", .port = 7120, .devices = 2}}};
}

struct delivered {
  tk::address from;
  tk::address to;
  tk::message content;
};

class nodes;

/// The world of one node's gateway: what it sends is queued.
class node final : public tk::net::gateway_world {
 public:
  node(nodes& all, std::size_t number) : all_(all), number_(number) {}

  [[nodiscard]] tk::time_point now() const override;
  void send(std::uint64_t peer, std::vector<std::byte> bytes) override;
  void close(std::uint64_t peer) override;
  std::uint64_t keep(const tk::buffer& bytes) override {
    if (meanwhile)
      std::exchange(meanwhile, nullptr)();
    return kept->keep(bytes);
  }
  [[nodiscard]] std::optional<tk::buffer> find(std::uint64_t key) const override { return kept->find(key); }
  void release(std::uint64_t key) override { kept->release(key); }
  void lose_rows(std::uint64_t process = 0) { kept = std::make_unique<tk::net::bulk_store>(process); }
  void know(std::vector<tk::net::bulk_peer> peers) override { known = std::move(peers); }
  void fetch(std::size_t from, std::vector<tk::bulk_range> what, std::span<std::byte> into,
             std::function<void(std::optional<std::string>)> then) override;
  void aside(std::function<void()> what) override { asides.push_back(std::move(what)); }
  void deliver(const tk::address& from, const tk::address& to, tk::message&& content) override {
    got.push_back({from, to, std::move(content)});
  }

  std::unique_ptr<tk::net::gateway> way;
  std::unique_ptr<tk::net::bulk_store> kept = std::make_unique<tk::net::bulk_store>();
  std::vector<tk::net::bulk_peer> known;
  std::vector<delivered> got;
  std::vector<std::string> said;
  std::size_t fetched_bytes = 0;
  bool complete = false;
  std::string failed;
  std::optional<int> goodbye;
  std::vector<tk::address> spawned;
  std::size_t interrupts = 0;
  std::deque<std::function<void()>> asides;
  std::function<void()> meanwhile;  // happens while it keeps something

 private:
  nodes& all_;
  std::size_t number_;
};

class nodes {
 public:
  nodes() {
    for (std::size_t at = 0; at < 3; ++at)
      each.push_back(std::make_unique<node>(*this, at));
    for (std::size_t at = 0; at < 3; ++at)
      start(at, 1);
  }

  ~nodes() {
    for (const auto& each_node : each)
      each_node->got.clear();  // whose rows are released by letters
  }
  nodes(const nodes&) = delete;
  nodes& operator=(const nodes&) = delete;

  /// The process of a node, anew where there was one.
  void start(std::size_t at, std::uint64_t incarnation) {
    node& self = *each[at];
    self.lose_rows(incarnation);
    tk::net::gateway_options how;
    how.machines = machines();
    how.node = at;
    how.graph = 42;
    how.incarnation = incarnation;
    how.host = "127.0.0.1";
    how.port = static_cast<std::uint16_t>(7100 + 10 * at);
    tk::net::gateway_events to;
    to.complete = [&self] { self.complete = true; };
    to.failed = [&self](const std::string& why) { self.failed = why; };
    to.goodbye = [&self](int code) { self.goodbye = code; };
    to.spawn = [&self](const tk::address& who) { self.spawned.push_back(who); };
    to.interrupt = [&self] { ++self.interrupts; };
    to.log = [&self](const std::string& line) { self.said.push_back(line); };
    self.way = std::make_unique<tk::net::gateway>(how, placed, self, to);
  }

  /// A connection between the leader and another node, whose number is the same on both sides.
  void connect(std::size_t other) {
    peers[++numbers] = other;
    each[a]->way->up(numbers);
    each[other]->way->up(numbers);
  }
  void join() {
    connect(b);
    connect(c);
    pass();
  }

  /// All letters that are on their way arrive, and those that they cause.
  void pass() {
    while (!letters.empty()) {
      letter next = std::move(letters.front());
      letters.pop_front();
      if (peers.contains(next.peer))
        each[next.to]->way->arrived(next.peer, std::move(next.bytes));
    }
  }
  /// All fetches are answered.
  void fetch() {
    while (!fetches.empty()) {
      const auto next = std::move(fetches.front());
      fetches.pop_front();
      next();
    }
  }
  /// What takes long is done. Whether there was any.
  bool do_asides() {
    bool any = false;
    for (const auto& each_node : each)
      for (; !each_node->asides.empty(); any = true) {
        const auto next = std::move(each_node->asides.front());
        each_node->asides.pop_front();
        next();
      }
    return any;
  }
  void run() {
    while (do_asides() || !letters.empty() || !fetches.empty()) {
      pass();
      fetch();
    }
  }

  struct letter {
    std::uint64_t peer = 0;
    std::size_t to = 0;
    std::vector<std::byte> bytes;
  };

  tk::graph pipeline = toy::pipeline();
  tk::place::layout placed = tk::runtime::prepare(pipeline.plan(), {.machines = machines()});
  std::vector<std::unique_ptr<node>> each;
  std::map<std::uint64_t, std::size_t> peers;  // the other node, by connection
  std::uint64_t numbers = 0;
  std::deque<letter> letters;
  std::deque<std::function<void()>> fetches;
  tk::time_point now{};
};

inline tk::time_point node::now() const { return all_.now; }

inline void node::send(std::uint64_t peer, std::vector<std::byte> bytes) {
  if (const auto at = all_.peers.find(peer); at != all_.peers.end())
    all_.letters.push_back({peer, number_ == a ? at->second : a, std::move(bytes)});
}

inline void node::close(std::uint64_t peer) {
  const auto at = all_.peers.find(peer);
  if (at == all_.peers.end())
    return;
  const std::size_t other = number_ == a ? at->second : a;
  all_.peers.erase(at);
  all_.each[other]->way->down(peer, "closed by the other side");
}

inline void node::fetch(std::size_t from, std::vector<tk::bulk_range> what, std::span<std::byte> into,
                        std::function<void(std::optional<std::string>)> then) {
  CHECK(what.size() <= tk::frame_limits{}.ranges_max);
  all_.fetches.push_back([this, from, what = std::move(what), into, then = std::move(then)] {
    std::size_t at = 0;
    for (const tk::bulk_range& range : what) {
      const auto found = all_.each[from]->find(range.key);
      if (!found || range.first + range.bytes > found->bytes())
        return then("node " + std::to_string(from) + " keeps nothing under " + std::to_string(range.key));
      std::memcpy(into.data() + at, found->data() + range.first, range.bytes);
      at += range.bytes;
    }
    fetched_bytes += at;
    then(std::nullopt);
  });
}

inline constexpr tk::ragged<float> wide{"wide"};
inline constexpr std::size_t width = 1000;  // of a row: 4,000 bytes

inline tk::batch wide_rows(std::size_t count, float first = 0) {
  std::vector<std::vector<float>> values;
  std::vector<tk::row_tag> tags(count);
  for (std::size_t row = 0; row < count; ++row) {
    values.emplace_back(width, first + static_cast<float>(row));
    tags[row].id.sequence = row;
  }
  return tk::batch{}.with(wide, values).with_tags(std::move(tags));
}

inline std::size_t endpoint(const nodes& in, std::size_t stage, const std::string& name) {
  const auto& all = in.placed.stages[stage].endpoints;
  for (std::size_t at = 0; at < all.size(); ++at)
    if (all[at].name == name)
      return at;
  FAIL("no endpoint " << name);
  return 0;
}

inline tk::message task(tk::route::call_id call, std::size_t of, tk::payload input) {
  tk::msg::task made;
  made.call = call;
  made.endpoint = of;
  made.input = std::move(input);
  return made;
}

inline float first_value(const tk::batch& rows, std::size_t row) { return rows[wide][row][0]; }

inline const tk::batch& rows_of(const delivered& of) {
  if (const auto* task = std::get_if<tk::msg::task>(&of.content))
    return std::get<tk::batch>(task->input);
  return std::get<tk::batch>(std::get<tk::msg::reply>(of.content).value.value());
}

struct joined : nodes {
  joined() {
    join();
    REQUIRE((each[a]->complete && each[b]->complete && each[c]->complete));
  }

  node& at(std::size_t which) { return *each[which]; }

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

}  // namespace lab
