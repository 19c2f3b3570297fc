// SPDX-License-Identifier: Apache-2.0
#include "node_starts.hpp"

#include <map>

#include "twinkle/base/list.hpp"
#include "twinkle/base/shell_word.hpp"

namespace twinkle::command {
namespace {

std::string line_of(const node_start& start) {
  std::vector<std::string> words;
  for (const std::string& word : start.words)
    words.push_back(shell_word(word));
  return "  " + list(words, " ") + "\n";
}

}  // namespace

std::vector<node_start> node_starts(const place::cluster& machines, const std::string& path,
                                    const std::vector<std::string>& command,
                                    const std::function<bool(const std::string& host)>& is_here) {
  std::map<std::string, bool> known;  // to ask once for each host
  std::vector<node_start> starts;
  for (const place::cluster::node& node : machines.nodes) {
    const auto [host, fresh] = known.emplace(node.host, false);
    if (fresh)
      host->second = is_here(node.host);
    starts.push_back({node.name, node.host, host->second, command});
    for (const std::string& word : {std::string("--cluster"), path, std::string("--node"), node.name})
      starts.back().words.push_back(word);
  }
  return starts;
}

std::string draw(const std::vector<node_start>& starts, bool with_here) {
  std::string here;
  std::vector<std::string> hosts;
  std::map<std::string, std::string> lines;
  for (const node_start& each : starts)
    if (each.here) {
      here += line_of(each);
    } else {
      if (lines[each.host].empty())
        hosts.push_back(each.host);
      lines[each.host] += line_of(each);
    }
  std::string text = with_here && !here.empty() ? "here\n" + here : "";
  for (const std::string& host : hosts)
    text += "on " + host + "\n" + lines[host];
  return text;
}

}  // namespace twinkle::command
