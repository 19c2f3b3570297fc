// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/graph.hpp"

#include <algorithm>

namespace twinkle {

namespace detail {

namespace {

// Whether a second declaration asks for what the first did. Functions cannot be compared: of rules that hold some, both
// have one or neither.
bool same_policies(const blueprint::endpoint_spec& a, const blueprint::endpoint_spec& b) {
  const auto both = [](const auto& one, const auto& other) { return (one == nullptr) == (other == nullptr); };
  return a.how.kind == b.how.kind && both(a.how.how, b.how.how) && a.result.kind == b.result.kind &&
         both(a.result.how, b.result.how) && a.fewer == b.fewer && both(a.micro_batches, b.micro_batches) &&
         both(a.reads, b.reads) && (!a.reads || *a.reads == *b.reads) && both(a.shards, b.shards) &&
         (!a.shards || a.shards->axes == b.shards->axes) && a.deadline == b.deadline && a.retries == b.retries &&
         a.failed == b.failed;
}

}  // namespace

std::size_t declare(blueprint& plan, std::size_t stage, blueprint::endpoint_spec spec,
                    const std::source_location& where) {
  const bool named = !spec.name.empty();
  if (!named) {
    const std::string_view file = where.file_name();
    spec.name = std::string(file.substr(file.find_last_of('/') + 1)) + ":" + std::to_string(where.line());
  }
  auto& endpoints = plan.stages[stage].endpoints;
  const auto found = std::find_if(endpoints.begin(), endpoints.end(), [&](const blueprint::endpoint_spec& each) {
    return each.kind == spec.kind && each.target.member == spec.target.member;
  });
  if (found != endpoints.end()) {
    if ((named && spec.name != found->name) || !same_policies(*found, spec))
      plan.problems.push_back("stage '" + plan.stages[stage].name + "': '" + spec.name + "' is the endpoint '" +
                              found->name + "', declared before; an endpoint has one name and one set of options");
    return static_cast<std::size_t>(found - endpoints.begin());
  }
  endpoints.push_back(std::move(spec));
  return endpoints.size() - 1;
}

std::shared_ptr<const std::vector<std::string>> names_of(const std::vector<column_name>& columns) {
  if (columns.empty())
    return nullptr;
  std::vector<std::string> names;
  for (const column_name& each : columns)
    if (std::find(names.begin(), names.end(), each.name) == names.end())
      names.emplace_back(each.name);
  return std::make_shared<const std::vector<std::string>>(std::move(names));
}

}  // namespace detail

graph::graph(std::string name, std::map<std::string, std::string> options)
    : given_(std::move(options)), plan_(std::make_shared<blueprint>()) {
  plan_->name = std::move(name);
}

std::uint64_t graph::seed() const {
  const auto given = given_.find("seed");
  return given == given_.end() ? 1 : parse<std::uint64_t>("seed", given->second);
}

std::string graph::declare(std::string_view name, const std::string& otherwise, std::string_view help) {
  const auto given = given_.find(std::string(name));
  const std::string value = given == given_.end() ? otherwise : given->second;
  plan_->options.push_back({std::string(name), value, std::string(help)});
  return value;
}

stream stream::group_by(parent_key, const regroup_options& options) const {
  stream next = *this;
  next.regroups_.push_back({blueprint::regroup::kind::group_by_parent, 0, options.buffer});
  next.grouped_ = true;
  return next;
}

stream stream::rebatch(std::size_t rows, const rebatch_options& options) const {
  stream next = *this;
  next.regroups_.push_back({blueprint::regroup::kind::rebatch, rows, options.buffer, options.refill});
  return next;
}

stream stream::filtered(row_filter keeps, std::string reason, std::string unrouted) const {
  stream next = *this;
  next.regroups_.push_back(
      {blueprint::regroup::kind::filter, 0, std::nullopt, false, std::move(keeps), std::move(reason),
       std::move(unrouted)});
  return next;
}

stream zip(const stream& first, const stream& second) {
  stream next = first;
  const bool plain = first.regroups_.empty() && second.regroups_.empty() && !first.beside_ && !second.beside_;
  if (!plain || first.as_completed_ || second.as_completed_)
    next.plan_->problems.push_back("zip of " + next.plan_->name_of(first.from_) + " and " +
                                   next.plan_->name_of(second.from_) +
                                   ": both must be ordered streams straight from their endpoints; regroup what zip "
                                   "returns");
  next.beside_ = second.from_;
  return next;
}

stream stream::as_completed() const {
  stream next = *this;
  next.as_completed_ = true;
  return next;
}

}  // namespace twinkle
