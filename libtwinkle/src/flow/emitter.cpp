// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/emitter.hpp"

#include <string>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/context.hpp"
#include "twinkle/flow/endpoint.hpp"

namespace twinkle {

void detail::hand_out(context& ctx, const batch& rows) { ctx.hand_out(rows); }

emitter::emitter(const batch& given, std::function<void(const batch&)> sink)
    : given_(given), sink_(std::move(sink)), parts_(given.rows()), closed_(given.rows(), false) {}

void emitter::operator()(std::size_t parent, const batch& rows) {
  check_open(parent);
  const batch family = given_[interval{parent, parent + 1}].expand(std::vector<std::size_t>(rows.rows(), 0));
  close(parent, rows.empty() ? family : rows.tagged_like(family));
  sink_(parts_[parent]);
}

void emitter::unfinished(std::size_t parent, const batch& row) {
  check_open(parent);
  if (row.rows() != 1)
    throw error("emit: row " + to_string(given_.tags()[parent].id) + " is left unfinished as " +
                std::to_string(row.rows()) + " rows; it goes on as one");
  const std::size_t first = 0;
  close(parent, row.tagged_like(given_[interval{parent, parent + 1}]).unfinished({&first, 1}));
}

void emitter::check_open(std::size_t parent) const {
  if (parent >= closed_.size())
    throw error("emit: row " + std::to_string(parent) + " is closed, but " + std::to_string(closed_.size()) +
                " rows were given");
  if (closed_[parent])
    throw error("emit: row " + to_string(given_.tags()[parent].id) + " is closed twice; emit all its rows at once");
}

void emitter::close(std::size_t parent, batch part) {
  parts_[parent] = std::move(part);
  closed_[parent] = true;
}

batch emitter::all() const {
  std::vector<batch> parts;
  for (std::size_t parent = 0; parent < parts_.size(); ++parent)
    if (closed_[parent])
      parts.push_back(parts_[parent]);
  return batch::concat(parts);
}

}  // namespace twinkle
