// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <rapidcheck.h>

/// Checks that a property holds for whatever it draws; what breaks it is shrunk and printed, with the RC_PARAMS that
/// repeat it.
template <class Property>
void for_all(Property&& property) {
  const bool holds = rc::check(property);
  CHECK(holds);
}
