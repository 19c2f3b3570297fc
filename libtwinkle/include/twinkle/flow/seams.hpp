// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twinkle/base/time.hpp"
#include "twinkle/flow/dispatch.hpp"
#include "twinkle/flow/message.hpp"

// The border between what actors decide and the world that they run in. Each seam has a real and a simulated side.
namespace twinkle {

/// Time, and the wish to hear of it.
class clock_seam {
 public:
  virtual ~clock_seam() = default;
  [[nodiscard]] virtual time_point now() const = 0;
  /// Posts a tick to `who` at `when`, or as soon as possible after.
  virtual void wake(const address& who, time_point when) = 0;
};

/// How one actor reaches another: in order for each pair. What is posted to an actor that is gone is dropped.
class post_seam {
 public:
  virtual ~post_seam() = default;
  virtual void post(const address& from, const address& to, message&& content) = 0;
};

/// What an actor does: it takes one message at a time and never blocks.
class actor_role {
 public:
  virtual ~actor_role() = default;
  virtual void receive(message&& content) = 0;
};

/// Which actors there are.
class life_seam {
 public:
  virtual ~life_seam() = default;
  virtual void spawn(const address& who, std::unique_ptr<actor_role> role) = 0;
};

/// Every choice that is arbitrary: which of the things that may happen next does. In production the machine's scheduler
/// makes it; in simulation this does, from a seed.
class chooser_seam {
 public:
  virtual ~chooser_seam() = default;
  /// One of 0..count-1; `count` >= 1.
  [[nodiscard]] virtual std::size_t choose(std::size_t count) = 0;
};

/// Whole files, lines added to them, and what is there. Throws `error` naming the path and the cause.
class files_seam {
 public:
  virtual ~files_seam() = default;
  /// The old content stays until the new one is whole, also through a power cut.
  virtual void replace(const std::string& path, std::string_view content) = 0;
  virtual void append(const std::string& path, std::string_view content) = 0;
  /// The whole content; nothing where there is no such file.
  [[nodiscard]] virtual std::optional<std::string> read(const std::string& path) = 0;
  /// Does nothing where there is no such file.
  virtual void remove(const std::string& path) = 0;
  /// The names of the files in a folder, sorted; none where there is no such folder.
  [[nodiscard]] virtual std::vector<std::string> names(const std::string& folder) = 0;
};

/// Where a body waits inside a blocking call. A wake that comes first is not lost.
class gate {
 public:
  virtual ~gate() = default;
  virtual void wait() = 0;
  /// Returns at `when` at the latest.
  virtual void wait_until(time_point when) = 0;
  virtual void wake() = 0;
};

/// Where one worker's jobs run, one after the other, in the order in which they were given. Destroying it waits for a
/// running job, unless it was abandoned.
class body_seam {
 public:
  virtual ~body_seam() = default;
  virtual void run(std::function<void()> job) = 0;
  [[nodiscard]] virtual gate& blocking() = 0;
  /// A job that does not end is left to itself, with what it `needs` for as long as it runs.
  virtual void abandon(std::shared_ptr<void> needs) = 0;
};

class executor_seam {
 public:
  virtual ~executor_seam() = default;
  [[nodiscard]] virtual std::unique_ptr<body_seam> make(const std::string& name, bodies kind) = 0;
};

struct seams {
  clock_seam& clock;
  post_seam& post;
  life_seam& life;
  executor_seam& executor;
};

}  // namespace twinkle
