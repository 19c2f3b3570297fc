// SPDX-License-Identifier: Apache-2.0
// Links to processes that are killed and frozen.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "link_end.hpp"

using namespace links;

namespace {

/// The program link_peer, which connects to a port and sends back what it gets.
class peer_process {
 public:
  explicit peer_process(std::uint16_t port) {
    std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "link_peer").string();
    std::string to = std::to_string(port);
    char* arguments[] = {program.data(), to.data(), nullptr};
    REQUIRE(::posix_spawn(&process_, program.c_str(), nullptr, nullptr, arguments, environ) == 0);
  }
  ~peer_process() {
    signal(SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;

  void signal(int which) const { ::kill(process_, which); }

 private:
  pid_t process_ = 0;
};

// Also frozen: a signal is not at work before that can be seen.
void freeze(const peer_process& process, link_end& link) {
  link->send(link.peer(), bytes("awake"));
  link.arrived(link.peer(), 1);
  process.signal(SIGSTOP);
}

}  // namespace

TEST_CASE("a process that is killed is down at once") {
  link_end here;
  const peer_process other(here->listen("127.0.0.1", 0));
  here->send(here.peer(), bytes("echo"));
  CHECK(here.arrived(here.peer(), 1).front() == "echo");
  other.signal(SIGKILL);
  CHECK_FALSE(here.why_down().empty());
}

TEST_CASE("a link to a frozen process ends, with all that the other side has not taken") {
  link_end here;
  const peer_process other(here->listen("127.0.0.1", 0));
  freeze(other, here);
  for (int each = 0; each < 64; ++each)
    here->send(here.peer(), std::vector<std::byte>(std::size_t{1} << 20));
  const told all = here.end();
  REQUIRE(all.down.size() == 1);
  CHECK(all.down.front().second == "this side closed the link");
}

TEST_CASE("a frozen process goes on where it was, if it wakes up in time") {
  link_end here;
  const peer_process other(here->listen("127.0.0.1", 0));
  freeze(other, here);
  for (int each = 0; each < 16; ++each)
    here->send(here.peer(), std::vector<std::byte>(std::size_t{1} << 20));
  other.signal(SIGCONT);
  CHECK(here.arrived(here.peer(), 17).size() == 17);
}

TEST_CASE("a frozen process is closed when too much has piled up for it") {
  link_end here({.message_bytes_max = 1 << 20, .unacknowledged_bytes_max = 20 << 20});
  const peer_process other(here->listen("127.0.0.1", 0));
  freeze(other, here);
  for (int each = 0; each < 40; ++each)
    here->send(here.peer(), std::vector<std::byte>(std::size_t{1} << 20));
  CHECK(here.why_down() ==
        "it does not take what is sent: more than unacknowledged_bytes_max, 20971520, would be on their way");
}
