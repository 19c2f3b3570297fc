// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/main.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "assembly.hpp"
#include "real_files.hpp"
#include "real_signals.hpp"
#include "run_log.hpp"
#include "simulate_command.hpp"
#include "twinkle/base/error.hpp"
#include "twinkle/flow/check.hpp"
#include "twinkle/runtime/checkpoint_folder.hpp"
#include "twinkle/runtime/session.hpp"

namespace twinkle {
namespace {

enum class verb : std::uint8_t { run, plan, simulate };

struct flags {
  verb what = verb::run;
  std::string out;
  std::string resume;
  std::size_t save_every = 10;
  double stop_patience_s = 10;
  runtime::simulate_flags simulated;
  std::map<std::string, std::string> options;
};

std::string program_name(const char* path) {
  const std::string whole = path == nullptr ? "pipeline" : path;
  return whole.substr(whole.find_last_of('/') + 1);
}

void declare_simulate(CLI::App& under, runtime::simulate_flags& into) {
  CLI::App& app = *under.add_subcommand("simulate", "run the pipeline in virtual time, the same for the same seed");
  app.fallthrough();
  app.add_option("--seeds", into.seeds, "how many seeds, from --seed on")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000000000}));
  app.add_option_function<std::string>(
         "--faults", [&into](const std::string& which) { into.swarm = which == "swarm"; },
         "swarm: what goes wrong is drawn from the seed, within what the graph is made to survive")
      ->check(CLI::IsMember({"none", "swarm"}))
      ->default_str("none");
  app.add_option("--nodes", into.nodes, "nodes, over which the graph's devices are shared out")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--until", into.until_s, "seconds of virtual time, after which it is wrong that a run is not over")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e9));
}

// Nothing, if the arguments say to go on.
std::optional<int> parse(int argc, char** argv, const blueprint& plan, flags& into) {
  CLI::App app{"The pipeline '" + plan.name + "'."};
  app.require_subcommand(0, 1);
  app.add_subcommand("run", "run the pipeline (default)")->fallthrough();
  const CLI::App* draw = app.add_subcommand("plan", "check the graph and draw it; starts nothing");
  app.get_subcommand("plan")->fallthrough();
  declare_simulate(app, into.simulated);
  into.options.emplace("seed", "1");
  app.add_option("--seed", into.options["seed"], "seed of everything that is drawn")->capture_default_str();
  app.add_option("--out", into.out, "folder for metrics.jsonl, model.safetensors and checkpoint/");
  app.add_option("--save-every", into.save_every, "steps from one checkpoint to the next; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000000));
  app.add_option("--resume", into.resume, "goes on from the checkpoint in this folder, which --out named before");
  app.add_option("--stop-patience", into.stop_patience_s, "seconds that bodies have to end, once they are asked to")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  for (const blueprint::option& each : plan.options) {
    std::string& value = into.options.emplace(each.name, each.value).first->second;
    app.add_option("--" + each.name, value, each.help)->capture_default_str();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : 2;
  }
  if (draw->parsed())
    into.what = verb::plan;
  else if (app.got_subcommand("simulate"))
    into.what = verb::simulate;
  if (into.out.empty())
    into.out = into.resume;
  if (!into.resume.empty() && into.resume != into.out) {
    std::cerr << "--resume goes on in '" << into.resume << "', and --out names '" << into.out
              << "'; leave one of them out\n";
    return 2;
  }
  return std::nullopt;
}

int draw(const graph& pipeline) {
  const place::layout placed = runtime::prepare(pipeline.plan());
  std::cout << place::draw(pipeline.plan(), placed);
  for (const std::string& remark : check(pipeline.plan()).remarks)
    std::cout << "remark  " << remark << "\n";
  return 0;
}

checkpoint resume(const graph& pipeline, checkpoint_folder& kept) {
  if (pipeline.plan().keepings.empty())
    throw error("the graph keeps nothing, so that there is nothing to resume; call .keeps of the stage that trains");
  checkpoint before = kept.read();
  std::cout << "resumed " << kept.path() << " at step " << before.step << std::endl;
  return before;
}

int run(const graph& pipeline, const flags& given) {
  runtime::real_signals signals;
  runtime::real_files files;
  std::vector<std::string> names;
  for (const blueprint::stage& stage : pipeline.plan().stages)
    names.push_back(stage.name);
  static_cast<void>(runtime::prepare(pipeline.plan()));  // a graph that cannot run leaves older results as they are
  run_options how{.seed = pipeline.seed()};
  how.stop_patience = duration(static_cast<duration::rep>(given.stop_patience_s * 1e9));
  if (::isatty(STDOUT_FILENO) != 0)
    how.standing = std::chrono::milliseconds(250);
  checkpoint_folder kept{given.out + "/checkpoint", pipeline, how.seed, &files};
  if (!given.resume.empty())
    how.resumed = resume(pipeline, kept);
  else if (!given.out.empty())
    kept.clear();
  runtime::run_log log{names, given.out, files, std::cout, how.resumed ? how.resumed->step : 0};
  if (!given.out.empty()) {
    how.save_every = given.save_every;
    log.save_in(kept);
  }
  for (const std::string& remark : check(pipeline.plan()).remarks)
    std::cout << "remark  " << remark << "\n";
  session started{pipeline, how, log};
  signals.watch([&] { started.interrupt(); });
  const run_report& report = started.wait();
  signals.unwatch();
  log.conclude(report);
  const int code = report.why ? 1 : report.interrupted ? 130 : 0;
  if (!report.abandoned.empty())
    std::_Exit(code);  // a body that ignores everything would keep the process
  return code;
}

// Those that are not as the graph declares them.
std::map<std::string, std::string> changed(std::map<std::string, std::string> options,
                                           const std::vector<blueprint::option>& declared) {
  for (const blueprint::option& each : declared)
    if (const auto found = options.find(each.name); found != options.end() && found->second == each.value)
      options.erase(found);
  return options;
}

}  // namespace

int main(int argc, char** argv, const std::function<void(graph&)>& build) {
  return main(argc, argv, build, sim::story{});
}

int main(int argc, char** argv, const std::function<void(graph&)>& build, const sim::story& simulated) {
  const std::string name = program_name(argc > 0 ? argv[0] : nullptr);
  try {
    graph declared{name};
    build(declared);
    flags given;
    if (const auto code = parse(argc, argv, declared.plan(), given))
      return *code;
    graph pipeline{name, given.options};
    build(pipeline);
    switch (given.what) {
      case verb::run: return run(pipeline, given);
      case verb::plan: return draw(pipeline);
      case verb::simulate: break;
    }
    given.simulated.program = name;
    given.simulated.seed = pipeline.seed();
    given.simulated.options = changed(given.options, declared.plan().options);
    return runtime::simulate_command(build, simulated, given.simulated, std::cout);
  } catch (const error& wrong) {
    std::cout.flush();
    std::cerr << name << ": " << wrong.what() << std::endl;
    return 1;
  }
}

}  // namespace twinkle
