// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/cluster_environment.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "twinkle/place/addresses.hpp"
#include "twinkle/place/placement.hpp"

namespace twinkle::place {
namespace {

constexpr std::uint64_t nodes_max = 65536;
constexpr std::uint64_t devices_max = std::uint64_t{1} << 20;
constexpr std::uint64_t ids_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t port_max = 65534;  // the next one is needed, too

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

class environment_reader {
 public:
  explicit environment_reader(const variables& of) : of_(of) {}

  cluster_environment run() {
    const bool by_rank = text("RANK") || text("WORLD_SIZE");
    const std::string rank_name = by_rank ? "RANK" : "SLURM_PROCID";
    const std::string nodes_name = by_rank ? "WORLD_SIZE" : "SLURM_NTASKS";
    const auto rank = needed(rank_name, by_rank, 0, nodes_max - 1);
    const auto nodes = needed(nodes_name, by_rank, 1, nodes_max);
    if (rank && nodes && *rank >= *nodes)
      problem(rank_name + " is " + std::to_string(*rank) + ", but " + nodes_name + " is " + std::to_string(*nodes) +
              "; ranks are 0.." + std::to_string(*nodes - 1));
    made_.rank = rank.value_or(0);
    made_.nodes = nodes.value_or(1);
    if (by_rank) {
      compare("RANK", "SLURM_PROCID");
      compare("WORLD_SIZE", "SLURM_NTASKS");
    }
    read_host();
    read_port();
    made_.devices = number("TWINKLE_DEVICES", 0, devices_max);
    made_.cpus = number("TWINKLE_CPUS", 0, devices_max);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    std::optional<std::string> value = of_(name);
    return value && !value->empty() ? std::move(value) : std::nullopt;
  }

  void problem(std::string text) { made_.problems.push_back(std::move(text)); }

  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least, std::uint64_t most) {
    const auto given = text(name);
    if (!given)
      return std::nullopt;
    const auto value = number_in(*given);
    if (value && *value >= least && *value <= most)
      return value;
    problem(name + " is '" + *given + "'; it must be a whole number, " + std::to_string(least) + ".." +
            std::to_string(most));
    return std::nullopt;
  }

  std::optional<std::uint64_t> needed(const std::string& name, bool by_rank, std::uint64_t least,
                                      std::uint64_t most) {
    if (text(name))
      return number(name, least, most);
    if (by_rank)
      problem(name + " is not set, but " + (name == "RANK" ? "WORLD_SIZE" : "RANK") + " is; set both");
    else if (name == "SLURM_PROCID")
      problem("neither RANK nor SLURM_PROCID is set; one of them has to say which node this process is");
    else
      problem("neither WORLD_SIZE nor SLURM_NTASKS is set; one of them has to say how many nodes there are");
    return std::nullopt;
  }

  void compare(const std::string& used, const std::string& passed_over) {
    const auto a = text(used);
    const auto b = text(passed_over);
    if (a && b && number_in(*a) != number_in(*b))
      made_.remarks.push_back(used + " is " + *a + " and " + passed_over + " is " + *b + "; " + used + " is taken");
  }

  void read_host() {
    const std::string name = text("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
    if (const auto host = text("MASTER_ADDR")) {
      made_.leader_host = *host;
    } else if (const auto list = text(name)) {
      if (const auto first = first_host(*list))
        made_.leader_host = *first;
      else
        problem(name + " is '" + *list + "', which does not begin with a host, such as a1 or a[01-03,7]");
    } else {
      problem("neither MASTER_ADDR nor SLURM_JOB_NODELIST is set; one of them has to say on which host node 0 is");
    }
  }

  void read_port() {
    std::optional<std::uint64_t> port;
    if (text("MASTER_PORT"))
      port = number("MASTER_PORT", 1, port_max);
    else if (!text("SLURM_JOB_ID"))
      problem("neither MASTER_PORT nor SLURM_JOB_ID is set; one of them has to say on which port node 0 listens");
    else if (const auto job = number("SLURM_JOB_ID", 0, ids_max))
      port = 20000 + 2 * ((*job + 997 * number("SLURM_STEP_ID", 0, ids_max).value_or(0)) % 15000);
    made_.leader_port = static_cast<std::uint16_t>(port.value_or(0));
  }

  const variables& of_;
  cluster_environment made_;
};

// The first number of the brackets that `list` begins with, which are taken off it.
std::optional<std::string> take_brackets(std::string_view& list) {
  const std::size_t close = list.find(']');
  if (close == std::string_view::npos)
    return std::nullopt;
  const std::string_view inside = list.substr(1, close - 1);
  const std::string_view first = inside.substr(0, inside.find_first_not_of("0123456789"));
  if (first.empty() || inside.find_first_not_of("0123456789-,") != std::string_view::npos)
    return std::nullopt;
  list.remove_prefix(close + 1);
  return std::string(first);
}

// Of the devices of a type that the groups ask for, what each of `nodes` has to have: whole workers, rounded up.
std::size_t even_share(const placement& asked, const std::string& type, std::size_t nodes) {
  std::size_t devices = 0;
  std::size_t unit = 1;
  for (const placed_group& group : asked.groups)
    if (group.device_type == type) {
      devices = std::max(devices, *std::max_element(group.devices.begin(), group.devices.end()) + 1);
      unit = std::lcm(unit, group.gpus_per_worker);
    }
  const std::size_t units = (devices + unit - 1) / unit;
  return (units + nodes - 1) / nodes * unit;
}

std::string device_type_of(const placement& asked) {
  const auto of_devices = [](const placed_group& group) { return group.device_type != "cpu"; };
  const auto first = std::find_if(asked.groups.begin(), asked.groups.end(), of_devices);
  return first == asked.groups.end() ? cluster::node{}.type : first->device_type;
}

}  // namespace

cluster_environment read_environment(const variables& of) { return environment_reader{of}.run(); }

cluster machines_of(const cluster_environment& told, const std::vector<device_group>& groups) {
  const placement asked = place_groups(groups);
  const std::string type = device_type_of(asked);
  const std::size_t devices = told.devices.value_or(even_share(asked, type, told.nodes));
  const std::size_t cpus = told.cpus.value_or(even_share(asked, "cpu", told.nodes));
  cluster machines;
  for (std::size_t node = 0; node < told.nodes; ++node)
    machines.nodes.push_back({.name = "node" + std::to_string(node),
                              .host = node == 0 ? told.leader_host : std::string(unknown_host),
                              .port = node == 0 ? told.leader_port : std::uint16_t{0},
                              .devices = devices,
                              .type = type,
                              .cpus = cpus});
  return machines;
}

std::optional<std::string> first_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() == '[') {
      const auto number = take_brackets(list);
      if (!number)
        return std::nullopt;
      host += *number;
      continue;
    }
    if (list.front() == ']' || list.front() == ' ')
      return std::nullopt;
    host += list.front();
    list.remove_prefix(1);
  }
  return host.empty() ? std::nullopt : std::optional(host);
}

}  // namespace twinkle::place
