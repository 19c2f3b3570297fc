// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "policy.hpp"
#include "twinkle/data/batch.hpp"
#include "twinkle/data/weights.hpp"

// Between batches and the policy.
namespace twinkle::torch_policy {

/// All rows of a JSONL file with "prompt" and "answer".
[[nodiscard]] batch read_pairs(const std::string& path);

/// The tokens of each text. Throws `error` naming the row whose text has an unknown character.
[[nodiscard]] std::vector<std::vector<token_id>> encode_all(const text_view& texts);

/// The text of a completion: without its end mark, or with "…" if it has none.
[[nodiscard]] std::string completion_text(std::span<const token_id> tokens);

/// The policy's parameters are overwritten. Throws `error` where the tensors are not those of the policy.
void load(policy& into, const weights& from);

/// A snapshot of the parameters; one buffer stands behind all of them.
[[nodiscard]] weights snapshot(const policy& from);

/// The completions of these prompts.
[[nodiscard]] std::vector<completion> complete(const policy& with, const std::vector<std::vector<token_id>>& prompts,
                                               const sampling_options& how, const uniform_source& uniform);

}  // namespace twinkle::torch_policy
