// SPDX-License-Identifier: Apache-2.0
#include "node_process.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <utility>

#include "control/sockets.hpp"
#include "runtime/assembly.hpp"
#include "runtime/caf_world.hpp"
#include "runtime/real_environment.hpp"
#include "runtime/real_signals.hpp"
#include "runtime/roles.hpp"
#include "spread_world.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/place/addresses.hpp"

namespace twinkle::net {
namespace {

constexpr duration tick_every = std::chrono::milliseconds(100);
constexpr std::size_t strangers_max = 64;
constexpr duration farewell = std::chrono::seconds(3);

std::size_t find_node(const place::cluster& machines, const std::string& name) {
  if (const auto found = place::find(machines, name))
    return *found;
  throw error("the cluster '" + machines.name + "' has no node '" + name + "'; it has " + list(names(machines)));
}

void check_addresses(const node_options& how) {
  if (const std::vector<std::string> problems = place::address_problems(how.machines); !problems.empty())
    throw error("the cluster '" + how.machines.name + "' cannot be started:\n  - " + list(problems, "\n  - "));
  if (how.certificates || how.open_without_certificates)
    return;
  for (const place::cluster::node& each : how.machines.nodes)
    if (!place::is_loopback(each.host) && each.host != place::unknown_host)
      throw error("node '" + each.name + "' is on " + each.host + ", and there are no certificates, so that anybody there "
                  "could take part; give all nodes certificates (--tls-authority, --tls-certificate and --tls-key), or say "
                  "that the network is trusted (--insecure)");
}

// Of everything that has to be the same on all nodes.
std::uint64_t digest_of(const blueprint& plan, const place::layout& placed, const node_options& how) {
  digest all;
  all.add(place::draw(plan, placed)).add(how.seed);
  for (const stage_plan& stage : placed.stages)
    for (const blueprint::endpoint_spec& each : stage.endpoints)
      all.add(each.name);
  for (const blueprint::option& each : plan.options)
    all.add(each.name).add(each.value);
  return all.value();
}

// What it listens on itself, where others know it by `host`.
std::string bind_host_of(const place::cluster::node& self, const std::string& host) {
  try {
    return control::listening_host(host);
  } catch (const error& failed) {
    throw error("node '" + self.name + "' cannot listen: " + failed.what());
  }
}

std::optional<tls_files> files_of(const std::optional<node_certificates>& from) {
  if (!from)
    return std::nullopt;
  return tls_files{from->authority, from->certificate, from->key};
}

}  // namespace

/// A world that its process knows of while it is there.
class node_process::attached_world final : public runtime::run_world {
 public:
  explicit attached_world(node_process& of) : of_(of), inner_(std::make_unique<runtime::caf_world>(), *of.gateway_) {}
  ~attached_world() override { of_.detach(); }

  [[nodiscard]] time_point now() const override { return inner_.now(); }
  void wake(const address& who, time_point when) override { inner_.wake(who, when); }
  void post(const address& from, const address& to, message&& content) override {
    inner_.post(from, to, std::move(content));
  }
  void spawn(const address& who, std::unique_ptr<actor_role> role) override { inner_.spawn(who, std::move(role)); }
  [[nodiscard]] seams all() override { return {*this, *this, *this, inner_.all().executor}; }
  void open() override { of_.attach(*this); }
  void close() override {
    of_.detach();
    inner_.close();
  }
  void house(const address& who, std::unique_ptr<actor_role> role) { inner_.house(who, std::move(role)); }
  void deliver(const address& from, const address& to, message&& content) {
    inner_.deliver(from, to, std::move(content));
  }

 private:
  node_process& of_;
  spread_world inner_;
};

node_process::node_process(const graph& pipeline, node_options how)
    : pipeline_(pipeline),
      how_(std::move(how)),
      self_(find_node(how_.machines, how_.node)),
      placed_(runtime::prepare(pipeline.plan(), {.machines = how_.machines})),
      halls_(placed_, self_, [this](std::size_t node, std::vector<std::byte> head, buffer body) {
        bulk_->send(node, std::move(head), std::move(body));
      }),
      incarnation_(runtime::number_of_this_process()),
      store_(incarnation_),
      meter_(pipeline.plan().stages.size()) {
  check_addresses(how_);
  open();
  ticker_ = std::make_unique<runtime::real_ticker>(tick_every, [this] { gateway_->tick(); });
}

// The name of the leader may become known only when it starts.
std::string node_process::own_host() {
  if (how_.machines.nodes[self_].host != place::unknown_host)
    return how_.machines.nodes[self_].host;
  const place::cluster::node& leader = how_.machines.nodes.front();
  const time_point until = now() + how_.join_within;
  while (true) {
    try {
      return control::host_towards({leader.host, leader.port});
    } catch (const error& failed) {
      if (now() >= until)
        throw error("node '" + how_.node + "' found no way to '" + leader.name + "', which leads on " + leader.host + ", in " +
                    place::in_seconds(how_.join_within) + ": " + failed.what() + "; look whether that host is right");
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, tick_every);
  }
}

void node_process::open() {
  const place::cluster::node& self = how_.machines.nodes[self_];
  const std::string host = own_host();
  const std::string bind_host = bind_host_of(self, host);
  const std::uint64_t graph = digest_of(pipeline_.plan(), placed_, how_);
  const std::size_t strangers = strangers_max + how_.machines.nodes.size();  // all may come at once
  bulk_options bulk;
  bulk.cluster = how_.machines.name;
  bulk.graph = graph;
  bulk.node = self_;
  bulk.name = self.name;
  bulk.incarnation = incarnation_;
  bulk.bind_host = bind_host;
  bulk.port = self.port;
  bulk.tls = files_of(how_.certificates);
  bulk.silence = how_.silence;
  bulk.strangers_max = strangers;
  bulk_ = std::make_unique<bulk_plane>(std::move(bulk), store_);
  gateway_options way;
  way.machines = how_.machines;
  way.node = self_;
  way.graph = graph;
  way.incarnation = incarnation_;
  way.host = host;
  way.port = bulk_->port();
  way.join_within = how_.join_within;
  way.rhythm = place::pulse::rhythm::of(how_.silence);
  gateway_ = std::make_unique<gateway>(way, placed_, *this, events());
  bulk_->on_message([this](std::size_t from, const std::vector<std::byte>& head, buffer body) {
    halls_.arrived(from, head, std::move(body));
  });
  bulk_->on_silent([this](std::size_t node, std::uint64_t incarnation, const std::string& why) {
    gateway_->silent(node, incarnation, why);
  });
  const place::cluster::node& leader = how_.machines.nodes.front();
  const auto control = static_cast<std::uint16_t>(leader.port + 1);
  link_ = std::make_unique<control::control_link>(
      control::link_options{.tls = files_of(how_.certificates), .strangers_max = strangers},
      control::link_events{[this](std::uint64_t peer) { gateway_->up(peer); },
                           [this](std::uint64_t peer, std::vector<std::byte> bytes) {
                             gateway_->arrived(peer, std::move(bytes));
                           },
                           [this, leader, control](std::uint64_t peer, const std::string& why) {
                             gateway_->down(peer, why);
                             if (gateway_->awaits_leader())
                               link_->connect(leader.host, control);
                           }});
  if (gateway_->leads())
    link_->listen(bind_host, control);
  else
    link_->connect(leader.host, control);
}

gateway_events node_process::events() {
  gateway_events to;
  to.complete = [this] { set(complete_); };
  to.failed = [this](std::string why) {
    const std::lock_guard lock(mutex_);
    if (!failed_)
      failed_ = std::move(why);
    changed_.notify_all();
  };
  to.interrupt = [this] {
    std::function<void()> then;
    {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
      then = on_interrupt_;
    }
    changed_.notify_all();
    if (then)
      then();
  };
  to.goodbye = [this](int code) {
    const std::lock_guard lock(mutex_);
    goodbye_ = code;
    changed_.notify_all();
  };
  to.spawn = [this](const address& who) { spawn_worker(who); };
  to.log = how_.log;
  return to;
}

node_process::~node_process() {
  ticker_.reset();
  gateway_->close();
  link_->stop();
  bulk_->stop();
  aside_.join();  // now nobody calls anything
}

void node_process::set(bool& flag) {
  const std::lock_guard lock(mutex_);
  flag = true;
  changed_.notify_all();
}

bool node_process::join() {
  const place::cluster::node& leader = how_.machines.nodes.front();
  const auto control = static_cast<std::uint16_t>(leader.port + 1);
  const auto settled = [this] { return complete_ || failed_ || interrupted_ || goodbye_; };
  const time_point until = now() + how_.join_within + how_.silence;
  std::string obstacle;  // the last that says more than that nobody listens, or has closed: that is so at other times, too
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, tick_every, settled) && now() < until)
    if (const std::string last = link_->last_failure(leader.host, control);
        !last.empty() && (obstacle.empty() || (last != "connection refused" && last != "closed by the other side")))
      obstacle = last;
  if (complete_ && !failed_)
    return true;
  if (!failed_ && (interrupted_ || goodbye_)) {
    lock.unlock();
    if (leads())
      conclude(runtime::code_of_interrupted);
    return false;
  }
  if (!failed_)
    throw error("node '" + how_.node + "' did not get through to '" + leader.name + "', which leads, at " + leader.host + ":" +
                std::to_string(control) + (obstacle.empty() ? "" : ": " + obstacle) +
                "; start that node, and look whether host and port in the cluster file are right");
  if (leads())
    await_parting(lock);
  throw error(*failed_);
}

std::unique_ptr<runtime::run_world> node_process::make_world() {
  if (std::exchange(had_world_, true))
    throw error("node '" + how_.node + "' takes part in one run; make another node for another one");
  return std::make_unique<attached_world>(*this);
}

void node_process::attach(attached_world& world) {
  const std::lock_guard lock(world_mutex_);
  world_ = &world;
  for (const auto& each : std::exchange(early_, {}))
    each();
}

void node_process::detach() {
  std::vector<std::function<void()>> dropped;  // whose rows may be released: not under the lock
  const std::lock_guard lock(world_mutex_);
  world_ = nullptr;
  over_ = true;
  dropped.swap(early_);
}

// The node that leads may begin before this one has a world.
void node_process::when_there_is_a_world(std::function<void()> then) {
  const std::lock_guard lock(world_mutex_);
  if (world_ != nullptr)
    then();
  else if (!over_)
    early_.push_back(std::move(then));
}

void node_process::deliver(const address& from, const address& to, message&& content) {
  if (std::holds_alternative<msg::abandon>(content)) {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  when_there_is_a_world([this, from, to, held = std::make_shared<message>(std::move(content))] {
    world_->deliver(from, to, std::move(*held));
  });
}

void node_process::spawn_worker(const address& who) {
  when_there_is_a_world([this, who] {
    const auto stage = static_cast<std::size_t>(who.stage);
    std::shared_ptr<runtime::stage_kit>& kit = kits_[stage];
    if (!kit) {
      kit = make_kit(placed_.stages[stage]);
      kit->tells_times = true;
    }
    const auto index = static_cast<std::size_t>(who.index);
    world_->house(who, std::make_unique<runtime::worker_role>(kit, index, world_->all(), meter_));
  });
}

int node_process::serve() {
  const std::unique_ptr<runtime::run_world> world = make_world();
  world->open();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failed_ || goodbye_; });
  const int code = goodbye_.value_or(1);
  const std::string why = goodbye_ ? "" : *failed_;
  const bool stuck = abandoned_ || !goodbye_;
  lock.unlock();
  if (!why.empty() && how_.log)
    how_.log(why);
  if (stuck)
    std::_Exit(code);  // a body that does not end would keep the process
  return code;
}

void node_process::conclude(int code) {
  gateway_->say_goodbye(code);
  std::unique_lock lock(mutex_);
  await_parting(lock);
}

// Who is told how it ends goes by itself.
void node_process::await_parting(std::unique_lock<std::mutex>& lock) {
  const time_point until = now() + farewell;
  while (gateway_->peers() > 0 && now() < until)
    changed_.wait_for(lock, std::chrono::milliseconds(20));
}

void node_process::on_interrupt(std::function<void()> then) {
  bool already = false;
  {
    const std::lock_guard lock(mutex_);
    on_interrupt_ = then;
    already = interrupted_;
  }
  if (already && then)
    then();
}

void node_process::send(std::uint64_t peer, std::vector<std::byte> bytes) { link_->send(peer, std::move(bytes)); }

void node_process::close(std::uint64_t peer) { link_->close(peer); }

void node_process::know(std::vector<bulk_peer> nodes) { bulk_->know(std::move(nodes)); }

void node_process::aside(std::function<void()> what) { boost::asio::post(aside_, std::move(what)); }

void node_process::fetch(std::size_t node, std::vector<bulk_range> what, std::span<std::byte> into,
                         std::function<void(std::optional<std::string>)> then) {
  bulk_->fetch(node, std::move(what), into, std::move(then));
}

}  // namespace twinkle::net
