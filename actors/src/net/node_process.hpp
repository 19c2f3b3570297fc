// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bulk/bulk_plane.hpp"
#include "control/control_link.hpp"
#include "gateway.hpp"
#include "halls.hpp"
#include "runtime/real_clock.hpp"
#include "runtime/real_ticker.hpp"
#include "runtime/run_world.hpp"
#include "runtime/worker_body.hpp"
#include "twinkle/runtime/node.hpp"

namespace twinkle::net {

/// A node's process: both planes, the gateway between them and the actors.
class node_process final : public gateway_world {
 public:
  node_process(const graph& pipeline, node_options how);
  ~node_process() override;

  [[nodiscard]] bool leads() const { return gateway_->leads(); }
  [[nodiscard]] bool join();
  int serve();
  void conclude(int code);
  void interrupt() { gateway_->interrupt(); }
  void on_interrupt(std::function<void()> then);
  [[nodiscard]] std::size_t bytes_kept() const { return store_.bytes(); }
  [[nodiscard]] const place::layout& placed() const { return placed_; }
  [[nodiscard]] const place::cluster& machines() const { return how_.machines; }

  /// What the workers of a stage on this node share.
  [[nodiscard]] std::shared_ptr<runtime::stage_kit> make_kit(const stage_plan& stage) {
    return halls_.make_kit(stage, how_.seed);
  }
  /// The world of the run's actors on this node. There is one, once.
  [[nodiscard]] std::unique_ptr<runtime::run_world> make_world();

  // gateway_world
  [[nodiscard]] time_point now() const override { return clock_.now(); }
  void send(std::uint64_t peer, std::vector<std::byte> bytes) override;
  void close(std::uint64_t peer) override;
  [[nodiscard]] std::uint64_t keep(const buffer& bytes) override { return store_.keep(bytes); }
  [[nodiscard]] std::optional<buffer> find(std::uint64_t key) const override { return store_.find(key); }
  void release(std::uint64_t key) override { store_.release(key); }
  void know(std::vector<bulk_peer> nodes) override;
  void fetch(std::size_t node, std::vector<bulk_range> what, std::span<std::byte> into,
             std::function<void(std::optional<std::string>)> then) override;
  void aside(std::function<void()> what) override;
  void deliver(const address& from, const address& to, message&& content) override;

 private:
  class attached_world;

  void open();
  [[nodiscard]] std::string own_host();
  void await_parting(std::unique_lock<std::mutex>& lock);
  void when_there_is_a_world(std::function<void()> then);
  void spawn_worker(const address& who);
  void attach(attached_world& world);
  void detach();
  void set(bool& flag);
  [[nodiscard]] gateway_events events();

  const graph& pipeline_;
  node_options how_;
  std::size_t self_ = 0;
  place::layout placed_;
  halls halls_;
  runtime::real_clock clock_;
  const std::uint64_t incarnation_;
  bulk_store store_;
  std::unique_ptr<bulk_plane> bulk_;
  boost::asio::thread_pool aside_{2};
  std::unique_ptr<gateway> gateway_;
  std::unique_ptr<control::control_link> link_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool complete_ = false;
  bool abandoned_ = false;  // a body here does not end
  std::optional<std::string> failed_;
  std::optional<int> goodbye_;
  bool interrupted_ = false;
  std::function<void()> on_interrupt_;

  std::mutex world_mutex_;
  attached_world* world_ = nullptr;             // where actors of this node are, while there is one
  bool had_world_ = false;
  bool over_ = false;  // it is closed
  std::vector<std::function<void()>> early_;  // what came before there was one, in order
  busy_meter meter_;
  std::map<std::size_t, std::shared_ptr<runtime::stage_kit>> kits_;

  std::unique_ptr<runtime::real_ticker> ticker_;
};

}  // namespace twinkle::net
