// SPDX-License-Identifier: Apache-2.0
// A column of floats set to whole numbers.
// expect: no matching (member )?function for call to .*with|no matching member function
#include <vector>

#include "workers.hpp"

inline constexpr tk::column<float> reward{"reward"};

tk::batch build(const tk::batch& rows) { return rows.with(reward, std::vector<std::int64_t>{1}); }
