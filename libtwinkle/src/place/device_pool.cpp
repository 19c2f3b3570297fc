// SPDX-License-Identifier: Apache-2.0
#include "device_pool.hpp"

#include <algorithm>

#include "twinkle/base/ensure.hpp"

namespace twinkle::place {
namespace {

bool names(const device_group& one, const device_group& other) {
  return std::find(one.colocate.begin(), one.colocate.end(), other.name) != one.colocate.end();
}

bool may_share(const device_group& a, const device_group& b) { return names(a, b) || names(b, a); }

}  // namespace

void device_pool::add(std::size_t node, std::string type, std::size_t count) {
  if (count > 0)
    spans_.push_back({node, std::move(type), {size(), size() + count}});
  holders_.resize(size());
}

void device_pool::take(std::size_t number, const device_group& by) {
  holders_[number].push_back(&by);
  used_ = std::max(used_, number + 1);
}

std::size_t device_pool::size(const std::string& type) const {
  std::size_t total = 0;
  for (const span& each : spans_)
    if (each.type == type)
      total += each.numbers.size();
  return total;
}

const device_pool::span* device_pool::find(std::size_t number) const {
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), number,
                                      [](std::size_t at, const span& each) { return at < each.numbers.end; });
  return after == spans_.end() ? nullptr : &*after;
}

seat device_pool::seat_of(std::size_t number) const {
  const span* on = find(number);
  ensure(on != nullptr, "a device of this pool");
  return {on->node, number - on->numbers.first};
}

std::vector<std::string> device_pool::rivals(std::size_t number, const device_group& group) const {
  std::vector<std::string> found;
  for (const device_group* holder : holders_[number])
    if (!may_share(*holder, group))
      found.push_back(holder->name);
  return found;
}

bool device_pool::is_free(std::size_t number, const device_group& group) const {
  return std::all_of(holders_[number].begin(), holders_[number].end(),
                     [&](const auto* holder) { return may_share(*holder, group); });
}

std::vector<std::size_t> device_pool::first_free(const device_group& group, const std::string& type) const {
  const auto wanted = static_cast<std::size_t>(group.ranks.count());
  std::vector<std::size_t> devices;
  for (const span& each : spans_) {
    if (each.type != type)
      continue;
    std::size_t run = 0;  // free devices up to here that are not in `devices` yet
    for (std::size_t at = each.numbers.first; at < each.numbers.end && devices.size() < wanted; ++at) {
      run = is_free(at, group) ? run + 1 : 0;
      if (run < group.gpus_per_worker)
        continue;
      for (std::size_t device = at + 1 - run; device <= at; ++device)
        devices.push_back(device);
      run = 0;
    }
  }
  return devices;
}

std::vector<std::size_t> device_pool::free(const span& of) const {
  std::vector<std::size_t> found;
  for (std::size_t number = of.numbers.first; number < of.numbers.end; ++number)
    if (holders_[number].empty())
      found.push_back(number);
  return found;
}

}  // namespace twinkle::place
