// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/interruption.hpp"
#include "runtime/real_executor.hpp"

namespace hall_test {

/// Workers, each on a body of its own.
class bodies {
 public:
  explicit bodies(std::size_t workers) {
    for (std::size_t worker = 0; worker < workers; ++worker) {
      threads_.push_back(executor_.make("body", twinkle::bodies::own_thread));
      breaks_.push_back(std::make_unique<twinkle::runtime::interruption>(threads_.back()->blocking()));
    }
  }

  using work = std::function<void(std::size_t worker, twinkle::runtime::interruption&)>;

  void start(std::size_t worker, const work& what) {
    auto end = std::make_shared<std::promise<std::string>>();
    ends_[worker] = end->get_future();
    threads_[worker]->run([what, worker, self = breaks_[worker].get(), end] {
      try {
        what(worker, *self);
        end->set_value("");
      } catch (const std::exception& wrong) {
        end->set_value(wrong.what());
      }
    });
  }

  // What a worker threw, or "".
  std::string end_of(std::size_t worker) { return ends_.at(worker).get(); }

  std::vector<std::string> run(const work& what) {
    for (std::size_t worker = 0; worker < threads_.size(); ++worker)
      start(worker, what);
    std::vector<std::string> said;
    for (std::size_t worker = 0; worker < threads_.size(); ++worker)
      said.push_back(end_of(worker));
    return said;
  }

  void cancel(std::size_t worker, std::optional<twinkle::route::call_id> call, const std::string& cause) {
    breaks_[worker]->cancel(call, {"test", "", std::nullopt, cause});
  }
  void enter(twinkle::route::call_id call) {
    for (const auto& each : breaks_)
      each->enter(call);
  }

 private:
  twinkle::runtime::real_clock clock_;
  twinkle::runtime::real_executor executor_{clock_};
  std::vector<std::unique_ptr<twinkle::runtime::interruption>> breaks_;
  std::vector<std::unique_ptr<twinkle::body_seam>> threads_;
  std::map<std::size_t, std::future<std::string>> ends_;
};

template <class T>
std::span<std::byte> bytes(std::vector<T>& values) {
  return std::as_writable_bytes(std::span<T>(values));
}

}  // namespace hall_test
