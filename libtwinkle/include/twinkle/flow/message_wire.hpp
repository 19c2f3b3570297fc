// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "twinkle/data/wire.hpp"
#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle {

/// Whether it is of those that a router and its workers on another node send each other: task, cancel and abandon to
/// a worker, reply and emitted to the router.
[[nodiscard]] bool crosses_nodes(const message& content);

/// The wire form of a message that crosses nodes. `endpoints` are those of the stage: they tell how the values of
/// control endpoints are written. No element of a batch or tensor is copied; values are, into the header.
///
///     header   prologue │ kind of message │ its numbers, texts and values, the headers of batches, metrics, weights
///     pieces   of those headers, one after another
///
/// Throws `error` for what cannot be sent: arguments that are not those of the endpoint, a value that no endpoint
/// returns, and what to_wire refuses of a batch or weights.
[[nodiscard]] wire_form to_wire(const message& content, std::span<const blueprint::endpoint_spec> endpoints);

/// The message again, for the same endpoints. It borrows the pieces. Endpoints are those of the stage, and the rows
/// of micro-batches are there; the ordinals of workers and calls, and versions, are whatever was sent. Throws `error`
/// saying what does not fit.
[[nodiscard]] message message_from_wire(const wire_form& received,
                                        std::span<const blueprint::endpoint_spec> endpoints,
                                        const wire_limits& limits = {});

}  // namespace twinkle
