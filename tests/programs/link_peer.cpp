// SPDX-License-Identifier: Apache-2.0
// link_peer PORT: connects to a link on this machine, and sends back what comes until that ends.
#include <cstdlib>
#include <future>
#include <memory>

#include "net/control/control_link.hpp"

namespace net = twinkle::net::control;

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  std::promise<void> over;
  std::unique_ptr<net::control_link> link;
  link = std::make_unique<net::control_link>(
      net::link_options{},
      net::link_events{
          .arrived = [&](std::uint64_t peer, std::vector<std::byte> what) { link->send(peer, std::move(what)); },
          .down = [&](std::uint64_t, const std::string&) { over.set_value(); }});
  link->connect("127.0.0.1", static_cast<std::uint16_t>(std::atoi(argv[1])));
  over.get_future().wait();
}
