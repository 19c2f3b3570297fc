// SPDX-License-Identifier: Apache-2.0
// For those who use CAF themselves: a run inside their actor system, and calls from their actors. The only public
// header that includes CAF; link with twinkle::interop.
//
// A run needs nothing of the system's configuration: one thread is enough. It is quicker with
// work-stealing.moderate-poll-attempts = 0 (idle threads then do not sleep 50 us before they look again), with
// scheduler.max-throughput = 50 (a busy actor lets others run), and with two threads.
//
// Messages stay in the process, and have no type ids, so that no id can clash with yours.
#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "twinkle/base/result.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/payload.hpp"
#include "twinkle/runtime/session.hpp"

namespace twinkle::interop {

/// To a router: a call of one of its stage's endpoints, with the options that the graph gave it.
struct call {
  std::string endpoint;      ///< its .name in the graph, or "file.cpp:12"
  payload input = {};        ///< a batch; nothing for one that takes none. Rows without identities get some
  std::uint64_t id = 0;      ///< the caller's own; a request can do without
};

/// To the caller, for each call, once: as the response of a request, or as a message to who sent the call.
struct answer {
  std::uint64_t id = 0;      ///< of the call
  std::string endpoint;
  result<collected> value;   ///< or the fault, which says who, where and why
};

/// The router of a stage, for as long as the session lives in the actor system of `run_options::system`. It takes a
/// `call` from any actor: one before the run begins waits for that; one that the run's end overtakes is answered with
/// a fault; after it, a request gets CAF's own `request_receiver_down`. A caller that dies costs the others nothing,
/// and an exit message from one that is linked is ignored. Throws `error` naming the stages there are, or if the
/// session has a system of its own.
[[nodiscard]] caf::actor router(const session& of, std::string_view stage);

}  // namespace twinkle::interop

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::interop::call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(twinkle::interop::answer)
