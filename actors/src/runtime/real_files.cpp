// SPDX-License-Identifier: Apache-2.0
#include "real_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "twinkle/base/error.hpp"

namespace twinkle::runtime {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what,
                         const std::string& advice = "check that its folder exists and may be written") {
  throw error("cannot " + what + " '" + path + "': " + std::strerror(errno) + "; " + advice);
}

void write(const std::string& path, std::string_view content, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr)
    refuse(path, "open");
  const bool whole = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (std::fclose(file) != 0 || !whole)
    refuse(path, "write");
}

// Until it would outlive a power cut; of a folder: the names in it.
void keep(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0)
    refuse(path, "open");
  // Some file systems know no fsync of folders.
  const bool kept = ::fsync(file) == 0 || (errno == EINVAL && (flags & O_DIRECTORY) != 0);
  const int why = errno;
  ::close(file);
  errno = why;
  if (!kept)
    refuse(path, "write");
}

std::string make_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code wrong;
  if (!folder.empty())
    std::filesystem::create_directories(folder, wrong);
  if (wrong)
    throw error("cannot make the folder '" + folder.string() + "': " + wrong.message());
  return folder.empty() ? "." : folder.string();
}

}  // namespace

void real_files::replace(const std::string& path, std::string_view content) {
  const std::string folder = make_folder(path);
  const std::string next = path + ".new";
  write(next, content, "wb");
  keep(next, O_RDONLY);
  if (std::rename(next.c_str(), path.c_str()) != 0)
    refuse(path, "replace");
  keep(folder, O_RDONLY | O_DIRECTORY);
}

void real_files::append(const std::string& path, std::string_view content) {
  static_cast<void>(make_folder(path));
  write(path, content, "ab");
}

std::optional<std::string> real_files::read(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr && (errno == ENOENT || errno == ENOTDIR))
    return std::nullopt;
  if (file == nullptr)
    refuse(path, "open", "check that it may be read");
  std::string content;
  std::array<char, 1 << 16> part{};
  std::size_t bytes = 0;
  errno = 0;
  while ((bytes = std::fread(part.data(), 1, part.size(), file)) > 0)
    content.append(part.data(), bytes);
  const bool failed = std::ferror(file) != 0;
  const int why = errno;
  std::fclose(file);
  errno = why;
  if (failed)
    refuse(path, "read", "check that it is a file and may be read");
  return content;
}

void real_files::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR)
    refuse(path, "remove");
}

std::vector<std::string> real_files::names(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code wrong;
  std::filesystem::directory_iterator at(folder, wrong);
  for (; !wrong && at != std::filesystem::directory_iterator(); at.increment(wrong))
    if (at->is_regular_file(wrong))
      found.push_back(at->path().filename().string());
  if (wrong && wrong != std::errc::no_such_file_or_directory && wrong != std::errc::not_a_directory)
    throw error("cannot list the folder '" + folder + "': " + wrong.message());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace twinkle::runtime
