// SPDX-License-Identifier: Apache-2.0
#pragma once

// The least that a fan-out with an ordered collect can be on CAF: the yardstick of bench_router_call.
#include <caf/all.hpp>
#include <functional>
#include <vector>

#include "runtime/real_executor.hpp"
#include "twinkle/data/batch.hpp"

namespace bench {

struct part {
  std::size_t worker = 0;
  twinkle::batch rows;
};

}  // namespace bench

CAF_BEGIN_TYPE_ID_BLOCK(bench, first_custom_type_id + 10)
CAF_ADD_TYPE_ID(bench, (bench::part))
CAF_END_TYPE_ID_BLOCK(bench)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::part)

namespace bench {

struct bare_worker : caf::event_based_actor {
  bare_worker(caf::actor_config& config, caf::actor* collector, std::shared_ptr<twinkle::body_seam> body)
      : caf::event_based_actor(config), to(collector), thread(std::move(body)) {}
  caf::behavior make_behavior() override {
    return {[this](part& in) {
      thread->run([this, in = std::move(in)] { caf::anon_send(*to, in); });
    }};
  }
  caf::actor* to;
  std::shared_ptr<twinkle::body_seam> thread;
};

struct bare_router : caf::event_based_actor {
  bare_router(caf::actor_config& config, std::vector<caf::actor> all, std::function<void(std::vector<part>)> done)
      : caf::event_based_actor(config), workers(std::move(all)), on_done(std::move(done)), parts(workers.size()) {}
  caf::behavior make_behavior() override {
    return {[this](part& in) {
      if (in.worker == workers.size())  // a call: everyone gets the same handle
        for (std::size_t at = 0; at < workers.size(); ++at)
          send(workers[at], part{at, in.rows});
      else if (parts[in.worker] = std::move(in); ++arrived == workers.size()) {
        arrived = 0;
        on_done(parts);
      }
    }};
  }
  std::vector<caf::actor> workers;
  std::function<void(std::vector<part>)> on_done;
  std::vector<part> parts;
  std::size_t arrived = 0;
};

}  // namespace bench
