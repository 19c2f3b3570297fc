// SPDX-License-Identifier: Apache-2.0
#include "this_machine.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace twinkle::command {
namespace {

const std::string mapped(std::string(10, '\0') + "\xff\xff");  // before an IPv4 address, in an IPv6 one

std::string bytes_of(const sockaddr* address) {
  std::string bytes;
  if (address != nullptr && address->sa_family == AF_INET) {
    sockaddr_in of{};
    std::memcpy(&of, address, sizeof of);
    bytes.assign(reinterpret_cast<const char*>(&of.sin_addr), sizeof of.sin_addr);
  } else if (address != nullptr && address->sa_family == AF_INET6) {
    sockaddr_in6 of{};
    std::memcpy(&of, address, sizeof of);
    bytes.assign(reinterpret_cast<const char*>(&of.sin6_addr), sizeof of.sin6_addr);
  }
  return bytes.starts_with(mapped) ? bytes.substr(mapped.size()) : bytes;
}

std::vector<std::string> addresses_of(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0)
    return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> kept(found, freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
    addresses.push_back(bytes_of(each->ai_addr));
  return addresses;
}

}  // namespace

bool is_loopback(const std::string& address) {
  return (address.size() == 4 && address.front() == 127) || address == std::string(15, '\0') + '\1';
}

this_machine::this_machine() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0)
    name_ = name.data();
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0)
    return;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> kept(found, freeifaddrs);
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next)
    if (std::string address = bytes_of(each->ifa_addr); !address.empty())
      addresses_.push_back(std::move(address));
}

bool this_machine::is(const std::string& host) const {
  if (host == "localhost" || host == name_)
    return true;
  const std::vector<std::string> addresses = addresses_of(host);
  return std::any_of(addresses.begin(), addresses.end(), [&](const std::string& address) {
    return is_loopback(address) || std::find(addresses_.begin(), addresses_.end(), address) != addresses_.end();
  });
}

}  // namespace twinkle::command
