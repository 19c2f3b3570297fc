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

bool is_ignored(int signal) {
  struct sigaction way {};
  return sigaction(signal, nullptr, &way) == 0 && way.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (!is_ignored(SIGHUP))  // one that is blocked would come nevertheless
    sigaddset(&set, SIGHUP);
  return set;
}

void take_until(int signals, int closing, std::function<void()> on_first) {
  std::array<pollfd, 2> ends{{{signals, POLLIN, 0}, {closing, POLLIN, 0}}};
  while (true) {
    if (poll(ends.data(), ends.size(), -1) < 0)
      continue;
    if ((ends[1].revents & POLLIN) != 0)
      return;
    signalfd_siginfo got{};
    if (read(signals, &got, sizeof got) != static_cast<ssize_t>(sizeof got))
      continue;
    if (!on_first)
      std::_Exit(code_of_interrupted);
    std::exchange(on_first, nullptr)();
  }
}

}  // namespace

real_signals::real_signals() {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
}

real_signals::~real_signals() { close(signals_); }

real_signals::watching::watching(const real_signals& of, std::function<void()> on_first)
    : closing_(eventfd(0, EFD_CLOEXEC)), watcher_(take_until, of.signals_, closing_, std::move(on_first)) {}

real_signals::watching::~watching() {
  const std::uint64_t one = 1;
  if (write(closing_, &one, sizeof one) == static_cast<ssize_t>(sizeof one))
    watcher_.join();
  close(closing_);
}

}  // namespace twinkle::runtime
