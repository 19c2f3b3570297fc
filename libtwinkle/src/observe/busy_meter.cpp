// SPDX-License-Identifier: Apache-2.0
#include "twinkle/observe/busy_meter.hpp"

#include "twinkle/base/ensure.hpp"

namespace twinkle {

void busy_meter::settle(counter& of, time_point now) {
  if (of.running > 0)
    of.busy += now - of.since;
  of.since = now;
}

void busy_meter::begin(std::size_t stage, time_point now) {
  for (counter* each : {&stages_[stage], &any_}) {
    settle(*each, now);
    ++each->running;
  }
}

void busy_meter::end(std::size_t stage, time_point now) {
  for (counter* each : {&stages_[stage], &any_}) {
    ensure(each->running > 0, "a body that ends has begun");
    settle(*each, now);
    --each->running;
  }
}

busy_meter::reading busy_meter::read(time_point now) {
  reading taken;
  for (counter& each : stages_) {
    settle(each, now);
    taken.busy.push_back(each.busy);
    each.busy = {};
  }
  settle(any_, now);
  taken.whole = now - last_;
  taken.idle = taken.whole - any_.busy;
  any_.busy = {};
  last_ = now;
  return taken;
}

}  // namespace twinkle
