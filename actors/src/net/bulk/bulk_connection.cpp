// SPDX-License-Identifier: Apache-2.0
#include "bulk_connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <utility>

#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

constexpr std::size_t ticks_of_silence = 8;

std::string text_of(const error_code& failed) {
  if (failed == asio::error::eof || failed == asio::error::connection_reset || failed == asio::error::broken_pipe ||
      failed.message() == "stream truncated")
    return "it closed the connection";
  return failed.message();
}

}  // namespace

bulk_connection::bulk_connection(std::unique_ptr<channel> over, const bulk_options& how, bulk_traffic& traffic)
    : over_(std::move(over)),
      how_(how),
      traffic_(traffic),
      reader_(*over_),
      queue_(how.checksums, how.chunk_bytes),
      timer_(over_->socket().get_executor()) {}

void bulk_connection::start(std::shared_ptr<frame_handler> by, std::function<asio::awaitable<void>(channel&)> open) {
  by_ = std::move(by);
  wait_tick();
  asio::co_spawn(over_->socket().get_executor(), run(shared_from_this(), std::move(open)), asio::detached);
}

asio::awaitable<void> bulk_connection::run(self alive, std::function<asio::awaitable<void>(channel&)> open) {
  const auto by = by_;
  try {
    co_await open(*over_);
    open_ = true;
    pump();
    co_await serve(*by);
  } catch (const boost::system::system_error& failed) {
    fall(text_of(failed.code()));
  } catch (const std::exception& wrong) {
    if (!alive->fallen_)
      by->wrong(wrong.what());
  }
}

asio::awaitable<void> bulk_connection::serve(frame_handler& by) {
  while (!fallen_ && end_.empty()) {
    const frame_header header = co_await reader_.header(how_.limits);
    if (fallen_)
      co_return;
    by.begin(header);
    std::vector<std::byte> head(header.head_bytes);
    co_await reader_.part(head.size(), [&] { return std::span(head); }, header.body_bytes == 0);
    co_await reader_.part(header.body_bytes, [&] { return fallen_ ? std::span<std::byte>() : by.room(); }, true);
    traffic_.received += reader_.bytes() - std::exchange(counted_, reader_.bytes());
    if (fallen_)
      co_return;
    const std::span<const std::byte> body = by.room();
    if (header.checked && (header.body_bytes == 0 || !body.empty()) && frame_checksum(head, body) != header.checksum)
      throw error("a frame of kind " + std::string(to_string(header.kind)) + " was damaged on its way");
    by.end(header, std::move(head));
  }
}

void bulk_connection::put(const frame_header& header, std::vector<std::byte> head, buffer body) {
  queue_.put(header, std::move(head), std::move(body));
  pump();
}

void bulk_connection::answer(std::uint64_t id, std::vector<buffer> pieces) {
  queue_.answer(id, std::move(pieces));
  pump();
}

void bulk_connection::forget(std::uint64_t id) { queue_.forget(id); }

void bulk_connection::greeted() {
  greeted_ = true;
  silent_ticks_ = 0;
  ++traffic_.connections;
}

void bulk_connection::end(const std::string& why) {
  end_ = why;
  pump();
}

void bulk_connection::fall(const std::string& why) {
  if (std::exchange(fallen_, true))
    return;
  if (greeted_)
    --traffic_.connections;
  timer_.cancel();
  over_->close();
  if (const auto by = std::exchange(by_, nullptr))
    by->fallen(why);
}

void bulk_connection::pump() {
  if (!open_ || fallen_ || broken_ || !writing_.empty())
    return;
  for (const auto& part : queue_.next())
    writing_.emplace_back(part.data(), part.size());
  if (writing_.empty()) {
    if (!end_.empty())
      fall(end_);
    return;
  }
  over_->write(writing_, [this, alive = shared_from_this()](error_code failed) {
    traffic_.sent += asio::buffer_size(writing_);
    writing_.clear();
    wrote_ = true;
    broken_ = bool(failed);  // the reader will know better why
    if (broken_ && !end_.empty())
      fall(end_);
    pump();
  });
}

void bulk_connection::wait_tick() {
  timer_.expires_after(how_.silence / ticks_of_silence);
  timer_.async_wait([this, alive = shared_from_this()](error_code stopped) {
    if (!stopped && !fallen_)
      tick();
  });
}

// Ticks are counted, not time: a node that was held up itself does not blame others for it.
void bulk_connection::tick() {
  const bool heard = std::exchange(heard_, reader_.bytes()) != reader_.bytes();
  silent_ticks_ = heard && greeted_ ? 0 : silent_ticks_ + 1;
  if (silent_ticks_ >= ticks_of_silence)
    return fall((greeted_ ? "nothing came for " : "there was no greeting within ") + to_string(how_.silence));
  if (greeted_ && !std::exchange(wrote_, false) && writing_.empty())
    put({});
  wait_tick();
}

}  // namespace twinkle::net
