// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <any>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "twinkle/base/result.hpp"
#include "twinkle/flow/emitter.hpp"
#include "twinkle/flow/payload.hpp"
#include "twinkle/flow/value_wire.hpp"
#include "twinkle/flow/wireable.hpp"

namespace twinkle {

class context;

namespace detail {

template <class T>
struct unwrapped {
  using type = T;
};
template <class T>
struct unwrapped<result<T>> {
  using type = T;
};

template <class Member, class Worker, class... Input>
using returned = typename unwrapped<std::remove_cvref_t<std::invoke_result_t<Member, Worker&, context&, Input...>>>::type;

template <class Member, class Worker, class... Input>
concept endpoint_of =
    std::is_member_function_pointer_v<Member> && std::invocable<Member, Worker&, context&, Input...>;

template <class T, class... Options>
concept one_of = (std::same_as<T, Options> || ...);

/// What a member function that takes context& first is called with, and returns.
template <class Member>
struct signature {};
template <class R, class Worker, class... Args>
struct signature<R (Worker::*)(context&, Args...)> {
  using value = typename unwrapped<std::remove_cvref_t<R>>::type;
  using inputs = std::tuple<std::decay_t<Args>...>;
  using call = value(std::decay_t<Args>...);
};
template <class R, class Worker, class... Args>
struct signature<R (Worker::*)(context&, Args...) const> : signature<R (Worker::*)(context&, Args...)> {};
template <class R, class Worker, class... Args>
struct signature<R (Worker::*)(context&, Args...) noexcept> : signature<R (Worker::*)(context&, Args...)> {};
template <class R, class Worker, class... Args>
struct signature<R (Worker::*)(context&, Args...) const noexcept> : signature<R (Worker::*)(context&, Args...)> {};

template <class Member, class Worker>
struct member_of_worker : std::false_type {};
template <class Function, class Owner, class Worker>
struct member_of_worker<Function Owner::*, Worker> : std::is_base_of<Owner, Worker> {};

template <class T>
inline constexpr bool may_travel = wireable<T> || std::is_void_v<T>;
template <class... Args>
inline constexpr bool may_travel<std::tuple<Args...>> = (wireable<Args> && ...);

}  // namespace detail

/// `std::optional<batch>(context&)`: the next rows, or nothing when there are no more.
template <class Member, class Worker>
concept source_endpoint =
    detail::endpoint_of<Member, Worker> && detail::one_of<detail::returned<Member, Worker>, std::optional<batch>>;

/// `batch(context&, batch)`, `metrics(context&, batch)` or `void(context&, batch)`.
template <class Member, class Worker>
concept batch_endpoint = detail::endpoint_of<Member, Worker, batch> &&
                         detail::one_of<detail::returned<Member, Worker, batch>, batch, metrics, void>;

/// `void(context&, batch, emitter&)`: it emits the rows of each parent as it has them.
template <class Member, class Worker>
concept emitting_endpoint = std::is_member_function_pointer_v<Member> &&
                            std::invocable<Member, Worker&, context&, batch, emitter&> &&
                            std::is_void_v<std::invoke_result_t<Member, Worker&, context&, batch, emitter&>>;

/// `weights(context&)`: what a worker holds of the weights, copied.
template <class Member, class Worker>
concept state_endpoint =
    detail::endpoint_of<Member, Worker> && detail::one_of<detail::returned<Member, Worker>, weights>;

/// `void(context&, weights)`, or `metrics(context&, weights)` for one that grades them.
template <class Member, class Worker>
concept load_endpoint = detail::endpoint_of<Member, Worker, weights> &&
                        detail::one_of<detail::returned<Member, Worker, weights>, metrics, void>;

/// `void(context&, weights)`: takes back what a state endpoint returned.
template <class Member, class Worker>
concept restore_endpoint =
    load_endpoint<Member, Worker> && std::is_void_v<detail::returned<Member, Worker, weights>>;

/// `T(context&, Args…)`, T and Args wireable: what calls may name.
template <class Member, class Worker>
concept callable_endpoint = std::is_member_function_pointer_v<Member> && requires {
  typename detail::signature<Member>::value;
} && detail::member_of_worker<Member, Worker>::value && detail::may_travel<typename detail::signature<Member>::value> &&
    detail::may_travel<typename detail::signature<Member>::inputs>;

/// A member function of a worker with its type erased.
struct endpoint {
  /// Which member function: its type and its bytes.
  struct key {
    std::type_index type = typeid(void);
    std::vector<unsigned char> bytes = {};

    friend bool operator==(const key&, const key&) = default;
  };

  key member = {};
  std::function<result<payload>(void* worker, context&, payload input)> invoke = nullptr;
  bool returns_batch = false;
  bool returns_metrics = false;
  const value_form* takes = nullptr;    ///< how `arguments` cross to another node; null: it takes none
  const value_form* returns = nullptr;  ///< how a `value` does; null: it returns none
};

namespace detail {

template <class Member>
[[nodiscard]] endpoint::key key_of(Member member) {
  endpoint::key key{typeid(Member), std::vector<unsigned char>(sizeof member)};
  std::memcpy(key.bytes.data(), &member, sizeof member);
  return key;
}

template <class T>
[[nodiscard]] result<payload> to_payload(T value) {
  if constexpr (std::same_as<T, std::optional<batch>>)
    return value ? payload{*std::move(value)} : payload{end_of_source{}};
  else
    return payload{std::move(value)};
}
template <class T>
[[nodiscard]] result<payload> to_payload(result<T> value) {
  return value ? to_payload(std::move(value).value()) : result<payload>{value.failure()};
}

template <class T>
[[nodiscard]] result<payload> any_to_payload(T returned) {
  if constexpr (one_of<T, batch, metrics, weights>)
    return payload{std::move(returned)};
  else
    return payload{value{std::any{std::move(returned)}}};
}
template <class T>
[[nodiscard]] result<payload> any_to_payload(result<T> returned) {
  return returned ? any_to_payload(std::move(returned).value()) : result<payload>{returned.failure()};
}

/// A call that came from outside of a graph may carry anything.
[[nodiscard]] inline result<payload> wrong_arguments() {
  return fault{"", "", std::nullopt, "the call carries other arguments than the endpoint takes"};
}

/// An endpoint for calls. One that takes a batch alone gets it bare, as streams give it.
template <class Worker, class Member>
[[nodiscard]] endpoint erase_call(Member member) {
  using called = signature<Member>;
  endpoint made;
  made.member = key_of(member);
  made.returns_batch = std::same_as<typename called::value, batch>;
  made.returns_metrics = std::same_as<typename called::value, metrics>;
  if constexpr (!std::same_as<typename called::inputs, std::tuple<batch>>)
    made.takes = &arguments_form_of<typename called::inputs>;
  if constexpr (!std::is_void_v<typename called::value> && !one_of<typename called::value, batch, metrics, weights>)
    made.returns = &value_form_of<typename called::value>;
  made.invoke = [member](void* object, context& ctx, payload input) -> result<payload> {
    Worker& worker = *static_cast<Worker*>(object);
    const auto with = [&](auto&&... args) -> result<payload> {
      if constexpr (std::is_void_v<typename called::value>) {
        std::invoke(member, worker, ctx, std::forward<decltype(args)>(args)...);
        return payload{};
      } else {
        return any_to_payload(std::invoke(member, worker, ctx, std::forward<decltype(args)>(args)...));
      }
    };
    if constexpr (std::same_as<typename called::inputs, std::tuple<>>) {
      return with();
    } else if constexpr (std::same_as<typename called::inputs, std::tuple<batch>>) {
      auto* rows = std::get_if<batch>(&input);
      return rows != nullptr ? with(std::move(*rows)) : wrong_arguments();
    } else {
      auto* several = std::get_if<arguments>(&input);
      auto* others = several == nullptr ? nullptr : std::any_cast<typename called::inputs>(&several->others);
      if (others == nullptr)
        return wrong_arguments();
      arguments& given = *several;
      auto values = std::move(*others);
      std::size_t next = 0;
      return std::apply(
          [&](auto&... each) {
            [[maybe_unused]] const auto fill = [&](auto& argument) {
              if constexpr (std::same_as<std::decay_t<decltype(argument)>, batch>)
                argument = std::move(given.batches[next++]);
            };
            (fill(each), ...);
            return with(std::move(each)...);
          },
          values);
    }
  };
  return made;
}

/// Hands rows of a body that still runs to its router.
void hand_out(context& ctx, const batch& rows);

template <class Worker, class Member>
[[nodiscard]] endpoint erase_emitting(Member member) {
  endpoint made;
  made.member = key_of(member);
  made.returns_batch = true;
  made.invoke = [member](void* object, context& ctx, payload input) -> result<payload> {
    const batch rows = std::get<batch>(std::move(input));
    emitter out{rows, [&ctx](const batch& part) { hand_out(ctx, part); }};
    std::invoke(member, *static_cast<Worker*>(object), ctx, rows, out);
    return payload{out.all()};
  };
  return made;
}

/// Input is batch, weights, or nothing.
template <class Worker, class... Input, class Member>
[[nodiscard]] endpoint erase(Member member) {
  using value = returned<Member, Worker, Input...>;
  endpoint made;
  made.member = key_of(member);
  made.returns_batch = one_of<value, batch, std::optional<batch>>;
  made.returns_metrics = std::same_as<value, metrics>;
  made.invoke = [member](void* object, context& ctx, [[maybe_unused]] payload input) -> result<payload> {
    Worker& worker = *static_cast<Worker*>(object);
    if constexpr (std::is_void_v<std::invoke_result_t<Member, Worker&, context&, Input...>>) {
      std::invoke(member, worker, ctx, std::get<Input>(std::move(input))...);
      return payload{};
    } else {
      return to_payload(std::invoke(member, worker, ctx, std::get<Input>(std::move(input))...));
    }
  };
  return made;
}

}  // namespace detail
}  // namespace twinkle
