// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "twinkle/flow/future.hpp"
#include "twinkle/flow/stream.hpp"

namespace twinkle {

namespace detail {

/// What may be given for an argument of an endpoint: itself, or for a batch a future of one.
template <class Given, class Argument>
concept argument_for = std::convertible_to<Given, Argument> ||
                       (std::same_as<Argument, batch> && std::same_as<std::decay_t<Given>, future<batch>>);

}  // namespace detail

/// What a driver calls endpoints with; see graph::drive. Calls of one stage run in the order in which they are made;
/// several may be in flight.
///
///     auto rollouts = calls(sample, prompts);      // futures, at once
///     auto out = calls(forward, rollouts);         // rows go from the samplers to the model
///     std::cout << out.get().find("loss").value();
class caller {
 public:
  explicit caller(std::shared_ptr<driver_services> services) : services_(std::move(services)) {}

  template <class R, class... Args, class... Given>
    requires(sizeof...(Args) == sizeof...(Given)) && (detail::argument_for<Given, Args> && ...)
  [[nodiscard]] future<R> operator()(const callable<R(Args...)>& endpoint, Given&&... given) {
    msg::call wanted{services_->next_id(), address::client(0), endpoint.at.endpoint, {}};
    wanted.kept = true;
    std::vector<batch> batches;
    [[maybe_unused]] const auto take = [&]<class Argument>(std::type_identity<Argument>, auto&& argument) -> Argument {
      if constexpr (!std::same_as<Argument, batch>) {
        return Argument(std::forward<decltype(argument)>(argument));
      } else if constexpr (std::same_as<std::decay_t<decltype(argument)>, future<batch>>) {
        wanted.awaits.push_back({batches.size(), argument.made()->stage, argument.made()->id});
        batches.emplace_back();
        return {};
      } else {
        batches.push_back(std::forward<decltype(argument)>(argument));
        return {};
      }
    };
    std::tuple<Args...> others{take(std::type_identity<Args>{}, std::forward<Given>(given))...};
    if constexpr (std::same_as<std::tuple<Args...>, std::tuple<batch>>)
      wanted.how.input = std::move(batches.front());
    else
      wanted.how.input = arguments{std::move(batches), std::move(others)};
    return future<R>{post(endpoint.at.stage, std::move(wanted))};
  }

  [[nodiscard]] time_point now() const { return services_->now(); }
  /// Blocks; throws `stopped` when the run stops.
  void sleep_for(duration time) { services_->sleep_until(services_->now() + time); }
  [[nodiscard]] bool stopping() const { return services_->stopping(); }

 private:
  [[nodiscard]] std::shared_ptr<detail::made_call> post(std::size_t stage, msg::call wanted);

  std::shared_ptr<driver_services> services_;
};

}  // namespace twinkle
