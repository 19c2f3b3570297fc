// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "arguments.hpp"
#include "cluster_reading.hpp"
#include "node_processes.hpp"
#include "node_starts.hpp"
#include "subcommand.hpp"
#include "this_machine.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/base/list.hpp"
#include "twinkle/place/addresses.hpp"

namespace twinkle::command {
namespace {

using boost::json::value_from;

class launch_command final : public subcommand {
 public:
  launch_command(CLI::App& to, std::vector<std::string> behind)
      : subcommand(*to.add_subcommand("launch", "starts the nodes of a cluster file that are on this machine")) {
    app().add_option("FILE", path_, "a cluster file in TOML, with [[node]]s")->type_name("")->required();
    CLI::Option* dry = app().add_flag("--dry-run", dry_, "prints the commands of all nodes, and starts none");
    add_text(app(), "--host", "HOST", "takes this machine for that host of the file, whatever its name and addresses",
             [this](const std::string& text) { host_ = text; });
    add_number<std::uint32_t>(app(), "--patience", patience_s_,
                              "seconds that nodes have to end when one has failed, or at a second Ctrl-C; 10");
    app().get_option("--json")->needs(dry);
    app().footer("Behind -- is the command of a node, which gets --cluster FILE --node NAME. What is to be typed on\n"
                 "other hosts is printed first.\n\n"
                 "Example:\n  twinkle launch cluster.toml -- ./my_pipeline run --steps 100\n\n"
                 "Exit code: that of the first node that fails, 128 + signal where it was killed.");
    app().parse_complete_callback([this, behind = std::move(behind)] { take_command(behind); });
  }

 private:
  void take_command(const std::vector<std::string>& behind) {
    if (behind.empty())
      throw CLI::ValidationError("-- is missing; write the command of a node behind it: FILE -- ./my_pipeline run");
    if (behind.size() == 1)
      throw CLI::ValidationError("-- has no command behind it; write that of a node: FILE -- ./my_pipeline run");
    command_.assign(behind.begin() + 1, behind.end());
  }

  [[nodiscard]] std::vector<node_start> answer() const {
    const place::cluster_file file = read_cluster(path_);
    std::vector<std::string> wrong = place::address_problems(file.machines);
    for (std::string& each : wrong)
      each.insert(0, path_ + ": ");
    if (!wrong.empty())
      throw refused(std::move(wrong));
    const this_machine self;
    const auto is_here = [&](const std::string& host) { return host_ ? host == *host_ : self.is(host); };
    std::vector<node_start> starts = node_starts(file.machines, path_, command_, is_here);
    const bool some = std::any_of(starts.begin(), starts.end(), [](const node_start& each) { return each.here; });
    if (some || (dry_ && !host_))
      return starts;
    std::vector<std::string> hosts;
    for (const node_start& each : starts)
      if (std::find(hosts.begin(), hosts.end(), each.host) == hosts.end())
        hosts.push_back(each.host);
    if (host_)
      throw error(path_ + ": no node is on host '" + *host_ + "'; the hosts are " + list(hosts));
    throw error(path_ + ": nothing to start here: this machine, '" + self.name() + "', is none of the hosts " +
                list(hosts) + "; go to one of them, or say with --host which of them it is");
  }

  [[nodiscard]] boost::json::object json(boost::json::storage_ptr memory) const override {
    boost::json::object object(memory);
    boost::json::array& commands = object["commands"].emplace_array();
    for (const node_start& each : answer())
      commands.push_back(boost::json::object({{"node", each.node},
                                              {"host", each.host},
                                              {"here", each.here},
                                              {"words", value_from(each.words, memory)}},
                                             memory));
    return object;
  }

  [[nodiscard]] std::string text() const override { return draw(answer(), dry_); }

  [[nodiscard]] int act() const override {
    if (dry_)
      return 0;
    std::vector<node_start> starts = answer();
    starts.erase(std::remove_if(starts.begin(), starts.end(), [](const node_start& each) { return !each.here; }),
                 starts.end());
    return run_nodes(starts, patience_s_);
  }

  std::string path_;
  bool dry_ = false;
  std::optional<std::string> host_;
  std::uint32_t patience_s_ = 10;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<subcommand> launch_subcommand(CLI::App& app, std::vector<std::string> behind) {
  return std::make_unique<launch_command>(app, std::move(behind));
}

}  // namespace twinkle::command
