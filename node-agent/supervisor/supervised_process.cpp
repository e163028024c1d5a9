#include "node-agent/supervisor/supervised_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "common/io/spawn.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kChunk = std::size_t{64} << 10U;
constexpr milliseconds kLookAgain{2};

milliseconds left_until(Steady::time_point end) {
  return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(end - Steady::now()));
}

std::string reason_of(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = ::sigdescr_np(WTERMSIG(status));
    return "signal " + std::to_string(WTERMSIG(status)) + " (" +
           (name == nullptr ? "unknown" : name) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

bool adopts_orphans() {
  int yes = 0;
  return ::getpid() == 1 || (::prctl(PR_GET_CHILD_SUBREAPER, &yes) == 0 && yes != 0);
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Result<std::unique_ptr<SupervisedProcess>> SupervisedProcess::start(
    const std::vector<std::string>& command, int wake, std::size_t max_line_bytes) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return make_error(Errc::unavailable,
                      std::string("cannot create a pipe: ") + std::strerror(errno));
  }
  io::Descriptor reader(ends[0]);
  const io::Descriptor writer(ends[1]);
  const auto pid = io::spawn(command, writer.get(), io::SpawnErrors::ours);
  if (!pid) return Error(pid.error());
  return std::unique_ptr<SupervisedProcess>(
      new SupervisedProcess(*pid, reader.release(), wake, max_line_bytes));
}

SupervisedProcess::~SupervisedProcess() { kill(milliseconds(0)); }

bool SupervisedProcess::next_line(std::string_view& line) {
  const std::size_t end = buffer_.find('\n', seen_);
  seen_ = end == std::string::npos ? buffer_.size() : end;
  if (end == std::string::npos) return false;
  line = std::string_view(buffer_).substr(used_, end - used_);
  used_ = end + 1;
  seen_ = used_;
  return true;
}

// Looks before it reaps: the exit status of our own process belongs to wait_for_exit().
void SupervisedProcess::reap_orphans() const {
  if (!adopts_orphans()) return;
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (ended.si_pid == 0 || ended.si_pid == pid_) return;
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

SupervisedProcess::Got SupervisedProcess::read_line(milliseconds longest, std::string_view& line) {
  reap_orphans();
  const Steady::time_point end = Steady::now() + longest;
  for (;;) {
    if (next_line(line)) return line.size() > max_line_bytes_ ? Got::too_long : Got::line;
    buffer_.erase(0, used_);
    seen_ -= used_;
    used_ = 0;
    if (buffer_.size() > max_line_bytes_) return Got::too_long;
    std::array<pollfd, 2> fds = {{{out_.get(), POLLIN, 0}, {wake_, POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(left_until(end).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return ready == 0 ? Got::timeout : Got::end;
    if (fds[1].revents != 0) return Got::woken;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kChunk);
    const ssize_t got = ::read(out_.get(), buffer_.data() + had, kChunk);
    buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Got::end;
  }
}

bool SupervisedProcess::wait_for_exit(milliseconds longest) {
  const Steady::time_point end = Steady::now() + longest;
  while (pid_ >= 0) {
    int status = 0;
    const pid_t done = ::waitpid(pid_, &status, WNOHANG);
    if (done == pid_) {
      exit_reason_ = reason_of(status);
      pid_ = -1;
    } else if (done < 0 && errno == ECHILD) {
      exit_reason_ = "an unknown exit status";
      pid_ = -1;
    } else if (left_until(end).count() == 0) {
      return false;
    } else {
      std::this_thread::sleep_for(kLookAgain);
    }
  }
  return true;
}

bool SupervisedProcess::kill(milliseconds longest) {
  if (pid_ < 0) return true;
  // The group outlives its leader as long as one of its members lives.
  ::kill(-pid_, SIGKILL);
  return wait_for_exit(longest);
}

}  // namespace chipweave::agent
