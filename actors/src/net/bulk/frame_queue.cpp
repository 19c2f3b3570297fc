// SPDX-License-Identifier: Apache-2.0
#include "frame_queue.hpp"

#include <algorithm>
#include <utility>

#include "twinkle/base/ensure.hpp"

namespace twinkle::net {
namespace {

constexpr std::size_t pieces_in_chunk_max = 60;  // what one call of the system takes, with headers
constexpr std::size_t frames_in_one_go_max = 16;

std::span<const std::byte> bytes_of(const buffer& of) { return {of.data(), of.bytes()}; }

}  // namespace

frame_queue::frame frame_queue::made(frame_header header, std::vector<std::byte> head, buffer body) const {
  header.head_bytes = head.size();
  header.body_bytes = body.bytes();
  if (checksums_ && header.head_bytes + header.body_bytes > 0) {
    header.checked = true;
    header.checksum = frame_checksum(head, bytes_of(body));
  }
  return {to_bytes(header), std::move(head), std::move(body)};
}

void frame_queue::put(frame_header header, std::vector<std::byte> head, buffer body) {
  frames_.push_back(made(header, std::move(head), std::move(body)));
  bytes_ += frames_.back().head.size() + frames_.back().body.bytes();
}

void frame_queue::answer(std::uint64_t id, std::vector<buffer> pieces) {
  std::erase_if(pieces, [](const buffer& each) { return each.bytes() == 0; });
  ensure(!pieces.empty(), "an answer on the bulk plane has a byte");
  answers_.push_back({id, std::move(pieces)});
}

void frame_queue::forget(std::uint64_t id) {
  std::erase_if(answers_, [&](const answer_under_way& each) { return each.id == id; });
}

std::vector<std::span<const std::byte>> frame_queue::next() {
  sent_.clear();
  pieces_.clear();
  std::vector<std::span<const std::byte>> out;
  for (std::size_t frames = 0; frames < frames_in_one_go_max && !frames_.empty(); ++frames) {
    sent_.push_back(std::move(frames_.front()));
    frames_.pop_front();
    const frame& each = sent_.back();
    bytes_ -= each.head.size() + each.body.bytes();
    out.emplace_back(each.header);
    out.emplace_back(each.head);
    out.push_back(bytes_of(each.body));
  }
  if (!answers_.empty())
    chunk(out);
  std::erase_if(out, [](const auto& part) { return part.empty(); });
  return out;
}

void frame_queue::chunk(std::vector<std::span<const std::byte>>& out) {
  answer_under_way from = std::move(answers_.front());
  answers_.pop_front();
  frame_header header{.kind = frame_kind::data, .id = from.id, .offset = from.offset};
  pieces_ = cut_chunk(from);
  header.body_bytes = from.offset - header.offset;
  if (checksums_) {
    header.checked = true;
    header.checksum = frame_checksum({}, bytes_of(pieces_.front()));
  }
  sent_.push_back({to_bytes(header), {}, {}});
  out.emplace_back(sent_.back().header);
  for (const buffer& piece : pieces_)
    out.push_back(bytes_of(piece));
  if (from.piece < from.pieces.size())
    answers_.push_back(std::move(from));
}

std::vector<buffer> frame_queue::cut_chunk(answer_under_way& of) const {
  const std::size_t pieces_max = checksums_ ? 1 : pieces_in_chunk_max;  // a checksum is of bytes that lie together
  std::vector<buffer> cut;
  std::size_t left = chunk_bytes_;
  while (left > 0 && of.piece < of.pieces.size() && cut.size() < pieces_max) {
    const buffer& piece = of.pieces[of.piece];
    const std::size_t bytes = std::min(left, piece.bytes() - of.within);
    cut.push_back(piece.part(of.within, bytes));
    left -= bytes;
    of.offset += bytes;
    of.within += bytes;
    if (of.within == piece.bytes()) {
      ++of.piece;
      of.within = 0;
    }
  }
  return cut;
}

}  // namespace twinkle::net
