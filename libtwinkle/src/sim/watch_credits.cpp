// SPDX-License-Identifier: Apache-2.0
// Credits are conserved: none comes back that did not go out, edges hold no more than they may, and in the end all are back.
#include <algorithm>

#include "oracle.hpp"
#include "twinkle/flow/regroup.hpp"

namespace twinkle::sim {
namespace {

class credit_oracle final : public oracle {
 public:
  explicit credit_oracle(const scene& in) : oracle(in, "credits"), edges_(in.edges.size()) {}

  void on_rows(const msg::rows& what) override {
    account& of = edges_[what.edge];
    const std::size_t count = count_of(what.value);
    of.out += count;
    of.largest = std::max(of.largest, count);
    const scene::edge& edge = in_.edges[what.edge];
    // What is emitted row by row says nothing of the size of a call's output.
    if (edge.as_completed || of.out <= room(edge, of))
      return;
    find(in_.name(edge) + " holds " + std::to_string(of.out) + " rows, and has room for " +
         std::to_string(room(edge, of)));
  }

  void on_credit(const msg::credit& what) override {
    account& of = edges_[what.edge];
    if (what.rows > of.out)
      find(in_.name(in_.edges[what.edge]) + " gets credits back for " + std::to_string(what.rows) + " rows, and holds " +
           std::to_string(of.out));
    of.out -= std::min(of.out, what.rows);
  }

  void on_undelivered(std::span<const observer::in_flight> messages) override {
    knows_all_ = true;
    for (const observer::in_flight& each : messages)
      if (const auto* credit = std::get_if<msg::credit>(each.content))
        on_credit(*credit);
  }

  // Only where it is known what was still on its way back.
  void on_end(const run_report& report, bool ended) override {
    if (!knows_all_ || !ended || report.why || report.returned > 0)
      return;
    for (std::size_t at = 0; at < edges_.size(); ++at)
      if (edges_[at].out > 0)
        find(in_.name(in_.edges[at]) + " has not got back the credits for " + std::to_string(edges_[at].out) +
             " rows, which were all taken");
  }

 private:
  struct account {
    std::size_t out = 0;
    std::size_t largest = 0;  // output of a call
  };

  // A call starts where a credit is free, and the next one while it runs: the outputs of both may overdraw. Without
  // credits in rows an edge holds two batches.
  static std::size_t room(const scene::edge& edge, const account& of) { return edge.credits.value_or(0) + 2 * of.largest; }

  std::vector<account> edges_;
  bool knows_all_ = false;
};

}  // namespace

std::unique_ptr<oracle> watch_credits(const scene& in) { return std::make_unique<credit_oracle>(in); }

}  // namespace twinkle::sim
