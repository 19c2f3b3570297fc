// SPDX-License-Identifier: Apache-2.0
// The command `twinkle`: what a run would look like, asked before there is one; and the start of its nodes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "subcommand.hpp"
#include "twinkle/base/list.hpp"

namespace {

// Whatever else is wrong, a misspelt argument is likely to be the cause.
std::string usage(const CLI::App* app, const CLI::Error& wrong) {
  const std::vector<std::string> unknown = app->remaining(true);
  std::string text;
  if (dynamic_cast<const CLI::ExtrasError*>(&wrong) == nullptr)
    text += std::string(wrong.what()) + "\n";
  if (!unknown.empty())
    text += "not expected: " + twinkle::list(unknown, " ") + "\n";
  return text + "Run with --help for more information.\n";
}

// What follows the "--" of launch is the command of others, whose arguments are not to be taken for ours.
char** own_end(char** begin, char** end) {
  const bool launches = end - begin > 1 && std::string_view(begin[1]) == "launch";
  return launches ? std::find(begin, end, std::string_view("--")) : end;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace twinkle::command;
  CLI::App app{"What a run would look like: meshes, splits, transfers and placements, before anything runs.", "twinkle"};
  app.require_subcommand(1);
  app.failure_message(usage);
  app.footer("Example:\n  twinkle mesh --dp 2 --tp 2\n\n"
             "Exit codes: 0 answered, 1 refused, with every reason, 2 bad usage.");
  std::vector<std::unique_ptr<subcommand>> subcommands;
  for (const auto& make : {mesh_subcommand, split_subcommand, transfer_subcommand, place_subcommand})
    subcommands.push_back(make(app));
  char** const end = argv + argc;
  char** const behind = own_end(argv, end);
  subcommands.push_back(launch_subcommand(app, {behind, end}));
  try {
    app.parse(static_cast<int>(behind - argv), argv);
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : 2;
  }
  for (const auto& each : subcommands)
    if (each->asked())
      return each->run();
  return 2;
}
