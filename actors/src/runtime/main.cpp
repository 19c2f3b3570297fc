// SPDX-License-Identifier: Apache-2.0
#include "twinkle/runtime/main.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "run_command.hpp"
#include "simulate_command.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle {
namespace {

enum class verb : std::uint8_t { run, plan, simulate };

struct flags {
  verb what = verb::run;
  runtime::run_flags run;
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

void declare_nodes(CLI::App& app, runtime::run_flags& into) {
  CLI::Option* cluster = app.add_option(
      "--cluster", into.cluster, "the cluster's file, where the run is on several nodes; env: what the launcher's environment says");
  app.add_option("--node", into.node, "which node of the cluster this process is")->needs(cluster);
  app.add_option("--join-within", into.join_within_s, "seconds in which all nodes have to be there")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  app.add_option("--silence", into.silence_s, "seconds without a word, after which a node is lost")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  CLI::Option* authority = app.add_option("--tls-authority", into.authority, "certificate (PEM) that signs those of all nodes");
  CLI::Option* certificate = app.add_option("--tls-certificate", into.certificate, "certificate (PEM) of this node");
  CLI::Option* key = app.add_option("--tls-key", into.key, "its key (PEM)");
  authority->needs(certificate)->needs(key);
  certificate->needs(authority);
  key->needs(authority);
  app.add_flag("--insecure", into.insecure, "take part on addresses of other machines without certificates: the network is trusted");
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
  app.add_option("--out", into.run.out, "folder for metrics.jsonl, model.safetensors and checkpoint/");
  app.add_option("--save-every", into.run.save_every, "steps from one checkpoint to the next; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000000));
  app.add_option("--resume", into.run.resume, "goes on from the checkpoint in this folder, which --out named before");
  app.add_option("--stop-patience", into.run.stop_patience_s, "seconds that bodies have to end, once they are asked to")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  declare_nodes(app, into.run);
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
  if (into.run.out.empty())
    into.run.out = into.run.resume;
  if (!into.run.resume.empty() && into.run.resume != into.run.out) {
    std::cerr << "--resume goes on in '" << into.run.resume << "', and --out names '" << into.run.out
              << "'; leave one of them out\n";
    return 2;
  }
  return std::nullopt;
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
      case verb::run: return runtime::run_command(pipeline, given.run);
      case verb::plan: return runtime::plan_command(pipeline, given.run);
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
