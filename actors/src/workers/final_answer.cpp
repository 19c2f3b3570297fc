// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/final_answer.hpp"

#include <utility>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/workers/columns.hpp"

namespace twinkle {
namespace {

constexpr std::string_view marker = "####";
constexpr std::string_view spaces = " \t\r\n";
constexpr std::string_view digits = "0123456789";

bool take(std::string_view& from, std::string_view what) {
  if (!from.starts_with(what))
    return false;
  from.remove_prefix(what.size());
  return true;
}

std::string_view take_digits(std::string_view& from) {
  const std::string_view taken = from.substr(0, from.find_first_not_of(digits));
  from.remove_prefix(taken.size());
  return taken;
}

void skip_spaces(std::string_view& from) {
  const std::size_t first = from.find_first_not_of(spaces);
  from.remove_prefix(first == std::string_view::npos ? from.size() : first);
}

// "1234", or "1,234" with commas at every third digit; nothing where they are elsewhere.
std::optional<std::string> take_whole(std::string_view& from) {
  std::string whole(take_digits(from));
  bool grouped = false;
  while (from.size() > 1 && from[0] == ',' && digits.find(from[1]) != std::string_view::npos) {
    const bool after_short = grouped || (!whole.empty() && whole.size() <= 3);
    from.remove_prefix(1);
    const std::string_view three = take_digits(from);
    if (!after_short || three.size() != 3)
      return std::nullopt;
    whole += three;
    grouped = true;
  }
  return whole;
}

// What may stand right behind a number: spaces, or the end of a sentence or of an amount.
bool ends_number(std::string_view rest) {
  const std::size_t first = rest.find_first_not_of(".,;!%$");
  return first == std::string_view::npos || spaces.find(rest[first]) != std::string_view::npos;
}

std::optional<std::string> number_at_start(std::string_view text) {
  bool negative = false;
  const auto take_sign = [&] {
    negative = take(text, "-") || take(text, "\u2212");
    return negative || take(text, "+");
  };
  skip_spaces(text);
  const bool has_sign = take_sign();
  if (take(text, "$") && !has_sign)
    take_sign();
  const std::optional<std::string> whole = take_whole(text);
  if (!whole)
    return std::nullopt;
  std::string_view fraction;
  if (text.size() > 1 && text[0] == '.' && digits.find(text[1]) != std::string_view::npos) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if ((whole->empty() && fraction.empty()) || !ends_number(text))
    return std::nullopt;
  const std::size_t first = whole->find_first_not_of('0');
  std::string number = first == std::string::npos ? "0" : whole->substr(first);
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  if (!fraction.empty())
    (number += '.') += fraction;
  return negative && number != "0" ? "-" + number : number;
}

}  // namespace

final_answer::found final_answer::in(std::string_view text) {
  const std::size_t at = text.rfind(marker);
  if (at == std::string_view::npos)
    return {};
  return {true, number_at_start(text.substr(at + marker.size()))};
}

batch final_answer::scored(const batch& rollouts) const {
  const text_view texts = rollouts[text{how_.text}];
  const std::optional<text_view> references =
      how_.reference ? std::optional(rollouts[text{*how_.reference}]) : std::nullopt;
  std::vector<std::string> answers(rollouts.rows());
  std::vector<std::string> outcomes(rollouts.rows());
  std::vector<float> rewards(rollouts.rows(), 0.0F);
  std::vector<std::size_t> unfit;
  for (std::size_t row = 0; row < rollouts.rows(); ++row) {
    const found said = in(texts[row]);
    answers[row] = said.number.value_or("");
    std::optional<std::string> right = said.number;
    if (references) {
      const found meant = in((*references)[row]);
      right = meant.marked ? meant.number : number_at_start((*references)[row]);
      if (!right)
        unfit.push_back(row);
    }
    const bool same = said.number && said.number == right;
    rewards[row] = same ? 1.0F : 0.0F;
    outcomes[row] = !said.marked ? "no marker" : !said.number ? "no number" : same ? "right" : "wrong";
  }
  const batch judged = rollouts.with(columns::final_answer, answers)
                           .with(columns::outcome, outcomes)
                           .with(columns::reward, std::move(rewards));
  if (unfit.empty())
    return judged;
  const std::string why = "column '" + *how_.reference + "' has no number to judge by";
  if (!judged.identified())
    throw error(why + " in row " + std::to_string(unfit.front()) + " of the batch; give a number there, alone or " +
                "behind " + std::string(marker));
  return judged.drop(unfit, why);
}

}  // namespace twinkle
