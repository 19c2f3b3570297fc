// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "twinkle/base/error.hpp"
#include "twinkle/base/result.hpp"
#include "twinkle/flow/collected.hpp"
#include "twinkle/flow/endpoint.hpp"
#include "twinkle/flow/message.hpp"

namespace twinkle {

/// A call came to a fault: what a future throws that is asked for its value.
class call_failed : public error {
 public:
  explicit call_failed(fault cause) : error(to_string(cause)), cause_(std::move(cause)) {}

  [[nodiscard]] const fault& cause() const { return cause_; }

 private:
  fault cause_;
};

/// What the world gives a driver, real or simulated.
class driver_services {
 public:
  virtual ~driver_services() = default;
  [[nodiscard]] virtual std::uint64_t next_id() = 0;
  virtual void post(std::size_t stage, message content) = 0;
  /// Blocks until the call's outcome is there; throws `stopped` when the run stops.
  [[nodiscard]] virtual result<collected> await(std::size_t stage, std::uint64_t id) = 0;
  [[nodiscard]] virtual time_point now() const = 0;
  virtual void sleep_until(time_point when) = 0;
  [[nodiscard]] virtual bool stopping() const = 0;
};

namespace detail {

/// A call that was made; when nobody holds it any more, its outcome is forgotten.
struct made_call {
  made_call(std::shared_ptr<driver_services> by, std::size_t of, std::uint64_t number)
      : services(std::move(by)), stage(of), id(number) {}
  ~made_call() { services->post(stage, msg::forget{id, address::client(0)}); }
  made_call(const made_call&) = delete;
  made_call& operator=(const made_call&) = delete;

  std::shared_ptr<driver_services> services;
  std::size_t stage;
  std::uint64_t id;
};

template <class T>
[[nodiscard]] T unpack(payload content) {
  if constexpr (one_of<T, batch, metrics, weights>) {
    if (auto* found = std::get_if<T>(&content))
      return std::move(*found);
  } else if (auto* found = std::get_if<value>(&content)) {
    if (auto* inner = std::any_cast<T>(&found->content))
      return std::move(*inner);
  }
  throw error("a call's outcome is not of the type that its endpoint returns; a collect function made another");
}

}  // namespace detail

/// The outcome of a call, which may not be there yet. It stays where it was made: given to another call, the rows flow
/// from stage to stage and never pass the caller. Copies are one future.
template <class T>
class future {
 public:
  explicit future(std::shared_ptr<detail::made_call> of) : call_(std::move(of)) {}

  /// Blocks. Throws `call_failed` with the fault, `stopped` when the run stops, and `error` where the call has several
  /// results, one for each worker: ask each() for them.
  T get() const {
    collected outcome = wait();
    auto* one = std::get_if<payload>(&outcome);
    if (one == nullptr)
      throw error("the call has " + std::to_string(std::get<std::vector<payload>>(outcome).size()) +
                  " results, one for each worker that was asked; use each(), or another collect");
    if constexpr (!std::is_void_v<T>)
      return detail::unpack<T>(std::move(*one));
  }

  /// Blocks. All results, in worker order; one where the results were put together.
  [[nodiscard]] std::vector<T> each() const
    requires(!std::is_void_v<T>)
  {
    collected outcome = wait();
    std::vector<T> values;
    if (auto* one = std::get_if<payload>(&outcome))
      values.push_back(detail::unpack<T>(std::move(*one)));
    else
      for (payload& content : std::get<std::vector<payload>>(outcome))
        values.push_back(detail::unpack<T>(std::move(content)));
    return values;
  }

  /// Ends the call, wherever it is: its outcome is a fault, if it has none yet, and its bodies are asked to end.
  void cancel() const { call_->services->post(call_->stage, msg::call_off{call_->id, address::client(0)}); }

  [[nodiscard]] const std::shared_ptr<detail::made_call>& made() const { return call_; }

 private:
  [[nodiscard]] collected wait() const {
    auto outcome = call_->services->await(call_->stage, call_->id);
    if (!outcome)
      throw call_failed(outcome.failure());
    return std::move(outcome).value();
  }

  std::shared_ptr<detail::made_call> call_;
};

}  // namespace twinkle
