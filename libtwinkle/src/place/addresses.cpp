// SPDX-License-Identifier: Apache-2.0
#include "twinkle/place/addresses.hpp"

#include <algorithm>
#include <cstdint>

namespace twinkle::place {
namespace {

void add_port_problems(const cluster& machines, std::vector<std::string>& found) {
  const cluster::node& leader = machines.nodes.front();
  if (leader.port == 0)
    found.push_back("node '" + leader.name + "' leads and has no port; give it one, and leave the one after it free as well");
  if (leader.port == UINT16_MAX)
    found.push_back("node '" + leader.name + "' leads on port " + std::to_string(leader.port) +
                    ", behind which there is none; give it a smaller one");
  for (const cluster::node& each : machines.nodes)
    if (leader.port != 0 && each.host == leader.host && each.port == leader.port + 1)
      found.push_back("node '" + each.name + "' has port " + std::to_string(each.port) + ", on which '" + leader.name +
                      "' listens as well, since it leads on the port before; give it another");
}

}  // namespace

// A name may be anybody's: numbers only.
bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::vector<std::string> address_problems(const cluster& machines) {
  std::vector<std::string> found;
  if (machines.nodes.empty())
    return found;
  add_port_problems(machines, found);
  const auto elsewhere = std::find_if(machines.nodes.begin(), machines.nodes.end(), [](const cluster::node& each) {
    return !is_loopback(each.host) && each.host != unknown_host;
  });
  if (elsewhere == machines.nodes.end())
    return found;
  for (const cluster::node& each : machines.nodes)
    if (is_loopback(each.host))
      found.push_back("node '" + each.name + "' is on " + each.host + ", which is whichever machine reads it, and '" +
                      elsewhere->name + "' on " + elsewhere->host + "; give it a host that all nodes can reach");
  return found;
}

}  // namespace twinkle::place
