#include "common/io/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/io/spawn.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::io {
namespace {

Result<ChildOutput> shell(const std::string& lines, const ChildLimits& limits = {}) {
  return run_child({"/bin/sh", "-c", lines}, limits);
}

TEST(ChildProcess, CollectsBothOutputsAndTheStatus) {
  const auto out = shell("echo one; echo two >&2; exit 13");
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->text, "one\ntwo\n");
  EXPECT_EQ(out->exit_status, 13);
  EXPECT_EQ(shell("kill -9 $$")->exit_status, 128 + 9);
}

TEST(ChildProcess, GivesNoInput) {
  const auto out = shell("cat; echo done");
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->text, "done\n");
}

TEST(ChildProcess, WordsAreNoShell) {
  const auto out = run_child({"/bin/echo", "$(id); `id`", "a b"}, {});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->text, "$(id); `id` a b\n");
}

TEST(ChildProcess, EndsWhatHangsWithItsChildren) {
  ChildLimits limits;
  limits.deadline = std::chrono::milliseconds(50);
  const auto hangs = shell("sleep 1000 & sleep 1000", limits);
  ASSERT_FALSE(hangs.ok());
  EXPECT_EQ(hangs.error().code, Errc::deadline);
  const auto silent = shell("exec >&- 2>&-; sleep 1000", limits);
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().code, Errc::deadline);
}

// hccn_tool runs on a thread that may end, and in a process that may be killed.
TEST(ChildProcess, DiesWithTheThreadThatStartedIt) {
  int child = -1;
  std::thread([&child] {
    child = spawn({"/bin/sleep", "1000"}, STDOUT_FILENO, SpawnErrors::with_output).value();
  }).join();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
}

TEST(ChildProcess, DiesWithAProcessThatIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const auto child = spawn({"/bin/sleep", "1000"}, ends[1], SpawnErrors::with_output);
    // The child holds the other end, so that its end can be seen.
    const int pid = child ? *child : -1;
    if (::write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  ::close(ends[1]);
  int child = -1;
  ASSERT_EQ(::read(ends[0], &child, sizeof(child)), ssize_t{sizeof(child)});
  ASSERT_GT(child, 0);
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 20'000), 1) << "the child outlives its parent";
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

TEST(ChildProcess, SignalsThatWeIgnoreAreDefaultThere) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(shell("kill -PIPE $$; echo alive")->exit_status, 128 + SIGPIPE);
  ::signal(SIGPIPE, before);
}

TEST(ChildProcess, LeavesNoZombie) {
  ChildLimits limits;
  limits.deadline = std::chrono::milliseconds(50);
  EXPECT_FALSE(shell("sleep 1000", limits).ok());
  EXPECT_TRUE(shell("true").ok());
  EXPECT_FALSE(run_child({"/no/such/program"}, {}).ok());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, EndsWhatPrintsWithoutEnd) {
  ChildLimits limits;
  limits.max_bytes = 10000;
  const auto out = shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", limits);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, Errc::limit_exceeded);
}

TEST(ChildProcess, SaysWhatItCannotStart) {
  const auto out = run_child({"/no/such/program"}, {});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, Errc::not_found);
}

TEST(ChildProcess, FindsProgramsOnPath) {
  const TempFolder folder;
  const std::string tool = folder.put("bin/sometool", "#!/bin/sh\n");
  const char* before = std::getenv("PATH");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("PATH", ("relative::" + folder.at("bin")).c_str(), 1);
  EXPECT_EQ(find_on_path("sometool"), "");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_on_path("sometool"), tool);
  EXPECT_EQ(find_on_path("othertool"), "");
  ::setenv("PATH", old.c_str(), 1);
}

}  // namespace
}  // namespace chipweave::io
