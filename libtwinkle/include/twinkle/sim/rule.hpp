// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "twinkle/base/random.hpp"
#include "twinkle/base/time.hpp"
#include "twinkle/flow/endpoint.hpp"

namespace twinkle::sim {

/// A body that begins, for those who say how long it takes.
struct work {
  std::size_t worker = 0;
  std::size_t rows = 0;
  std::size_t tokens = 0;  ///< elements of the ragged columns of its rows
  generator random{0};     ///< under one seed the same for the same rows, whoever works on them, and when
};

/// What a simulation does with an endpoint in place of running its body in no time.
struct rule {
  std::string stage;
  endpoint::key member = {};
  std::function<duration(work)> lasts = nullptr;                              ///< virtual time
  std::function<result<payload>(context&, payload input)> instead = nullptr;  ///< of the worker's body
};

/// A body of `member` takes as long as `lasts` says.
template <class Member>
[[nodiscard]] rule cost(std::string stage, Member member, std::function<duration(work)> lasts) {
  return {std::move(stage), twinkle::detail::key_of(member), std::move(lasts)};
}

namespace detail {

template <class Function, class R, class... Args>
struct stand_in {
  Function function;

  R call(context& ctx, Args... args) { return function(ctx, std::forward<Args>(args)...); }
};
template <class Function, class R, class Worker, class... Args>
[[nodiscard]] stand_in<Function, R, Args...> stand_in_for(Function function, R (Worker::*)(context&, Args...)) {
  return {std::move(function)};
}
template <class Function, class R, class Worker, class... Args>
[[nodiscard]] stand_in<Function, R, Args...> stand_in_for(Function function, R (Worker::*)(context&, Args...) const) {
  return {std::move(function)};
}

// As a graph would erase it, so that a stand-in gets what the body would get.
template <class Object, class Member>
[[nodiscard]] endpoint erase_stand_in() {
  using called = twinkle::detail::signature<Member>;
  if constexpr (std::same_as<typename called::inputs, std::tuple<batch, emitter>>)
    return twinkle::detail::erase_emitting<Object>(&Object::call);
  else if constexpr (std::same_as<typename called::value, std::optional<batch>>)
    return twinkle::detail::erase<Object>(&Object::call);
  else if constexpr (std::same_as<typename called::inputs, std::tuple<weights>>)
    return twinkle::detail::erase<Object, weights>(&Object::call);
  else
    return twinkle::detail::erase_call<Object>(&Object::call);
}

}  // namespace detail

/// `function` is called in place of `member`, with the same arguments but the worker, and returns the same. A stage all
/// of whose endpoints are faked builds no objects, and needs no threads. What `function` holds lives as long as the rule.
template <class Member, class Function>
[[nodiscard]] rule fake(std::string stage, Member member, Function function) {
  auto stands_in = detail::stand_in_for(std::move(function), member);
  using object = decltype(stands_in);
  rule made{std::move(stage), twinkle::detail::key_of(member)};
  made.instead = [held = std::make_shared<object>(std::move(stands_in)),
                  erased = detail::erase_stand_in<object, Member>()](context& ctx, payload input) {
    return erased.invoke(held.get(), ctx, std::move(input));
  };
  return made;
}

}  // namespace twinkle::sim
