// SPDX-License-Identifier: Apache-2.0
#include "twinkle/workers/loader_state.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <utility>
#include <vector>

#include "data_file.hpp"
#include "runtime/real_files.hpp"
#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"

namespace twinkle {
namespace {

constexpr std::string_view mark = "twinkle loader state ";
constexpr std::uint64_t newest = 1;
constexpr std::size_t bytes_max = 4096;

[[noreturn]] void refuse(const std::string& why) {
  throw error(why + "; take another state file, or none, and say with .first how many rows are behind");
}

struct named_value {
  std::string_view name;
  std::string value;
};

std::string in_words(loader_state::last_batch last) { return last == loader_state::last_batch::drop ? "drop" : "keep"; }

// What must be the same where a loader goes on.
std::array<named_value, 6> what_counts(const loader_state& of) {
  return {{{"dataset_rows", std::to_string(of.dataset_rows)},
           {"dataset_digest", hexadecimal(of.dataset_digest)},
           {"rows", std::to_string(of.rows)},
           {"last", in_words(of.last)},
           {"mix_epochs", of.mix_epochs ? "yes" : "no"},
           {"seed", of.seed ? std::to_string(*of.seed) : "none"}}};
}

std::string sealed(const std::string& lines) { return "digest " + hexadecimal(digest_of(lines)) + "\n"; }

std::optional<std::uint64_t> number_in(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return code == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// The lines of a state, from front to back.
class state_lines {
 public:
  explicit state_lines(std::string_view text) : left_(text) {}

  std::string_view next(std::string_view name) {
    const std::size_t end = left_.find('\n');
    const std::string_view line = left_.substr(0, end);
    if (end == std::string_view::npos || !line.starts_with(name) || !line.substr(name.size()).starts_with(' '))
      broken(name);
    left_.remove_prefix(end + 1);
    return line.substr(name.size() + 1);
  }
  std::uint64_t number(std::string_view name, int base = 10) {
    const auto value = number_in(next(name), base);
    return value ? *value : broken(name);
  }
  bool choice(std::string_view name, std::string_view yes, std::string_view no) {
    const std::string_view value = next(name);
    if (value != yes && value != no)
      broken(name);
    return value == yes;
  }
  std::optional<std::uint64_t> number_or_none(std::string_view name) {
    const std::string_view value = next(name);
    if (value == "none")
      return std::nullopt;
    const auto number = number_in(value);
    return number ? *number : broken(name);
  }

 private:
  [[noreturn]] static std::uint64_t broken(std::string_view name) {
    refuse("is damaged: it has no right line '" + std::string(name) + "'");
  }

  std::string_view left_;
};

void check_version(std::string_view text) {
  if (text.empty())
    refuse("is empty");
  if (!text.starts_with(mark))
    refuse("is no loader state: it does not start with '" + std::string(mark) + "'");
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto version = number_in(line.substr(mark.size()));
  if (version && *version > newest)
    refuse("is of version " + std::to_string(*version) + ", but this program reads versions up to " +
           std::to_string(newest));
}

}  // namespace

std::string loader_state::to_text() const {
  std::string lines = std::string(mark) + std::to_string(newest) + "\nemitted " + std::to_string(emitted) + "\n";
  for (const named_value& each : what_counts(*this))
    lines += std::string(each.name) + " " + each.value + "\n";
  return lines + sealed(lines);
}

loader_state loader_state::of_text(std::string_view text) {
  check_version(text);
  const std::size_t seal = text.rfind("digest ");
  if (seal == std::string_view::npos || text.substr(seal) != sealed(std::string(text.substr(0, seal))))
    refuse("is cut short or was changed: its last line is not the digest of those before it");
  state_lines lines(text);
  loader_state found;
  if (lines.number(mark.substr(0, mark.size() - 1)) != newest)
    refuse("is of an unknown version");
  found.emitted = lines.number("emitted");
  found.dataset_rows = lines.number("dataset_rows");
  found.dataset_digest = lines.number("dataset_digest", 16);
  found.rows = lines.number("rows");
  found.last = lines.choice("last", "drop", "keep") ? last_batch::drop : last_batch::keep;
  found.mix_epochs = lines.choice("mix_epochs", "yes", "no");
  found.seed = lines.number_or_none("seed");
  return found;
}

void loader_state::save(const std::string& path) const { runtime::real_files{}.replace(path, to_text()); }

loader_state loader_state::load(const std::string& path) {
  const std::string name = "loader state '" + path + "'";
  std::ifstream file = open_regular(path, name, "give the path of a state file, or none");
  std::string text(bytes_max, '\0');
  file.read(text.data(), bytes_max);
  text.resize(static_cast<std::size_t>(file.gcount()));
  try {
    return of_text(text);
  } catch (const error& bad) {
    throw error(name + " " + bad.what());
  }
}

std::string loader_state::difference(const loader_state& other) const {
  const auto mine = what_counts(*this);
  const auto theirs = what_counts(other);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < mine.size(); ++at)
    if (mine[at].value != theirs[at].value)
      found.push_back(std::string(mine[at].name) + " " + mine[at].value + " and " + theirs[at].value);
  return list(found);
}

}  // namespace twinkle
