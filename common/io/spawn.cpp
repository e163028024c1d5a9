#include "common/io/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/io/descriptor.hpp"

namespace chipweave::io {
namespace {

constexpr int kExecFailed = 127;

// What the child needs, made before it exists: it may only make system calls.
struct ChildPlan {
  char* const* argv;
  int null;    // /dev/null
  int output;  // for standard output
  int failed;  // where it writes errno if it cannot become the program
  SpawnErrors errors;
  pid_t parent;
};

[[noreturn]] void give_up(const ChildPlan& plan) {
  const int why = errno;
  // A lost report reads as a program that ended with this status.
  [[maybe_unused]] const ssize_t written = ::write(plan.failed, &why, sizeof(why));
  ::_exit(kExecFailed);
}

// Runs in the child, in the parent's memory (vfork).
[[noreturn]] void become(const ChildPlan& plan) {
  // Signals that the parent ignores would stay ignored.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before that.
  if (::getppid() != plan.parent) ::_exit(kExecFailed);
  const int to_error = plan.errors == SpawnErrors::with_output ? plan.output : STDERR_FILENO;
  if (::dup2(plan.null, STDIN_FILENO) < 0 || ::dup2(to_error, STDERR_FILENO) < 0 ||
      ::dup2(plan.output, STDOUT_FILENO) < 0) {
    give_up(plan);
  }
  // `failed` closes with exec, and everything above it now.
  ChildPlan moved = plan;
  moved.failed = STDERR_FILENO + 1;
  if (::dup3(plan.failed, moved.failed, O_CLOEXEC) < 0) give_up(plan);
  ::closefrom(moved.failed + 1);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.argv[0], plan.argv, environ);
  give_up(moved);
}

// vfork, as posix_spawn does: a fork would run what drivers' libraries registered for it, and copy
// the page tables of their mappings.
pid_t start(const ChildPlan& plan) {
  const pid_t child =
      ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): system calls only
  if (child == 0) become(plan);  // NOLINT(clang-analyzer-unix.Vfork): system calls only
  return child;
}

// A descriptor above those that the child rearranges, closed by exec.
Descriptor moved_up(int fd) { return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 2)); }

Error cannot_start(const std::string& program, int why) {
  return make_error(why == ENOENT ? Errc::not_found : Errc::unavailable,
                    "cannot start " + program + ": " + std::strerror(why));
}

}  // namespace

Result<int> spawn(std::vector<std::string> words, int output, SpawnErrors errors) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(words.front(), errno);
  const Descriptor reader(ends[0]);
  Descriptor low_writer(ends[1]);
  Descriptor writer = moved_up(low_writer.get());
  const Descriptor low_null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor null = moved_up(low_null.get());
  const Descriptor to = moved_up(output);
  if (writer.get() < 0 || null.get() < 0 || to.get() < 0) return cannot_start(words.front(), errno);

  // No handler of ours may run in the child, which shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = start({argv.data(), null.get(), to.get(), writer.get(), errors, ::getpid()});
  const int why_no_child = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return cannot_start(words.front(), why_no_child);

  writer.reset();
  low_writer.reset();
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::read(reader.get(), &why, sizeof(why));
  } while (got < 0 && errno == EINTR);
  if (got != sizeof(why)) return child;  // the child has become the program
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return cannot_start(words.front(), why);
}

}  // namespace chipweave::io
