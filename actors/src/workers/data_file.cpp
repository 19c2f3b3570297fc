// SPDX-License-Identifier: Apache-2.0
#include "data_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "twinkle/base/digest.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {

std::ifstream open_regular(const std::string& path, const std::string& name, const std::string& advice) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status))
    throw error(name + " does not exist; relative paths start at " + std::filesystem::current_path(failed).string());
  if (!std::filesystem::is_regular_file(status))
    throw error(name + (std::filesystem::is_directory(status) ? " is a directory" : " is not a regular file") + "; " +
                advice);
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw error(name + " cannot be opened: " + std::generic_category().message(errno));
  return file;
}

data_file::data_file(const std::string& path)
    : name_("data file '" + path + "'"), file_(open_regular(path, name_, "give the path of a JSONL file")) {
  std::error_code failed;
  file_bytes_ = std::filesystem::file_size(path, failed);
  if (failed)
    throw error(name_ + " cannot be read: " + failed.message());
}

bool data_file::next(data_line& into) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  while (std::getline(file_, into.text)) {
    into.offset = offset_;
    into.number = ++number_;
    offset_ += into.text.size() + 1;
    if (into.number == 1 && into.text.starts_with(mark)) {
      into.text.erase(0, mark.size());
      into.offset += mark.size();
    }
    if (into.text.ends_with('\r'))
      into.text.pop_back();
    if (into.text.find_first_not_of(" \t\r\n") != std::string::npos)
      return true;
  }
  if (file_.bad())
    throw error(name_ + " cannot be read to its end: " + std::generic_category().message(errno));
  return false;
}

std::string data_file::at(std::uint64_t offset, std::uint64_t bytes) {
  const auto refuse = [&](const std::string& why) {
    throw error(name_ + " has no bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) + ": " +
                why + "; let it stay as it is while it is read");
  };
  if (offset > file_bytes_ || bytes > file_bytes_ - offset)
    refuse("it has " + std::to_string(file_bytes_));
  std::string text(bytes, '\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(text.data(), static_cast<std::streamsize>(bytes));
  if (!file_)
    refuse("it was cut short, or cannot be read");
  return text;
}

std::uint64_t digest_of(std::string_view bytes) {
  digest sum;
  sum.add(bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min<std::size_t>(bytes.size(), 8);
    for (std::size_t at = 0; at < taken; ++at)
      word |= std::uint64_t{static_cast<unsigned char>(bytes[at])} << (8 * at);
    sum.add(word);
    bytes.remove_prefix(taken);
  }
  return sum.value();
}

}  // namespace twinkle
