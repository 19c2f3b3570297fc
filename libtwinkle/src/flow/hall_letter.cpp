// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/hall_letter.hpp"

#include <utility>

#include "data/utf8.hpp"
#include "data/wire_bytes.hpp"

namespace twinkle {

using data::is_utf8;
using data::refuse_wire;
using data::wire_reader;
using data::wire_writer;

namespace {

void write(wire_writer& out, const meeting_key& where) {
  out.number(std::uint64_t{where.call});
  out.number(std::uint64_t{where.ordinal});
  out.number(static_cast<std::uint8_t>(where.one_way));
  out.count(where.members.size());
  for (const std::size_t member : where.members)
    out.number(std::uint64_t{member});
}

void check_order(const meeting_key& where) {
  const std::vector<std::size_t>& members = where.members;
  if (where.one_way && members.size() != 2)
    refuse_wire(std::to_string(members.size()) + " workers where one sends to another");
  for (std::size_t at = 1; at < members.size(); ++at)
    if (members[at] == members[at - 1] || (members[at] < members[at - 1] && !where.one_way))
      refuse_wire("worker " + std::to_string(members[at]) + " follows worker " + std::to_string(members[at - 1]) +
                  " in a meeting; they must ascend");
}

meeting_key read_key(wire_reader& in, const hall_limits& limits) {
  meeting_key where;
  where.call = in.number<std::uint64_t>();
  where.ordinal = in.number<std::uint64_t>();
  where.one_way = in.flag();
  const std::size_t members = in.count(sizeof(std::uint64_t));
  if (members > limits.members_max)
    refuse_wire(std::to_string(members) + " workers in a meeting; at most " + std::to_string(limits.members_max) +
                " are taken");
  where.members.resize(members);
  for (std::size_t& member : where.members)
    member = in.number<std::uint64_t>();
  check_order(where);
  return where;
}

std::string read_agenda(wire_reader& in, const hall_limits& limits) {
  std::string agenda = in.raw();
  if (agenda.size() > limits.agenda_bytes_max)
    refuse_wire(std::to_string(agenda.size()) + " bytes of an agenda; at most " +
                std::to_string(limits.agenda_bytes_max) + " are taken");
  if (!is_utf8(agenda))
    refuse_wire("the agenda of a meeting is not utf-8");
  return agenda;
}

}  // namespace

std::vector<std::byte> head_of(const hall_letter& letter) {
  wire_writer out;
  out.number(letter.stage);
  out.number(static_cast<std::uint8_t>(letter.what));
  write(out, letter.meeting);
  out.number(std::uint64_t{letter.from});
  out.number(std::uint64_t{letter.part.first});
  out.number(std::uint64_t{letter.part.end});
  out.raw(letter.agenda);
  return std::move(out).all();
}

hall_letter letter_of(std::span<const std::byte> head, buffer values, const hall_limits& limits) {
  wire_reader in{head};
  hall_letter letter;
  letter.stage = in.number<std::uint32_t>();
  const auto what = in.number<std::uint8_t>();
  if (what > static_cast<std::uint8_t>(hall_letter::kind::sum))
    refuse_wire("a letter to a meeting is of an unknown kind " + std::to_string(what));
  letter.what = static_cast<hall_letter::kind>(what);
  letter.meeting = read_key(in, limits);
  letter.from = in.number<std::uint64_t>();
  if (letter.from >= letter.meeting.members.size())
    refuse_wire("a letter is from member " + std::to_string(letter.from) + " of a meeting of " +
                std::to_string(letter.meeting.members.size()));
  letter.part.first = in.number<std::uint64_t>();
  letter.part.end = in.number<std::uint64_t>();
  letter.agenda = read_agenda(in, limits);
  in.done();
  if (letter.part.first > letter.part.end || letter.part.size() != values.bytes())
    refuse_wire("a letter says that it brings bytes " + to_string(letter.part) + ", but it brings " +
                std::to_string(values.bytes()));
  letter.values = data::aligned(std::move(values));
  return letter;
}

}  // namespace twinkle
