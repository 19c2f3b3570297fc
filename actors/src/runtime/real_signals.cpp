// SPDX-License-Identifier: Apache-2.0
#include "real_signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace twinkle::runtime {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

real_signals::real_signals() : closing_(eventfd(0, EFD_CLOEXEC)) {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
}

void real_signals::watch(std::function<void()> on_first) {
  watcher_ = std::thread([signals = signals_, closing = closing_, first = std::move(on_first)]() mutable {
    std::array<pollfd, 2> ends{{{signals, POLLIN, 0}, {closing, POLLIN, 0}}};
    while (true) {
      if (poll(ends.data(), ends.size(), -1) < 0)
        continue;
      if ((ends[1].revents & POLLIN) != 0)
        return;
      signalfd_siginfo got{};
      if (read(signals, &got, sizeof got) != static_cast<ssize_t>(sizeof got))
        continue;
      if (!first)
        std::_Exit(130);
      std::exchange(first, nullptr)();
    }
  });
}

void real_signals::unwatch() {
  const std::uint64_t one = 1;
  if (watcher_.joinable() && write(closing_, &one, sizeof one) == static_cast<ssize_t>(sizeof one))
    watcher_.join();
}

real_signals::~real_signals() {
  unwatch();
  close(signals_);
  close(closing_);
}

}  // namespace twinkle::runtime
