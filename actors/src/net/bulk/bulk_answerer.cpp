// SPDX-License-Identifier: Apache-2.0
#include "bulk_answerer.hpp"

#include <algorithm>
#include <utility>

#include "bulk_core.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::net {
namespace {

constexpr std::size_t refusals_bytes_max = std::size_t{1} << 20;

}  // namespace

bulk_answerer::bulk_answerer(bulk_core& core, std::shared_ptr<bulk_connection> over)
    : core_(core), over_(std::move(over)), waits_(over_->socket().get_executor()) {}

void bulk_answerer::start() {
  over_->start(shared_from_this(), [](channel& over) { return over.open(false); });
}

void bulk_answerer::close(const std::string& why) { over_->fall(why); }

void bulk_answerer::begin(const frame_header& header) {
  const bool greeted = over_->is_greeted();
  const bool may_come = greeted ? header.kind == frame_kind::fetch || header.kind == frame_kind::cancel ||
                                      header.kind == frame_kind::message || header.kind == frame_kind::ping
                                : header.kind == frame_kind::hello && !early_;
  if (!may_come)
    throw error("a frame of kind " + std::string(to_string(header.kind)) + " came, which may not come now");
  if (header.kind == frame_kind::fetch && over_->answers() >= core_.how().fetches_max)
    throw error("it asks for more than " + std::to_string(core_.how().fetches_max) + " things at once");
  if (over_->unsent_bytes() > refusals_bytes_max)
    throw error("it asks on, but leaves its refusals unread");
  body_ = nullptr;
  body_bytes_ = header.body_bytes;
  if (body_bytes_ > 0)
    body_ = std::shared_ptr<std::byte>(new std::byte[body_bytes_], std::default_delete<std::byte[]>());
}

std::span<std::byte> bulk_answerer::room() { return {body_.get(), body_bytes_}; }

void bulk_answerer::end(const frame_header& header, std::vector<std::byte> head) {
  const frame_limits& limits = core_.how().limits;
  switch (header.kind) {
    case frame_kind::hello: return greet(greeting_of(head, limits));
    case frame_kind::fetch: return answer(header.id, ranges_of(head, limits));
    case frame_kind::cancel: return over_->forget(header.id);
    case frame_kind::message: {
      const std::byte* first = body_.get();
      if (core_.on_message)
        core_.on_message(node_, std::move(head), {first, body_bytes_, std::exchange(body_, nullptr)});
      return;
    }
    default: return;
  }
}

void bulk_answerer::greet(const greeting& they) {
  node_ = they.node;
  const auto expected = core_.expected(they.node);
  if (!expected)
    throw error("node " + std::to_string(they.node) + " is not known here");
  if (they.incarnation == 0)
    throw error("incarnation 0, which no process has");
  if (const auto differs = mismatch({expected->cluster, expected->graph, expected->node, they.incarnation}, they))
    throw error(*differs);
  if (const auto differs = mismatch(*expected, they)) {
    early_ = they;
    return await_news(*differs);
  }
  wait_no_more();
  over_->greeted();
  core_.greeted(shared_from_this());
  over_->put({.kind = frame_kind::welcome}, to_bytes(core_.ours()));
}

// A node that was started again may come here before the one that leads has told of it.
void bulk_answerer::await_news(const std::string& differs) {
  waits_.expires_after(std::min(core_.how().heard_within, core_.how().silence / 2));
  waits_.async_wait([this, alive = shared_from_this(), differs](error_code stopped) {
    if (!stopped && early_)
      wrong(differs);
  });
}

void bulk_answerer::wait_no_more() {
  early_.reset();
  waits_.cancel();
}

void bulk_answerer::heard_news() try {
  if (early_)
    greet(greeting(*early_));
} catch (const error& differs) {
  wrong(differs.what());
}

void bulk_answerer::refuse(std::uint64_t id, const std::string& why) {
  const auto* text = reinterpret_cast<const std::byte*>(why.data());
  const std::size_t bytes = std::min(why.size(), core_.how().limits.text_bytes_max);
  over_->put({.kind = frame_kind::refused, .id = id}, {text, text + bytes});
}

void bulk_answerer::answer(std::uint64_t id, const std::vector<bulk_range>& what) {
  std::string why;
  try {
    return over_->answer(id, core_.pieces(what));
  } catch (const error& wrong) {
    why = wrong.what();
  }
  refuse(id, why);
}

// A stranger that speaks as we do is told why it is refused; others are not worth an answer.
void bulk_answerer::wrong(const std::string& why) {
  wait_no_more();
  if (over_->is_greeted() || !over_->knew())
    return over_->fall(why);
  refuse(0, why);
  over_->end(why);
}

void bulk_answerer::fallen(const std::string& why) {
  wait_no_more();
  const bool greeted = over_->is_greeted();
  core_.left(shared_from_this(), greeted);
  if (greeted)
    core_.gone(node_, core_.name_of(node_) + ": " + why);
}

}  // namespace twinkle::net
