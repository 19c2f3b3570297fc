// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace twinkle {

/// `text` as a shell takes it for one word: in quotes, where it needs them.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace twinkle
