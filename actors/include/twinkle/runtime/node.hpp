// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "twinkle/base/time.hpp"
#include "twinkle/flow/graph.hpp"
#include "twinkle/place/cluster.hpp"

namespace twinkle {

namespace net {
class node_process;
}

/// Paths of PEM files: who signs the certificates of all nodes, and what this one shows.
struct node_certificates {
  std::string authority;
  std::string certificate;
  std::string key;
};

struct node_options {
  place::cluster machines;  ///< the first leads: it has the routers, the session and the driver
  std::string node;         ///< which of them this process is
  std::uint64_t seed = 1;   ///< the same on all
  /// Unset: nothing is encrypted, and nobody shows who they are.
  std::optional<node_certificates> certificates = std::nullopt;
  bool open_without_certificates = false;           ///< also on addresses that are not of this machine alone
  duration join_within = std::chrono::seconds(30);  ///< for all nodes
  duration silence = std::chrono::seconds(5);       ///< after which a node is gone
  std::function<void(const std::string&)> log = {}; ///< lines: who came and went; from any thread
};

/// This process as one of the nodes of a run. All start the same binary with the same options. The node that leads
/// gives it to its session with run_options::self; the others serve.
///
///     node self{pipeline, options};
///     if (!self.join())
///       return 130;
///     if (!self.leads())
///       return self.serve();
///     session run{pipeline, {.self = &self}, listener};
///     …
///     self.conclude(code);
class node {
 public:
  /// Listens. Throws `error` with all problems of the graph on these machines, or saying what is wrong with the address
  /// or the certificates. The graph must outlive it.
  node(const graph& pipeline, node_options how);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  [[nodiscard]] bool leads() const;

  /// Returns when every node is there; false where somebody interrupted the run before. Throws `error` that names those
  /// that did not come in time, or says why this one was turned away.
  [[nodiscard]] bool join();

  /// For a node that does not lead: its workers are at the run's service until it is over. The code that the process is to
  /// end with: what the leader said, or 1 where it was lost.
  [[nodiscard]] int serve();

  /// For the node that leads: tells the others that the run is over, and waits until they have gone.
  void conclude(int code);

  /// Asks the run to end with its step, from any node and any thread; `on_interrupt` is called on the node that leads.
  void interrupt();
  void on_interrupt(std::function<void()> then);

  /// What it keeps for other nodes.
  [[nodiscard]] std::size_t bytes_kept() const;

 private:
  friend class session;

  std::unique_ptr<net::node_process> process_;
};

}  // namespace twinkle
