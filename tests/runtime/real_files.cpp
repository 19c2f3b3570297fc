// SPDX-License-Identifier: Apache-2.0
#include "runtime/real_files.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "twinkle/base/error.hpp"

namespace {

struct folder {
  folder() { std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  std::filesystem::path path = std::filesystem::temp_directory_path() / ("twinkle-files-" + std::to_string(getpid()));
};

std::string text_of(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

}  // namespace

TEST_CASE("a file is made with its folders, replaced whole, and added to") {
  const folder in;
  twinkle::runtime::real_files files;
  const std::string path = (in.path / "a" / "b" / "file").string();
  files.replace(path, "first, and longer");
  files.replace(path, "second");
  files.append(path, " line");
  CHECK(text_of(path) == "second line");
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("what cannot be written is refused by its path, and the old content stays") {
  const folder in;
  twinkle::runtime::real_files files;
  const std::string path = (in.path / "file").string();
  files.replace(path, "old");
  std::filesystem::create_directories(path + ".new");  // in the way of the new one
  CHECK_THROWS_WITH_AS(files.replace(path, "new"),
                       ("cannot open '" + path +
                        ".new': Is a directory; check that its folder exists and may be written")
                           .c_str(),
                       twinkle::error);
  CHECK(text_of(path) == "old");
  CHECK_THROWS_AS(files.replace(path + "/below", "x"), twinkle::error);
}

TEST_CASE("a file is read whole, or found not to be there; names in a folder are sorted; what is removed is gone") {
  const folder in;
  twinkle::runtime::real_files files;
  const std::string path = (in.path / "b").string();
  const std::string content(100000, 'x');
  files.replace(path, content);
  files.replace((in.path / "a").string(), "");
  std::filesystem::create_directories(in.path / "folder");
  CHECK(files.read(path) == content);
  CHECK(files.read((in.path / "a").string()) == "");
  CHECK_FALSE(files.read(path + ".no"));
  CHECK_FALSE(files.read(path + "/below"));
  CHECK(files.names(in.path.string()) == std::vector<std::string>{"a", "b"});
  CHECK(files.names((in.path / "no").string()).empty());
  files.remove(path);
  files.remove(path);
  CHECK_FALSE(files.read(path));
  CHECK_THROWS_WITH_AS(static_cast<void>(files.read(in.path.string())),
                       ("cannot read '" + in.path.string() +
                        "': Is a directory; check that it is a file and may be read")
                           .c_str(),
                       twinkle::error);
}
