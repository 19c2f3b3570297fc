// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gateway_world.hpp"
#include "twinkle/data/fetch_plan.hpp"

namespace twinkle::net {

/// Delivers messages to actors here, once what they need of other nodes is here too: in order from each sender to each
/// receiver. It fetches ahead, while the receiver still works on what came before; rows that somebody here has are not
/// fetched again. Safe from many threads.
class porter {
 public:
  /// Called in place of a delivery where rows cannot be had; it must not bring anything. Whether the receiver can do
  /// without: one that cannot gets no task any more, until it is another one.
  using failing = std::function<bool(const address& to, message&& content, const std::string& why)>;

  /// What the receiver of a message reads of its tensors; null: all of all.
  using sharing = std::function<shard_rule(const address& to, const message& content)>;

  porter(gateway_world& world, std::size_t here, sharing shares, failing fail)
      : world_(world), here_(here), shares_(std::move(shares)), fail_(std::move(fail)) {}

  void bring(const address& from, const address& to, message&& content);

  /// What is still to be delivered to an actor was meant for the one before it.
  void forget(const address& who);
  /// Nothing is delivered any more.
  void close();

 private:
  /// Bytes on their way here, for all that wait for them.
  struct arrival {
    fetch_plan::blocks into;
    std::size_t open = 0;  // fetches
    std::optional<std::string> failed = std::nullopt;
  };
  /// A batch or a tensor of a message, and where its bytes come.
  struct need {
    fetch_plan plan;
    std::shared_ptr<arrival> bytes;
  };
  /// By value in a message: a batch is one, weights are one for each tensor.
  using needs = std::vector<std::vector<need>>;
  struct item {
    message content;
    needs of = {};  // none: it has all
    enum class state : std::uint8_t { on_its_way, put_aside, ready } now = state::on_its_way;
    std::optional<std::string> failed = std::nullopt;

    [[nodiscard]] bool is_here() const;
    [[nodiscard]] bool copies() const;
    void put();
  };
  using way = std::pair<address, address>;
  /// How many blocks; of each piece its block, node, key, first byte and bytes.
  using signature = std::vector<std::vector<std::uint64_t>>;
  /// Bytes that somebody here has, or waits for.
  struct known {
    std::vector<std::weak_ptr<std::byte[]>> blocks;
    std::weak_ptr<arrival> bytes;

    [[nodiscard]] std::shared_ptr<arrival> find() const;
  };
  /// What is to be done without the lock, and may take long.
  using chores = std::vector<std::function<void()>>;

  void order(const address& to, item& next);
  [[nodiscard]] std::optional<buffer> find(const buffer& of) const;
  template <class Make>
  [[nodiscard]] need needed(const Make& plan_into);
  [[nodiscard]] static signature signature_of(const fetch_plan& plan);
  void fetch_all(const fetch_plan& plan, const std::shared_ptr<arrival>& into);
  void gather(const address& to, msg::task& task);
  void arrived(const std::shared_ptr<arrival>& what, std::optional<std::string> why);
  /// Whether it can be delivered; what takes long before that is begun, as a chore.
  [[nodiscard]] bool is_ready(const std::shared_ptr<item>& next, chores& then);
  void deliver_ready(chores& then);
  void finish(const std::shared_ptr<item>& next);
  void put_aside(chores&& then);
  void deliver(const way& between, item& next);

  gateway_world& world_;
  std::size_t here_;
  sharing shares_;
  failing fail_;
  std::mutex mutex_;
  bool closed_ = false;
  std::map<way, std::deque<std::shared_ptr<item>>> waiting_;
  std::map<signature, known> known_;
  std::size_t sweep_known_at_ = 16;
  std::map<address, std::string> unfit_;  // why they get no task any more
  std::map<address, msg::task> gathered_;  // what came ahead of a task, and waits for it
};

/// The batches and weights that a message carries.
[[nodiscard]] std::vector<std::variant<batch*, weights*>> values_carried(message& content);
/// Whether its receiver reads their elements: workers, clients and the session do, routers do not.
[[nodiscard]] bool is_read(const message& content);

}  // namespace twinkle::net
