// SPDX-License-Identifier: Apache-2.0
#include "cluster_reading.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "subcommand.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::command {
namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 26;  // some devices have no end

std::string content_of(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw error("cannot read '" + path + "': it is a folder; name a cluster file");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw error("cannot read '" + path + "': " + std::strerror(errno) + "; name a cluster file that can be read");
  std::string content;
  std::array<char, 65536> piece{};
  do {
    file.read(piece.data(), piece.size());
    content.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  } while (file && content.size() <= bytes_max);
  if (file.bad())
    throw error("cannot read '" + path + "': " + std::strerror(errno));
  if (content.size() > bytes_max)
    throw error("cannot read '" + path + "': it has more than " + std::to_string(bytes_max) +
                " bytes; name a cluster file");
  return content;
}

}  // namespace

place::cluster_file read_cluster(const std::string& path) {
  place::cluster_file file = place::parse_cluster(content_of(path));
  std::vector<std::string> wrong;
  for (const place::cluster_file::problem& each : file.problems)
    wrong.push_back(to_string(each, path));
  if (!wrong.empty())
    throw refused(std::move(wrong));
  return file;
}

}  // namespace twinkle::command
