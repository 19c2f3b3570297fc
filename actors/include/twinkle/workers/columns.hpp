// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "twinkle/data/key.hpp"

/// The columns that the ready-made workers share.
namespace twinkle::columns {

inline constexpr text prompt{"prompt"};
inline constexpr text answer{"answer"};
inline constexpr text completion{"completion"};
inline constexpr ragged<std::int32_t> tokens{"tokens"};     ///< of the completion, with its end mark if it has one
inline constexpr ragged<float> log_probs{"log_probs"};      ///< of those tokens, when they were sampled
inline constexpr column<float> reward{"reward"};
inline constexpr column<float> advantage{"advantage"};

}  // namespace twinkle::columns
