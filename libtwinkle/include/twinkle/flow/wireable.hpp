// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "twinkle/data/batch.hpp"
#include "twinkle/data/metrics.hpp"
#include "twinkle/data/weights.hpp"

namespace twinkle {

namespace detail {

/// Stands for whatever visits the members of a described type.
struct any_visitor {
  template <class... Members>
  void operator()(Members&...) {}
};

/// Any number of its underlying type is one of its values, so that whatever arrives can be held.
template <class T>
concept open_enum = std::is_enum_v<T> && requires { T{std::underlying_type_t<T>{}}; };

template <class T>
concept plain_number =
    std::is_arithmetic_v<T> && std::same_as<T, std::remove_cv_t<T>> && !std::same_as<T, long double>;

template <class T>
concept described =
    std::default_initializable<T> && requires(any_visitor& visitor, T& object) { describe(visitor, object); };

template <class T>
struct is_wireable : std::bool_constant<plain_number<T> || open_enum<T> || std::is_same_v<T, std::string> ||
                                        std::is_same_v<T, batch> || std::is_same_v<T, metrics> ||
                                        std::is_same_v<T, weights> || described<T>> {};
template <class T>
struct is_wireable<std::optional<T>> : is_wireable<T> {};
template <class T>
struct is_wireable<std::vector<T>> : is_wireable<T> {};
template <class K, class V>
struct is_wireable<std::map<K, V>> : std::conjunction<is_wireable<K>, is_wireable<V>> {};
template <class A, class B>
struct is_wireable<std::pair<A, B>> : std::conjunction<is_wireable<A>, is_wireable<B>> {};
template <class... Ts>
struct is_wireable<std::tuple<Ts...>> : std::conjunction<is_wireable<Ts>...> {};

}  // namespace detail

/// What may be an argument or a result of a control endpoint, for it can cross to another node: batch, metrics,
/// weights, numbers (but long double), strings, enum classes and enums that name their underlying type, and optional,
/// vector, map, pair, tuple of these; or a type that can be made from nothing and has a function
/// `describe(visitor, object)` beside it, which calls the visitor with the object's members, themselves wireable:
///
///     template <class Visitor>
///     void describe(Visitor& visit, options& of) { visit(of.temperature, of.stop_words); }
template <class T>
concept wireable = detail::is_wireable<T>::value;

}  // namespace twinkle
