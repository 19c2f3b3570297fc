// SPDX-License-Identifier: Apache-2.0
#include "caf_sockets.hpp"

#include <caf/io/abstract_broker.hpp>
#include <caf/io/network/doorman_impl.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/make_counted.hpp>
#include <caf/send.hpp>

#include "caf_parcel.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net::control {
namespace {

namespace io = caf::io;
using io::network::rw_state;

// What CAF puts around a message, and its own messages.
constexpr std::size_t frame_overhead_max = 4096;

class link_scribe final : public io::scribe {
 public:
  link_scribe(io::network::default_multiplexer& loop, int socket, std::unique_ptr<link_channel> through,
              std::shared_ptr<connection> on, std::size_t message_bytes_max, bool calls)
      : scribe(io::network::conn_hdl_from_socket(socket)), channel_(std::move(through)), on_(std::move(on)),
        message_bytes_max_(message_bytes_max), calls_(calls), is_open_(channel_->ready()),
        stream_(loop, socket, policy{*this}) {}

  void configure_read(io::receive_policy::config config) override {
    if (config.second > message_bytes_max_ + frame_overhead_max) {
      on_->end("a frame of " + std::to_string(config.second) + " bytes was announced, longer than message_bytes_max");
      config = io::receive_policy::at_most(1);
    }
    stream_.configure_read(config);
    if (!std::exchange(launched_, true)) {
      stream_.start(this);
      if (!is_open_)
        stream_.force_empty_write(this);
    }
  }

  void ack_writes(bool enable) override { stream_.ack_writes(enable); }
  std::vector<char>& wr_buf() override { return is_open_ ? stream_.wr_buf() : held_; }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void flush() override {
    if (is_open_)
      stream_.flush(this);
  }

  // The broker has no use for it any more. Waiting until all is written might take for ever.
  void graceful_shutdown() override {
    on_->end("refused: the other side speaks another version of the protocol, or is no node");
    detach(&stream_.backend(), false);
  }

  bool consume(caf::execution_unit* unit, const void* data, std::size_t bytes) override {
    arrival now{on_->number(), message_bytes_max_};
    arriving = &now;
    const bool goes_on = scribe::consume(unit, data, bytes);
    arriving = nullptr;
    if (!now.refused.empty())
      on_->end(now.refused);
    return goes_on;
  }

  std::string addr() const override {
    auto host = io::network::remote_addr_of_fd(stream_.fd());
    return host ? std::move(*host) : "";
  }
  std::uint16_t port() const override {
    const auto port = io::network::remote_port_of_fd(stream_.fd());
    return port ? *port : std::uint16_t{0};
  }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }

 protected:
  // Whatever the way to its end.
  void detach_from(caf::io::abstract_broker* broker) override {
    on_->end("the connection failed");
    scribe::detach_from(broker);
  }

 private:
  // How CAF's stream reads and writes.
  struct policy {
    link_scribe& of;
    rw_state read_some(std::size_t& got, int, void* to, std::size_t bytes) const { return of.read(got, to, bytes); }
    rw_state write_some(std::size_t& got, int, const void* from, std::size_t bytes) const {
      return of.write(got, from, bytes);
    }
    bool must_read_more(int, std::size_t bytes) const { return of.channel_->holds(bytes); }
  };

  rw_state read(std::size_t& got, void* to, std::size_t bytes) {
    if (!moved(got, [&] { return channel_->read({static_cast<std::byte*>(to), bytes}); }))
      return rw_state::failure;
    // The side that connects speaks second: so it hears that its certificate is refused before it writes to one who
    // does not listen any more, which would throw away what it has not read.
    if (!calls_ || got > 0)
      open_if_ready();
    return rw_state::success;
  }

  rw_state write(std::size_t& got, const void* from, std::size_t bytes) {
    if (!moved(got, [&] { return channel_->write({static_cast<const std::byte*>(from), bytes}); }))
      return rw_state::failure;
    if (!calls_)
      open_if_ready();
    return bytes == 0 ? rw_state::indeterminate : rw_state::success;
  }

  template <class Move>
  bool moved(std::size_t& got, const Move& move) {
    got = 0;
    if (on_->ended())
      return false;
    const std::optional<std::size_t> done = move();
    if (!done)
      on_->end(channel_->why());
    got = done.value_or(0);
    return done.has_value();
  }

  // Writes what was to be written before both sides had agreed on TLS.
  void open_if_ready() {
    if (is_open_ || !channel_->ready())
      return;
    is_open_ = true;
    stream_.wr_buf() = std::move(held_);
    stream_.flush(this);
  }

  std::unique_ptr<link_channel> channel_;
  std::shared_ptr<connection> on_;
  std::size_t message_bytes_max_;
  bool calls_;
  bool is_open_;
  bool launched_ = false;
  std::vector<char> held_;
  io::network::stream_impl<policy> stream_;
};

class link_doorman final : public io::network::doorman_impl {
 public:
  link_doorman(io::network::default_multiplexer& loop, std::shared_ptr<link_state> state, int listening)
      : doorman_impl(loop, listening), loop_(loop), state_(std::move(state)) {}

  bool new_connection() override {
    socket_handle socket(acceptor_.accepted_socket());
    const caf::actor gateway = state_->gateway();
    if (detached() || !gateway)
      return false;
    try {
      std::shared_ptr<connection> on = state_->admit(socket.get());
      if (!on)
        return false;
      caf::anon_send(gateway, accepted{on});
      io::scribe_ptr scribe = make_scribe(loop_, *state_, std::move(socket), std::move(on), false);
      const io::connection_handle handle = scribe->hdl();
      parent()->add_scribe(std::move(scribe));
      return doorman::new_connection(&loop_, handle);
    } catch (const error&) {
      return false;  // out of descriptors or memory: who calls tries again
    }
  }

 private:
  io::network::default_multiplexer& loop_;
  std::shared_ptr<link_state> state_;
};

}  // namespace

caf::io::scribe_ptr make_scribe(io::network::default_multiplexer& loop, const link_state& state, socket_handle socket,
                                std::shared_ptr<connection> on, bool calls) {
  std::unique_ptr<link_channel> through = state.open(socket.get(), calls);
  return caf::make_counted<link_scribe>(loop, socket.release(), std::move(through), std::move(on),
                                        state.how.message_bytes_max, calls);
}

caf::io::doorman_ptr make_doorman(io::network::default_multiplexer& loop, std::shared_ptr<link_state> state,
                                  socket_handle listening) {
  return caf::make_counted<link_doorman>(loop, std::move(state), listening.release());
}

}  // namespace twinkle::net::control
