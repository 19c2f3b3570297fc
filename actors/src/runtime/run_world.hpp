// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "twinkle/flow/seams.hpp"

namespace twinkle::runtime {

/// The seams of one run on this machine, wherever its actors live. All actors are spawned before the first message is
/// posted. Destroying it ends every actor, after what was posted before, and waits for that.
class run_world : public clock_seam, public post_seam, public life_seam {
 public:
  [[nodiscard]] virtual seams all() = 0;

  /// All actors are spawned: what comes from elsewhere may reach them.
  virtual void open() {}

  /// Every actor ends, after what was posted before; what is posted from now on is dropped.
  virtual void close() = 0;
};

}  // namespace twinkle::runtime
