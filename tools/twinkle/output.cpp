// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace twinkle::command {
namespace {

// The same pipe or terminal, but so that who writes does not wait.
descriptor without_waiting(int shared) {
  struct stat what {};
  if (fstat(shared, &what) != 0 || (!S_ISFIFO(what.st_mode) && isatty(shared) == 0))
    return descriptor();
  const std::string path = "/proc/self/fd/" + std::to_string(shared);
  return descriptor(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

output::output(int shared) : own_(without_waiting(shared)), to_(own_.number() >= 0 ? own_.number() : shared) {}

void output::put(const std::string& text) {
  if (done_ > waits_.size() / 2)
    waits_.erase(0, std::exchange(done_, 0));
  waits_ += text;
  pollfd room = wanted();
  while (room.fd >= 0 && ::poll(&room, 1, 0) > 0 && write_some())
    room = wanted();
}

bool output::write_some() {
  const ssize_t count = ::write(to_, waits_.data() + done_, std::min<std::size_t>(size(), PIPE_BUF));
  if (count > 0)
    done_ += static_cast<std::size_t>(count);
  if (count < 0 && errno != EAGAIN && errno != EINTR) {
    lost_ = true;
    drop();
  }
  return count > 0;
}

}  // namespace twinkle::command
