// SPDX-License-Identifier: Apache-2.0
#include "simulated_files.hpp"

namespace twinkle::sim {

void simulated_files::step() {
  if (!left_)
    return;
  if (*left_ == 0)
    throw killed{};
  --*left_;
}

void simulated_files::replace(const std::string& path, std::string_view content) {
  std::string& next = contents_[path + ".new"];
  next = content.substr(0, content.size() / 2);
  step();
  next = content;
  step();
  contents_[path] = next;
  contents_.erase(path + ".new");
  step();
}

void simulated_files::append(const std::string& path, std::string_view content) {
  std::string& whole = contents_[path];
  const std::size_t before = whole.size();
  whole += content.substr(0, content.size() / 2);
  step();
  whole.resize(before);
  whole += content;
  step();
}

std::optional<std::string> simulated_files::read(const std::string& path) {
  const auto found = contents_.find(path);
  return found == contents_.end() ? std::nullopt : std::optional(found->second);
}

void simulated_files::remove(const std::string& path) {
  step();
  contents_.erase(path);
}

std::vector<std::string> simulated_files::names(const std::string& folder) {
  const std::string prefix = folder + "/";
  std::vector<std::string> found;
  for (auto at = contents_.lower_bound(prefix); at != contents_.end() && at->first.starts_with(prefix); ++at)
    if (at->first.find('/', prefix.size()) == std::string::npos)
      found.push_back(at->first.substr(prefix.size()));
  return found;
}

}  // namespace twinkle::sim
