// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../net/bulk/bulk_store.hpp"
#include "../net/gateway.hpp"
#include "../net/halls.hpp"
#include "simulated_nodes.hpp"

namespace twinkle::sim {

/// What a node runs: the gateway of a real process, on planes that are simulated.
class simulated_nodes::process final : public net::gateway_world {
 public:
  process(simulated_nodes& all, std::size_t node, std::uint64_t incarnation);
  ~process() override;

  [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
  [[nodiscard]] net::gateway& way() { return way_; }
  [[nodiscard]] const net::bulk_store& store() const { return store_; }
  [[nodiscard]] std::shared_ptr<runtime::stage_kit> kit(const stage_plan& stage);

  // The control plane.
  void up(std::uint64_t peer, std::size_t other);
  void arrived(std::uint64_t peer, std::vector<std::byte> bytes);
  void closed(std::uint64_t peer, const std::string& why);
  /// What others hear of it when it ends by itself.
  void hang_up();

  // The bulk plane.
  using content = std::vector<buffer>;
  [[nodiscard]] std::optional<content> look_up(const std::vector<bulk_range>& what) const;
  void fetched(std::uint64_t number, const std::optional<content>& found);
  void letter_arrived(std::size_t from, const std::vector<std::byte>& head, buffer body) {
    halls_.arrived(from, head, std::move(body));
  }

  // gateway_world
  /// By its own clock: those of nodes differ by hours.
  [[nodiscard]] time_point now() const override { return all_.in_.now() + node_ * std::chrono::hours(7); }
  void send(std::uint64_t peer, std::vector<std::byte> bytes) override;
  void close(std::uint64_t peer) override;
  [[nodiscard]] std::uint64_t keep(const buffer& bytes) override { return store_.keep(bytes); }
  [[nodiscard]] std::optional<buffer> find(std::uint64_t key) const override { return store_.find(key); }
  void release(std::uint64_t key) override { store_.release(key); }
  void know(std::vector<net::bulk_peer> nodes) override;
  void aside(std::function<void()> what) override;
  void fetch(std::size_t node, std::vector<bulk_range> what, std::span<std::byte> into,
             std::function<void(std::optional<std::string>)> then) override;
  void deliver(const address& from, const address& to, message&& content) override {
    all_.in_.arrive(from, to, std::move(content));
  }

 private:
  struct fetch_under_way {
    std::size_t node = 0;
    std::uint64_t incarnation = 0;
    std::span<std::byte> into;
    std::function<void(std::optional<std::string>)> then;
  };

  [[nodiscard]] net::gateway_options options() const;
  [[nodiscard]] net::gateway_events events();
  /// Calls it here after `wait`, unless the process is gone by then.
  void later(duration wait, std::function<void(process&)> what);
  /// `why`: "is gone"
  void give_up(std::uint64_t number, const std::string& why);
  void spawn_worker(const address& who);
  void arm();

  simulated_nodes& all_;
  std::size_t node_;
  std::uint64_t incarnation_;
  net::bulk_store store_;
  net::halls halls_;
  std::map<std::size_t, std::shared_ptr<runtime::stage_kit>> kits_;  // by stage
  std::map<std::uint64_t, std::size_t> connections_;                 // the other node, by peer
  std::vector<std::uint64_t> known_;                                 // incarnations, by node
  std::map<std::uint64_t, fetch_under_way> fetches_;
  std::optional<time_point> armed_;
  net::gateway way_;
};

}  // namespace twinkle::sim
