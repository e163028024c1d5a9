#include "common/io/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

#include "common/base/text.hpp"
#include "common/io/descriptor.hpp"
#include "common/io/spawn.hpp"

namespace chipweave::io {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_left(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

enum class Ended { all_read, too_long, too_much, broken };

Ended read_output(int fd, std::size_t most, Clock::time_point end, std::string& out) {
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, milliseconds_left(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Ended::broken;
    if (ready == 0) return Ended::too_long;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Ended::broken;
    if (got == 0) return Ended::all_read;
    out.append(buffer.data(), static_cast<std::size_t>(got));
    if (out.size() > most) return Ended::too_much;
  }
}

// The status of a child that has closed its output and so should be about to end; nullopt if it
// does not by `end`.
std::optional<int> await(pid_t child, Clock::time_point end) {
  for (;;) {
    int status = 0;
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) return status;
    if (done < 0 && errno != EINTR) return 0;
    if (milliseconds_left(end) == 0) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void kill_and_reap(pid_t child) {
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

Error ended_badly(Ended outcome, const std::string& program, const ChildLimits& limits) {
  if (outcome == Ended::too_long) {
    return make_error(Errc::deadline, program + " did not end within " +
                                          std::to_string(limits.deadline.count()) + " ms");
  }
  if (outcome == Ended::too_much) {
    return make_error(Errc::limit_exceeded, program + " printed more than " +
                                                std::to_string(limits.max_bytes) + " bytes");
  }
  return make_error(Errc::unavailable, "cannot read what " + program + " prints");
}

}  // namespace

Result<ChildOutput> run_child(const std::vector<std::string>& words, const ChildLimits& limits) {
  const Clock::time_point end = Clock::now() + limits.deadline;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return make_error(Errc::unavailable,
                      std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const Result<int> child = spawn(words, writer.get(), SpawnErrors::with_output);
  if (!child) return child.error();
  writer.reset();
  ChildOutput out;
  Ended outcome = read_output(reader.get(), limits.max_bytes, end, out.text);
  std::optional<int> status;
  if (outcome == Ended::all_read) {
    status = await(*child, end);
    if (!status) outcome = Ended::too_long;
  }
  if (!status) {
    kill_and_reap(*child);
    return ended_badly(outcome, words.front(), limits);
  }
  out.exit_status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  return out;
}

std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    // Skips relative entries of PATH: the current folder holds no installed programs.
    if (!folder.starts_with('/')) continue;
    std::string file = std::string(folder) + "/" + name;
    std::error_code failed;
    if (std::filesystem::is_regular_file(file, failed) && ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return "";
}

}  // namespace chipweave::io
