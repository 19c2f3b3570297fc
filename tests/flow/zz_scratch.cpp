// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "driven.hpp"

using namespace flow_test;
namespace msg = twinkle::msg;

TEST_CASE("a prompt that was dropped before it was sampled makes no row older than the bound") {
  shape of;
  of.train.max_staleness = 0;
  driven sampler{plan_of(pipeline(of), 1)};
  driven model{plan_of(pipeline(of), 2)};
  sampler.start();
  model.start();
  std::size_t seen_rows = 0;
  std::size_t seen_versions = 0;
  const auto pump = [&] {
    for (bool moved = true; moved;) {
      moved = false;
      sampler.answer_all();
      model.answer_all();
      const auto made = sampler.all<msg::rows>();
      for (; seen_rows < made.size(); ++seen_rows, moved = true)
        model.tell(made[seen_rows]);
      const auto versions = model.all<msg::published>();
      for (; seen_versions < versions.size(); ++seen_versions, moved = true)
        sampler.tell(versions[seen_versions]);
    }
  };
  pump();
  sampler.tell(msg::rows{0, numbered(8).drop(std::vector<std::size_t>{1}, "filtered")});
  pump();
  sampler.tell(msg::rows{0, numbered(8, 8)});
  pump();
  sampler.tell(msg::rows{0, numbered(8, 16)});
  pump();
  for (const auto& each : model.all<msg::failed>())
    MESSAGE(each.why.cause);
  for (const auto& each : sampler.all<msg::failed>())
    MESSAGE(each.why.cause);
  for (const auto& each : model.all<msg::stepped>())
    MESSAGE(each.record.step << " rows " << each.record.rows << " tombstones " << each.record.tombstones << " old "
                             << each.record.staleness_max);
  CHECK(model.all<msg::failed>().empty());
}
