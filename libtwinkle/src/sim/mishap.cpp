// SPDX-License-Identifier: Apache-2.0
#include "twinkle/sim/mishap.hpp"

#include <cstdio>

namespace twinkle::sim {
namespace {

std::string in_words(const mishap& of) {
  using kind = mishap::kind;
  const std::string worker = of.stage + "[" + std::to_string(of.worker) + "]";
  switch (of.what) {
    case kind::slows: {
      char factor[32];
      std::snprintf(factor, sizeof factor, "%g", of.factor);
      return worker + " is " + factor + " times as slow";
    }
    case kind::drags: return worker + " drags";
    case kind::throws: return worker + " throws";
    case kind::hangs: return worker + " hangs";
    case kind::dies: return worker + " dies";
    case kind::late_weights: return "weights for " + of.stage + " are late";
    case kind::stalls: return of.stage + " stalls";
    case kind::node_dies: return of.node + " dies";
    case kind::node_freezes: return of.node + " freezes";
    case kind::cut: return of.node + " and " + of.other + " are cut off from each other";
  }
  return {};
}

}  // namespace

std::string to_string(const mishap& what) {
  using kind = mishap::kind;
  const std::string lasts = twinkle::to_string(what.lasts);
  std::string text = "at " + twinkle::to_string(what.at) + " " + in_words(what);
  if (what.what == kind::throws || what.what == kind::hangs)
    return text;
  if (what.what == kind::dies || what.what == kind::node_dies)
    return text + ", and is back after " + lasts;
  return text + " for " + lasts;
}

}  // namespace twinkle::sim
