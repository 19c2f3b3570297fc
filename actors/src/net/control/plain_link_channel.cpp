// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <cerrno>

#include "link_channel.hpp"
#include "sockets.hpp"

namespace twinkle::net::control {
namespace {

class plain final : public link_channel {
 public:
  explicit plain(int socket) : socket_(socket) {}

  std::optional<std::size_t> read(std::span<std::byte> to) override {
    return moved(::recv(socket_, to.data(), to.size(), MSG_NOSIGNAL), to.size());
  }
  std::optional<std::size_t> write(std::span<const std::byte> from) override {
    return moved(::send(socket_, from.data(), from.size(), MSG_NOSIGNAL), 0);
  }
  bool ready() const override { return true; }
  bool holds(std::size_t) const override { return false; }
  std::string why() const override { return why_; }

 private:
  // `wanted`: how much was to be read; nothing of that is the end.
  std::optional<std::size_t> moved(ssize_t bytes, std::size_t wanted) {
    if (bytes > 0 || (bytes == 0 && wanted == 0))
      return static_cast<std::size_t>(bytes);
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
      return 0;
    why_ = bytes == 0 ? "closed by the other side" : words(errno);
    return std::nullopt;
  }

  int socket_;
  std::string why_;
};

}  // namespace

std::unique_ptr<link_channel> plain_link_channel(int socket) { return std::make_unique<plain>(socket); }

}  // namespace twinkle::net::control
