// SPDX-License-Identifier: Apache-2.0
// A column of what no column can hold.
// expect: storable
#include <string>

#include "workers.hpp"

inline constexpr tk::column<std::string> answer{"answer"};
