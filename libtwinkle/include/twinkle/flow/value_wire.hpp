// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "twinkle/data/wire.hpp"
#include "twinkle/flow/wireable.hpp"

namespace twinkle {

namespace data {
class wire_parts;
class wire_writer;
}  // namespace data

namespace detail {

template <class T, template <class...> class Of>
inline constexpr bool is_a = false;
template <class... Ts, template <class...> class Of>
inline constexpr bool is_a<Of<Ts...>, Of> = true;

/// Written with a wire form of its own.
template <class T>
concept whole_value = std::same_as<T, batch> || std::same_as<T, metrics> || std::same_as<T, weights>;

/// As it lies in memory; all of its bits are numbers.
template <class T>
concept raw_number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

template <class... Members>
constexpr void check_members() {
  static_assert((wireable<Members> && ...),
                "twinkle: the members that describe gives its visitor must be wireable (concept twinkle::wireable)");
}

}  // namespace detail

/// Writes values of control endpoints behind one another into a header: the visitor of `describe` where they are
/// sent.
class value_writer {
 public:
  /// Lasts no longer than both.
  value_writer(data::wire_writer& out, std::vector<buffer>& pieces) : out_(out), pieces_(pieces) {}

  template <class... Members>
  void operator()(const Members&... members) {
    detail::check_members<Members...>();
    members_ += sizeof...(Members);
    (put(members), ...);
  }

  /// Throws `error` for described types that lie too deep in one another, and what a batch or weights cannot be sent
  /// for.
  template <wireable T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      put(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::same_as<T, bool>) {
      flag(value);
    } else if constexpr (detail::raw_number<T>) {
      numbers(&value, sizeof value);
    } else if constexpr (std::same_as<T, std::string> || detail::whole_value<T>) {
      whole(value);
    } else if constexpr (detail::is_a<T, std::optional>) {
      flag(value.has_value());
      if (value)
        put(*value);
    } else if constexpr (detail::is_a<T, std::vector> || detail::is_a<T, std::map>) {
      put_all(value);
    } else if constexpr (detail::is_a<T, std::pair>) {
      put(value.first);
      put(value.second);
    } else {
      const std::size_t outer = open();
      if constexpr (detail::is_a<T, std::tuple>)
        std::apply(*this, value);
      else
        describe(*this, const_cast<T&>(value));  // which is only read
      close(outer);
    }
  }

 private:
  template <class Container>
  void put_all(const Container& values) {
    using element = typename Container::value_type;
    count(values.size());
    if constexpr (detail::raw_number<element>)
      numbers(values.data(), values.size() * sizeof(element));
    else if constexpr (detail::is_a<Container, std::map>)
      for (const auto& [key, value] : values) {
        put(key);
        put(value);
      }
    else
      for (const auto& each : values)
        put(each);
  }

  void flag(bool set);
  void numbers(const void* first, std::size_t bytes);
  void count(std::size_t things);
  void whole(const std::string& text);
  void whole(const batch& rows);
  void whole(const metrics& values);
  void whole(const weights& tensors);
  [[nodiscard]] std::size_t open();
  void close(std::size_t outer);

  data::wire_writer& out_;
  std::vector<buffer>& pieces_;
  std::size_t members_ = 0;  ///< of the group that is open
  std::size_t depth_ = 0;
};

/// Reads what `value_writer` wrote: the visitor of `describe` where values arrive. Throws `error` for bytes that are
/// no such values, and for more than the limits.
class value_reader {
 public:
  /// Lasts no longer than both.
  value_reader(data::wire_parts& from, const wire_limits& limits)
      : from_(from), limits_(limits), bytes_left_(limits.value_bytes_max) {}

  template <class... Members>
  void operator()(Members&... members) {
    detail::check_members<Members...>();
    members_ += sizeof...(Members);
    (get(members), ...);
  }

  template <wireable T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      get(number);
      value = T{number};
    } else if constexpr (std::same_as<T, bool>) {
      value = flag();
    } else if constexpr (detail::raw_number<T>) {
      numbers(&value, sizeof value);
    } else if constexpr (std::same_as<T, std::string> || detail::whole_value<T>) {
      whole(value);
    } else if constexpr (detail::is_a<T, std::optional>) {
      value.reset();
      if (flag())
        get(value.emplace());
    } else if constexpr (detail::is_a<T, std::vector>) {
      get_all(value);
    } else if constexpr (detail::is_a<T, std::map>) {
      get_map(value);
    } else if constexpr (detail::is_a<T, std::pair>) {
      get(value.first);
      get(value.second);
    } else {
      const std::size_t outer = open();
      if constexpr (detail::is_a<T, std::tuple>)
        std::apply(*this, value);
      else
        describe(*this, value);
      close(outer);
    }
  }

 private:
  template <class T>
  void get_all(std::vector<T>& values) {
    const std::size_t things = count(detail::raw_number<T> ? sizeof(T) : 1, sizeof(T));
    values.clear();
    if constexpr (detail::raw_number<T>) {
      values.resize(things);
      numbers(values.data(), things * sizeof(T));
    } else {
      values.reserve(things);
      while (values.size() < things) {
        T each{};
        get(each);
        values.push_back(std::move(each));
      }
    }
  }

  template <class K, class V>
  void get_map(std::map<K, V>& values) {
    const std::size_t things = count(2, sizeof(std::pair<K, V>) + 4 * sizeof(void*));
    values.clear();
    while (values.size() < things) {
      std::pair<K, V> each{};
      get(each);
      if (!values.empty() && !(values.rbegin()->first < each.first))
        refuse_order();
      values.emplace_hint(values.end(), std::move(each));
    }
  }

  [[nodiscard]] bool flag();
  void numbers(void* first, std::size_t bytes);
  /// Things that follow, each of so many bytes or more, and as large in memory.
  [[nodiscard]] std::size_t count(std::size_t bytes_least, std::size_t bytes_each);
  void whole(std::string& text);
  void whole(batch& rows);
  void whole(metrics& values);
  void whole(weights& tensors);
  [[noreturn]] static void refuse_order();
  [[nodiscard]] std::size_t open();
  void close(std::size_t outer);

  data::wire_parts& from_;
  const wire_limits& limits_;
  std::size_t bytes_left_;
  std::size_t members_ = 0;  ///< of the group that is open
  std::size_t depth_ = 0;
};

/// How the values of one type cross to another node.
struct value_form {
  const std::type_info* type = nullptr;  ///< of what is in the std::any
  std::size_t batches = 0;               ///< arguments that travel beside it
  void (*write)(value_writer&, const std::any&) = nullptr;  ///< of that type
  std::any (*read)(value_reader&) = nullptr;
};

namespace detail {

template <class T>
void write_value(value_writer& out, const std::any& from) {
  out.put(*std::any_cast<T>(&from));
}
template <class T>
[[nodiscard]] std::any read_value(value_reader& in) {
  std::any made{std::in_place_type<T>};
  in.get(*std::any_cast<T>(&made));
  return made;
}

template <class T>
inline constexpr value_form value_form_of{&typeid(T), 0, &write_value<T>, &read_value<T>};

/// Arguments without the batches, whose places in the tuple are empty.
template <class Tuple>
void write_arguments(value_writer& out, const std::any& from) {
  std::apply(
      [&](const auto&... each) {
        [[maybe_unused]] const auto put = [&]<class T>(const T& argument) {
          if constexpr (!std::same_as<T, batch>)
            out.put(argument);
        };
        (put(each), ...);
      },
      *std::any_cast<Tuple>(&from));
}
template <class Tuple>
[[nodiscard]] std::any read_arguments(value_reader& in) {
  std::any made{std::in_place_type<Tuple>};
  std::apply(
      [&](auto&... each) {
        [[maybe_unused]] const auto get = [&]<class T>(T& argument) {
          if constexpr (!std::same_as<T, batch>)
            in.get(argument);
        };
        (get(each), ...);
      },
      *std::any_cast<Tuple>(&made));
  return made;
}

template <class Tuple>
inline constexpr value_form arguments_form_of{};
template <class... Args>
inline constexpr value_form arguments_form_of<std::tuple<Args...>>{
    &typeid(std::tuple<Args...>), (std::size_t{0} + ... + (std::same_as<Args, batch> ? 1 : 0)),
    &write_arguments<std::tuple<Args...>>, &read_arguments<std::tuple<Args...>>};

}  // namespace detail
}  // namespace twinkle
