// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "twinkle/base/error.hpp"
#include "twinkle/flow/blueprint.hpp"
#include "twinkle/flow/stream.hpp"

namespace twinkle {

/// Where a component is placed: a group, and a mesh over its devices. Without a mesh it is dp over the group's workers;
/// a source is one worker.
struct on {
  device_group group;
  std::optional<device_mesh> mesh = std::nullopt;
  bodies run = bodies::own_thread;
  std::size_t respawns = 0;  ///< how many workers that are gone are replaced: new objects, with the newest weights
};

/// A pipeline as data. Building one starts nothing.
class graph {
 public:
  explicit graph(std::string name, std::map<std::string, std::string> options = {});

  /// A stage of workers. Each is built from a copy of `args` on its body's thread; its constructor may take `context&`
  /// first, and may block and use collectives. A source that has `void skip(std::uint64_t rows)` passes over rows of
  /// earlier runs by itself, right behind its construction; any other is run again, and they are passed over.
  template <class Worker, class... Args>
  [[nodiscard]] stage<Worker> spawn(std::string name, const on& where, Args&&... args) {
    static_assert(std::constructible_from<Worker, context&, std::decay_t<Args>...> ||
                      std::constructible_from<Worker, std::decay_t<Args>...>,
                  "twinkle: the worker cannot be built from the arguments of spawn, with or without context& first");
    blueprint::stage made{std::move(name), where.group, where.mesh, where.run, where.respawns};
    if constexpr (requires { { Worker::emits(args...) } -> std::same_as<emission>; })
      made.emits = Worker::emits(args...);
    made.make = [copied = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)](context& ctx) {
      return std::apply([&](const auto&... each) { return build<Worker>(ctx, std::decay_t<Args>(each)...); }, copied);
    };
    if constexpr (requires(Worker& source, std::uint64_t rows) { source.skip(rows); })
      made.skip = [](void* worker, std::uint64_t rows) { static_cast<Worker*>(worker)->skip(rows); };
    plan_->stages.push_back(std::move(made));
    return stage<Worker>{plan_, plan_->stages.size() - 1};
  }

  /// A function that calls endpoints, in place of streams or beside them: it begins when all workers are built, may
  /// block, and the run ends when it returns. What it throws ends the run with a fault.
  void drive(std::function<void(caller&)> driver) { plan_->driver = std::move(driver); }

  /// An option of the program, which becomes the flag --name. Returns what was given, or `otherwise`. Throws `error`
  /// naming the flag if the text is no such value.
  template <class T>
  [[nodiscard]] auto option(std::string_view name, const T& otherwise, std::string_view help) {
    if constexpr (std::is_arithmetic_v<T>) {
      const std::string given = declare(name, number_text(otherwise), help);
      return parse<T>(name, given);
    } else {
      return declare(name, std::string(otherwise), help);
    }
  }

  /// The seed of the run, for what is drawn while building: the flag --seed of the program.
  [[nodiscard]] std::uint64_t seed() const;

  [[nodiscard]] const blueprint& plan() const { return *plan_; }

 private:
  template <class Worker, class... Args>
  [[nodiscard]] static std::shared_ptr<void> build(context& ctx, Args&&... args) {
    if constexpr (std::constructible_from<Worker, context&, Args...>)
      return std::make_shared<Worker>(ctx, std::forward<Args>(args)...);
    else
      return std::make_shared<Worker>(std::forward<Args>(args)...);
  }

  template <class T>
  [[nodiscard]] static std::string number_text(T value) {
    char text[64];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  }

  template <class T>
  [[nodiscard]] static T parse(std::string_view name, const std::string& given) {
    T value{};
    const auto [end, code] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (code != std::errc{} || end != given.data() + given.size())
      throw error("--" + std::string(name) + " is '" + given + "', which is not a number that it can hold");
    return value;
  }

  [[nodiscard]] std::string declare(std::string_view name, const std::string& otherwise, std::string_view help);

  std::map<std::string, std::string> given_;
  std::shared_ptr<blueprint> plan_;
};

}  // namespace twinkle
