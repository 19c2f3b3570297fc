// SPDX-License-Identifier: Apache-2.0
#include "real_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "twinkle/base/error.hpp"

namespace twinkle::runtime {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw error("cannot " + what + " '" + path + "': " + std::strerror(errno) +
              "; check that its folder exists and may be written");
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

}  // namespace twinkle::runtime
