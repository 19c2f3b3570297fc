// SPDX-License-Identifier: Apache-2.0
// The calls that clients make of a stage.
#include <algorithm>

#include "twinkle/flow/stage_machine.hpp"

namespace twinkle {
namespace {

// Rows that a client gave without identities are of a source of their own.
constexpr std::uint32_t client_source = std::uint32_t{1} << 31;

constexpr const char* closed_to_calls = "the stage takes no calls before it is built, or at its end";

}  // namespace

void stage_machine::on(msg::call&& wanted) {
  const client_calls::key key{wanted.client, wanted.id};
  if (wanted.how.endpoint.empty() && wanted.endpoint < plan_.endpoints.size())
    wanted.how = call_of(plan_.endpoints[wanted.endpoint], std::move(wanted.how.input));
  const std::string name = wanted.how.endpoint;
  clients_.add(std::move(wanted));
  if (phase_ != phase::built && phase_ != phase::running)
    clients_.withdraw(key, {plan_.team.stage, name, std::nullopt, closed_to_calls}, out_);
}

void stage_machine::on(const msg::call_off& what) {
  const fault why{plan_.team.stage, "", std::nullopt, "the call was cancelled"};
  if (clients_.withdraw({what.client, what.id}, why, out_))
    return;
  for (const under_way& each : under_way_)
    if (const auto* client = std::get_if<client_call>(&each.why); client && client->id == what.id && client->client == what.client) {
      if (auto cancelled = calls_.cancel(each.call, why))
        settle(std::move(*cancelled));
      return;
    }
}

void stage_machine::start_client_calls() {
  while (auto wanted = clients_.next(out_)) {
    client_call why{wanted->id, wanted->client, rows_in(wanted->how.input) == nullptr};
    if (const batch* rows = rows_in(wanted->how.input))
      why.tombstones = rows->tombstones();
    identify(wanted->how.input);
    start(std::move(why), wanted->endpoint, {}, version(), std::move(wanted->how));
  }
}

// Batches of one call have the same rows: those without identities take them from one that has them, or all get new ones.
void stage_machine::identify(payload& input) {
  const std::uint32_t source = client_source + static_cast<std::uint32_t>(plan_.ordinal);
  if (auto* rows = std::get_if<batch>(&input))
    *rows = new_rows(*rows, source, called_rows_);
  auto* several = std::get_if<arguments>(&input);
  if (several == nullptr || several->batches.empty())
    return;
  std::vector<batch>& batches = several->batches;
  const auto known = std::find_if(batches.begin(), batches.end(), [](const batch& each) { return each.identified(); });
  const batch like = known != batches.end() ? *known : new_rows(batches.front(), source, called_rows_);
  for (batch& each : batches)
    if (!each.identified() && like.identified() && each.rows() == like.rows())
      each = each.tagged_like(like.without_tombstones());
}

void stage_machine::name_new_rows(collected& outcome) {
  const auto name = [this](payload& of) {
    if (auto* rows = std::get_if<batch>(&of))
      *rows = new_rows(*rows, static_cast<std::uint32_t>(plan_.ordinal), sequence_);
  };
  if (auto* one = std::get_if<payload>(&outcome))
    name(*one);
  else
    for (payload& each : std::get<std::vector<payload>>(outcome))
      name(each);
}

batch stage_machine::new_rows(const batch& rows, std::uint32_t source, std::uint64_t& sequence) {
  return rows.identified() || rows.empty() ? rows : numbered(rows, source, sequence);
}

batch stage_machine::numbered(const batch& rows, std::uint32_t source, std::uint64_t& sequence) {
  std::vector<row_tag> tags(rows.rows());
  for (row_tag& tag : tags)
    tag.id = {source, 0, sequence++, {}};
  return rows.with_tags(std::move(tags));
}

}  // namespace twinkle
