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
inline constexpr auto reward = routed(column<float>{"reward"});
inline constexpr auto advantage = routed(column<float>{"advantage"});
inline constexpr text final_answer{"final_answer"};         ///< the number that a completion ends with, or ""
inline constexpr text outcome{"outcome"};                   ///< of a judge, in words

// Where a row is in its file, while it is still there: from jsonl_loader to jsonl_rows.
inline constexpr column<std::int64_t> place_line{"place_line"};      ///< counted from 1
inline constexpr column<std::int64_t> place_offset{"place_offset"};  ///< in bytes
inline constexpr column<std::int64_t> place_bytes{"place_bytes"};
inline constexpr column<std::int64_t> place_digest{"place_digest"};  ///< of those bytes

}  // namespace twinkle::columns
