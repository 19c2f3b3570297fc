// SPDX-License-Identifier: Apache-2.0
#include "node_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "descriptor.hpp"
#include "output.hpp"
#include "prefixed_lines.hpp"
#include "twinkle/base/error.hpp"

namespace twinkle::command {
namespace {

[[noreturn]] void give_up(const std::string& what) {
  throw error("cannot " + what + ": " + std::strerror(errno) + "; close other programs, or raise this one's limits");
}

struct channel {
  descriptor read;
  descriptor write;
};

channel make_channel() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    give_up("make a pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

bool is_ignored(int signal) {
  struct sigaction way {};
  return sigaction(signal, nullptr, &way) == 0 && way.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGINT, SIGTERM, SIGQUIT, SIGCHLD})
    sigaddset(&set, each);
  if (!is_ignored(SIGHUP))  // one that is blocked would come nevertheless
    sigaddset(&set, SIGHUP);
  return set;
}

// How signals were before, for those who are started.
struct signal_ways {
  sigset_t mask{};
  struct sigaction pipe {};
};

// What a process prints, on its way.
struct stream {
  descriptor from;
  output* to;
  prefixed_lines lines;
};

struct process {
  std::string node;
  pid_t id = 0;
  std::vector<stream> streams = {};
};

// In the child: becomes the command, or tells why it does not.
[[noreturn]] void become(const std::vector<char*>& words, pid_t parent, const signal_ways& before, int out, int err,
                         int failed) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(EXIT_FAILURE);
  // Who reads from a terminal in the background is stopped.
  const descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(nothing.number(), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  sigaction(SIGPIPE, &before.pipe, nullptr);
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  execvp(words.front(), words.data());
  const int why = errno;
  _exit(::write(failed, &why, sizeof why) > 0 ? EXIT_FAILURE : 127);
}

class node_processes {
 public:
  explicit node_processes(std::uint32_t patience_s) : patience_s_(patience_s) {
    const sigset_t set = watched();
    sigprocmask(SIG_BLOCK, &set, &before_.mask);
    struct sigaction way {};
    way.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &way, &before_.pipe);
    way.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &way, nullptr);
    signals_ = descriptor(signalfd(-1, &set, SFD_CLOEXEC));
    timer_ = descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    if (signals_.number() < 0 || timer_.number() < 0)
      give_up("watch for signals");
  }
  node_processes(const node_processes&) = delete;
  node_processes& operator=(const node_processes&) = delete;

  ~node_processes() {
    signal_all(SIGKILL);
    for (const process& each : running_)
      waitpid(each.id, nullptr, 0);
  }

  void start(const node_start& of, const std::string& prefix) {
    channel out = make_channel();
    channel err = make_channel();
    channel failed = make_channel();
    std::vector<char*> words;
    for (const std::string& word : of.words)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
      give_up("start a process for node '" + of.node + "'");
    if (child == 0)
      become(words, parent, before_, out.write.number(), err.write.number(), failed.write.number());
    process& made = running_.emplace_back(process{of.node, child});
    for (channel* const each : {&out, &err}) {
      fcntl(each->read.number(), F_SETFL, O_NONBLOCK);
      made.streams.push_back({std::move(each->read), each == &out ? &out_ : &err_, prefixed_lines(prefix)});
    }
    failed.write.close();
    int why = 0;
    if (::read(failed.read.number(), &why, sizeof why) == static_cast<ssize_t>(sizeof why))
      throw error("cannot run '" + of.words.front() + "': " + std::strerror(why) +
                  "; name a program behind --, by its path or as PATH finds it");
  }

  int wait() {
    while (!running_.empty() || !out_.is_empty() || !err_.is_empty()) {
      std::vector<pollfd> ends{{signals_.number(), POLLIN, 0}, {timer_.number(), POLLIN, 0}, out_.wanted(), err_.wanted()};
      for (const process& each : running_)
        for (const stream& of : each.streams)
          ends.push_back({of.to->is_full() ? -1 : of.from.number(), POLLIN, 0});
      if (::poll(ends.data(), ends.size(), -1) < 0)
        continue;
      auto end = ends.begin() + 4;
      for (process& each : running_)
        for (stream& of : each.streams)
          if ((end++)->revents != 0)
            pass_on(of);
      if (ends[2].revents != 0)
        out_.write_some();
      if (ends[3].revents != 0)
        err_.write_some();
      if ((out_.is_lost() || err_.is_lost()) && !std::exchange(unheard_, true)) {
        say("the nodes' output could not be written; ending them");
        fail(EXIT_FAILURE);
      }
      if (ends[0].revents != 0)
        take_signal();
      if (ends[1].revents != 0)
        lose_patience();
    }
    return code_.value_or(0);
  }

 private:
  void signal_all(int signal) const {
    for (const process& each : running_)
      kill(-each.id, signal);
  }

  // Returns how much there was.
  std::size_t pass_on(stream& of) {
    std::array<char, 65536> piece{};
    const ssize_t count = ::read(of.from.number(), piece.data(), piece.size());
    if (count > 0)
      print(of, of.lines.take({piece.data(), static_cast<std::size_t>(count)}));
    else if (count == 0)
      of.from.close();
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  static void print(const stream& of, const std::string& lines) {
    if (!of.to->is_lost())
      of.to->put(lines);
  }

  void say(const std::string& text) { err_.put("twinkle: " + text + "\n"); }

  void take_signal() {
    signalfd_siginfo got{};
    if (::read(signals_.number(), &got, sizeof got) != static_cast<ssize_t>(sizeof got))
      return;
    const int signal = static_cast<int>(got.ssi_signo);
    if (signal == SIGCHLD)
      return take_ends();
    if (std::exchange(handed_on_, signal) != 0)
      start_timer();
    signal_all(signal);
    if (running_.empty())
      drop_output();  // nobody but it is waited for
  }

  void take_ends() {
    for (auto each = running_.begin(); each != running_.end();) {
      siginfo_t end{};
      if (waitid(P_PID, static_cast<id_t>(each->id), &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid == 0) {
        ++each;
        continue;
      }
      process ended = std::move(*each);
      each = running_.erase(each);
      kill(-ended.id, SIGKILL);  // whom it left behind; until it is waited for, its id is no other's
      waitpid(ended.id, nullptr, 0);
      for (stream& of : ended.streams)
        finish(of);
      judge(ended, end);
    }
    if (impatient_)
      drop_output();
  }

  // Who left its group may hold the other end for ever: what is there now is all that is taken.
  void finish(stream& of) {
    int left = 0;
    if (of.from.number() >= 0)
      ioctl(of.from.number(), FIONREAD, &left);
    for (std::size_t taken = 1; left > 0 && taken > 0; left -= static_cast<int>(taken))
      taken = pass_on(of);
    print(of, of.lines.rest());
  }

  void judge(const process& ended, const siginfo_t& end) {
    const bool killed = end.si_code != CLD_EXITED;
    const int code = killed ? 128 + end.si_status : end.si_status;
    if (code == 0)
      return;
    const bool as_told = handed_on_ != 0 && (code == 128 + handed_on_ || code == 128 + SIGINT);
    if (as_told) {
      code_ = code_.value_or(code);
      return;
    }
    const bool first = !code_;
    fail(code);
    if (first)
      say("node '" + ended.node + "' " + (killed ? "was killed by signal " : "ended with code ") +
          std::to_string(end.si_status) +
          (running_.empty() ? "" : "; ending the others"));
  }

  void fail(int code) {
    if (failed_)
      return;
    failed_ = true;
    code_ = code_.value_or(code);
    start_timer();
    if (handed_on_ == 0)
      signal_all(SIGTERM);  // a second one would have them leave at once
  }

  void start_timer() {
    if (std::exchange(timed_, true))
      return;
    itimerspec once{};
    once.it_value.tv_sec = patience_s_;
    once.it_value.tv_nsec = 1;  // nothing at all would stop it
    timerfd_settime(timer_.number(), 0, &once, nullptr);
  }

  void drop_output() {
    out_.drop();
    err_.drop();
  }

  void lose_patience() {
    std::uint64_t times = 0;
    if (::read(timer_.number(), &times, sizeof times) != static_cast<ssize_t>(sizeof times))
      return;
    for (const process& each : running_)
      say("node '" + each.node + "' did not end within " + std::to_string(patience_s_) + " s; killed");
    signal_all(SIGKILL);
    impatient_ = true;
    drop_output();
    if (!running_.empty())
      code_ = code_.value_or(128 + SIGKILL);
  }

  std::uint32_t patience_s_;
  signal_ways before_;
  descriptor signals_;
  descriptor timer_;
  output out_{STDOUT_FILENO};
  output err_{STDERR_FILENO};
  std::vector<process> running_;
  std::optional<int> code_;  // of the first that failed
  int handed_on_ = 0;        // the last signal
  bool failed_ = false;
  bool timed_ = false;
  bool impatient_ = false;
  bool unheard_ = false;
};

}  // namespace

int run_nodes(const std::vector<node_start>& starts, std::uint32_t patience_s) {
  std::size_t width = 0;
  for (const node_start& each : starts)
    width = std::max(width, each.node.size());
  node_processes processes{patience_s};
  for (const node_start& each : starts)
    processes.start(each, each.node + std::string(width - each.node.size() + 2, ' '));
  return processes.wait();
}

}  // namespace twinkle::command
