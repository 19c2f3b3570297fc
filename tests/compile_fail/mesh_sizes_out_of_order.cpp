// SPDX-License-Identifier: Apache-2.0
// Designated initialisers in an order that is not that of the declaration.
// expect-g++: designator order for field .*dp_size.* does not match declaration order
// expect-clang: will be initialized in declaration order|reorder-init-list
#include "workers.hpp"

tk::device_mesh build() { return tk::device_mesh::from_sizes({.tp_size = 2, .dp_size = 2}); }
