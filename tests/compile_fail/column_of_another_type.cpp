// SPDX-License-Identifier: Apache-2.0
// A column of floats read as tokens.
// expect-g++: could not convert .* from .dense_view<float>. to .dense_view<int>.
// expect-clang: no viable conversion from returned value of type .dense_view<float>.
#include "workers.hpp"

inline constexpr tk::column<float> reward{"reward"};

tk::dense_view<std::int32_t> build(const tk::batch& rows) { return rows[reward]; }
