// SPDX-License-Identifier: Apache-2.0
#include "twinkle/base/ensure.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace {

struct death {
  int status = 0;
  std::string said;
};

// What becomes of a process in which an invariant breaks.
death break_invariant() {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // not doctest's
    dup2(ends[1], STDERR_FILENO);
    twinkle::ensure(false, "credits are never negative");
    _exit(0);
  }
  close(ends[1]);
  death seen;
  std::array<char, 256> part{};
  for (ssize_t bytes = 0; (bytes = read(ends[0], part.data(), part.size())) > 0;)
    seen.said.append(part.data(), static_cast<std::size_t>(bytes));
  close(ends[0]);
  REQUIRE(waitpid(child, &seen.status, 0) == child);
  return seen;
}

}  // namespace

TEST_CASE("an invariant that holds lets the program go on") { twinkle::ensure(true, "always"); }

TEST_CASE("a broken invariant ends the process and names itself and the caller's line") {
  const death seen = break_invariant();
  REQUIRE(WIFSIGNALED(seen.status));
  CHECK(WTERMSIG(seen.status) == SIGABRT);
  CHECK(seen.said.find("credits are never negative") != std::string::npos);
  CHECK(seen.said.find("base/ensure.cpp:") != std::string::npos);
}
