// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>

namespace twinkle::data {

slot tag_slot(std::vector<row_tag> tags) {
  const std::size_t rows = tags.size();
  return {std::make_shared<const column_store>(
              "", tag_type, std::vector<chunk>{{buffer::of(std::move(tags)), buffer{}, 0, rows}}),
          0};
}

std::vector<chunk> chunks_of(const slot& from, std::size_t rows) {
  std::vector<chunk> chunks;
  from.store->append({from.first, from.first + rows}, chunks);
  return chunks;
}

std::vector<grave> graves_of(const table& from, interval rows) {
  std::vector<grave> taken;
  for (const grave& each : from.graves) {
    const std::size_t row = each.behind == 0 ? 0 : each.behind - 1;
    if (rows.contains(row) || from.rows == 0)
      taken.push_back({std::clamp(each.behind, rows.first, rows.end) - rows.first, each.lost});
  }
  return taken;
}

}  // namespace twinkle::data
