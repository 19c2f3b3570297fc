// SPDX-License-Identifier: Apache-2.0
// A described type with a member that cannot cross to another node.
// expect: twinkle: the members that describe gives its visitor must be wireable
#include "workers.hpp"

struct hint {
  const int* at = nullptr;
};
template <class Visitor>
void describe(Visitor& visit, hint& of) {
  visit(of.at);
}

struct looker {
  int look(tk::context&, hint from) { return *from.at; }
};

void build(tk::graph& g) {
  auto lookers = g.spawn<looker>("looker", {host});
  (void)lookers.endpoint(&looker::look);
}
