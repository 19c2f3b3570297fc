// SPDX-License-Identifier: Apache-2.0
#include "twinkle/flow/caller.hpp"

namespace twinkle {

// The call first, then the claims of what it awaits: each router has heard of a call before it is asked for it.
std::shared_ptr<detail::made_call> caller::post(std::size_t stage, msg::call wanted) {
  const std::vector<msg::call::awaited> awaits = wanted.awaits;
  const std::uint64_t id = wanted.id;
  services_->post(stage, std::move(wanted));
  for (const msg::call::awaited& each : awaits)
    services_->post(each.stage, msg::claim{each.id, address::client(0), address::router(stage), id, each.position});
  return std::make_shared<detail::made_call>(services_, stage, id);
}

}  // namespace twinkle
