// SPDX-License-Identifier: Apache-2.0
#include "vocabulary.hpp"

#include <cstdio>
#include <stdexcept>

namespace twinkle::torch_policy {

namespace {

std::string shown(char character) {
  const auto byte = static_cast<unsigned char>(character);
  if (byte >= 0x20 && byte < 0x7f)
    return {'\'', character, '\''};
  char text[16];
  std::snprintf(text, sizeof text, "byte 0x%02x", static_cast<unsigned>(byte));
  return text;
}

}  // namespace

std::vector<token_id> vocabulary::encode(std::string_view text) {
  std::vector<token_id> tokens;
  tokens.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto found = characters.find(text[at]);
    if (found == std::string_view::npos)
      throw std::invalid_argument("the vocabulary \"" + std::string(characters) + "\" has no " + shown(text[at]) +
                                  ", which is at position " + std::to_string(at) + " of the text");
    tokens.push_back(static_cast<token_id>(found) + 2);
  }
  return tokens;
}

std::string vocabulary::decode(std::span<const token_id> tokens) {
  std::string text;
  text.reserve(tokens.size());
  for (const token_id token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= size)
      throw std::invalid_argument("token " + std::to_string(token) + " is not in the vocabulary of " +
                                  std::to_string(size) + " tokens");
    if (token == pad)
      text += '_';
    else if (token == end)
      text += '$';
    else
      text += characters[static_cast<std::size_t>(token) - 2];
  }
  return text;
}

}  // namespace twinkle::torch_policy
