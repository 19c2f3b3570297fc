// SPDX-License-Identifier: Apache-2.0
#include "frame_reader.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace twinkle::net {
namespace {

constexpr std::size_t unwanted_bytes = std::size_t{64} << 10;
constexpr std::size_t in_one_go_bytes = std::size_t{4} << 20;
constexpr std::size_t call_bytes = std::size_t{4} << 10;  // what a call costs, in bytes it could have read

}  // namespace

// Waits if nothing was there; lets others have their turn if there was much.
asio::awaitable<void> frame_reader::after(std::size_t got) {
  bytes_ += got;
  without_pause_ += got + call_bytes;
  if (got == 0)
    co_await from_.readable();
  else if (without_pause_ > in_one_go_bytes)
    co_await asio::post(asio::use_awaitable);
  else
    co_return;
  without_pause_ = 0;
}

asio::awaitable<frame_header> frame_reader::header(const frame_limits& limits) {
  while (have_ < next_.size()) {
    const std::size_t got = from_.read({asio::buffer(next_.data() + have_, next_.size() - have_), {}});
    have_ += got;
    co_await after(got);
    if (have_ >= sizeof(std::uint32_t) && !is_frame({next_.data(), have_}))
      break;  // whoever sends it might wait for an answer
  }
  knew_ = is_frame({next_.data(), have_});
  have_ = 0;
  co_return frame_header_of(next_, limits);
}

asio::awaitable<void> frame_reader::part(std::size_t bytes, room where, bool last) {
  for (std::size_t done = 0; done < bytes;) {
    const std::span<std::byte> all = where();
    if (all.empty() && unwanted_.empty())
      unwanted_.resize(unwanted_bytes);
    const std::span<std::byte> into =
        all.empty() ? std::span(unwanted_).first(std::min(bytes - done, unwanted_bytes)) : all.subspan(done);
    const bool with_next = last && into.size() == bytes - done;
    const std::size_t got = from_.read({asio::buffer(into.data(), into.size()),
                                        asio::buffer(next_.data(), with_next ? next_.size() : 0)});
    const std::size_t of_it = std::min(got, into.size());
    done += of_it;
    have_ = got - of_it;
    co_await after(got);
  }
}

}  // namespace twinkle::net
