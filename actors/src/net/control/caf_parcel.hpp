// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/actor_system_config.hpp>
#include <caf/deserializer.hpp>
#include <caf/error.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/sec.hpp>
#include <caf/serializer.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace twinkle::net::control {

/// What a connection is reading at the moment: messages are made on the thread that reads, and learn from it on which
/// connection they came. Its number is not for the other side to say.
struct arrival {
  std::uint64_t connection = 0;
  std::size_t message_bytes_max = 0;
  std::string refused = "";
};
inline thread_local arrival* arriving = nullptr;

/// The first message each way, that of the side which connects before the other's.
struct hello {
  std::string protocol;
  std::uint64_t connection = 0;
};

/// A message of the user's.
struct parcel {
  std::vector<std::byte> bytes;
  std::uint64_t connection = 0;
};

/// How much has been taken in all, as `cost_of` counts it.
struct receipt {
  std::uint64_t bytes = 0;
  std::uint64_t connection = 0;
};

inline std::uint64_t cost_of(const parcel& each) { return each.bytes.size() + 64; }

/// Names of these types on the wire: whatever changes what is sent has to change `link_options::protocol`.
inline void add_messages(caf::actor_system_config& config) {
  config.add_message_type<hello>("twinkle::hello");
  config.add_message_type<parcel>("twinkle::parcel");
  config.add_message_type<receipt>("twinkle::receipt");
}

template <class Inspector, class Message>
void stamp(Message& message) {
  if constexpr (std::is_same_v<Inspector, caf::deserializer>)
    message.connection = arriving != nullptr ? arriving->connection : 0;
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, hello& x) {
  stamp<Inspector>(x);
  return f(caf::meta::type_name("twinkle::hello"), x.protocol);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, receipt& x) {
  stamp<Inspector>(x);
  return f(caf::meta::type_name("twinkle::receipt"), x.bytes);
}

inline caf::error refuse(std::string why) {
  if (arriving != nullptr)
    arriving->refused = std::move(why);
  return caf::sec::end_of_stream;
}

// The bytes as they are: as a list of numbers they would go one by one.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, parcel& x) {
  stamp<Inspector>(x);
  std::uint64_t length = x.bytes.size();
  if constexpr (std::is_same_v<Inspector, caf::serializer>) {
    if (auto failed = f(length))
      return failed;
    return length > 0 ? f.apply_raw(x.bytes.size(), x.bytes.data()) : caf::error{};
  } else if constexpr (std::is_same_v<Inspector, caf::deserializer>) {
    if (auto failed = f(length))
      return refuse("a message without its length came in");
    if (arriving == nullptr || length > arriving->message_bytes_max)
      return refuse("a message of " + std::to_string(length) + " bytes came in, longer than message_bytes_max");
    x.bytes.resize(length);
    if (length > 0 && f.apply_raw(length, x.bytes.data()))
      return refuse("a message of " + std::to_string(length) + " bytes came in cut short");
    return caf::error{};
  } else {
    return f(caf::meta::type_name("twinkle::parcel"), length);
  }
}

}  // namespace twinkle::net::control
