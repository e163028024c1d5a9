#include "node-agent/supervisor/supervised_process.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;
using Got = SupervisedProcess::Got;

constexpr milliseconds kLong{20'000};

std::unique_ptr<SupervisedProcess> shell(const std::string& script, int wake = -1,
                                         std::size_t most = 1000) {
  auto started = SupervisedProcess::start({"/bin/sh", "-c", script}, wake, most);
  EXPECT_TRUE(started.ok()) << started.error().text();
  return std::move(started).value();
}

std::string line_of(SupervisedProcess& process) {
  std::string_view line;
  EXPECT_EQ(process.read_line(kLong, line), Got::line);
  return std::string(line);
}

Got got_from(SupervisedProcess& process, milliseconds longest = kLong) {
  std::string_view line;
  return process.read_line(longest, line);
}

TEST(SupervisedProcess, ReadsLinesHoweverTheyComeAndKnowsItsEnd) {
  const auto process = shell("printf 'one\\n\\ntw'; sleep 0.05; printf 'o\\nrest'; exit 3");
  EXPECT_EQ(line_of(*process), "one");
  EXPECT_EQ(line_of(*process), "");
  EXPECT_EQ(line_of(*process), "two");
  EXPECT_EQ(got_from(*process), Got::end);
  EXPECT_TRUE(process->wait_for_exit(kLong));
  EXPECT_EQ(process->exit_reason(), "exit status 3");
}

TEST(SupervisedProcess, NamesTheSignalThatEndedIt) {
  const auto process = shell("kill -SEGV $$");
  EXPECT_EQ(got_from(*process), Got::end);
  EXPECT_TRUE(process->wait_for_exit(kLong));
  EXPECT_EQ(process->exit_reason(), "signal 11 (Segmentation fault)");
}

TEST(SupervisedProcess, ATimeoutIsReported) {
  const auto process = shell("sleep 1000");
  EXPECT_EQ(got_from(*process, milliseconds(1)), Got::timeout);
  EXPECT_TRUE(process->kill(kLong));
  EXPECT_EQ(process->exit_reason(), "signal 9 (Killed)");
}

TEST(SupervisedProcess, AnEndlessLineIsReportedBeforeItFillsTheMemory) {
  const auto process = shell("exec tr '\\0' x </dev/zero");
  EXPECT_EQ(got_from(*process), Got::too_long);
}

TEST(SupervisedProcess, ALineThatIsJustTooLongIsReported) {
  const auto process = shell("printf '%01000d\\n%01001d\\n' 0 0");
  EXPECT_EQ(line_of(*process).size(), 1000U);
  EXPECT_EQ(got_from(*process), Got::too_long);
}

TEST(SupervisedProcess, ItsChildrenAreKilledWithIt) {
  const auto process = shell("sleep 1000 & echo $!; wait");
  const pid_t child = std::stoi(line_of(*process));
  ASSERT_EQ(::kill(child, 0), 0);
  EXPECT_TRUE(process->kill(kLong));
  // Its parent is init now, which may reap it late; a zombie counts as ended.
  for (int i = 0; i < 2000 && ::kill(child, 0) == 0; ++i) {
    std::string state;
    if (FILE* f = std::fopen(("/proc/" + std::to_string(child) + "/stat").c_str(), "r")) {
      char text[256] = {};
      if (std::fgets(text, sizeof text, f) != nullptr) state = text;
      std::fclose(f);
    }
    if (state.find(") Z") != std::string::npos) return;
    ::usleep(1000);
  }
  EXPECT_NE(::kill(child, 0), 0);
}

// As an hccn_tool's helper, in a group of its own, after the probe process was killed.
TEST(SupervisedProcess, OrphansAreReapedByWhoAdoptsThem) {
  adopt_orphans();
  const auto first = shell("setsid sh -c 'echo $$; exec sleep 0.1' & wait");
  const pid_t orphan = std::stoi(line_of(*first));
  ASSERT_TRUE(first->kill(kLong));
  const auto second = shell("while :; do echo line; sleep 0.01; done");
  for (int i = 0; i < 2000 && ::kill(orphan, 0) == 0; ++i) line_of(*second);
  EXPECT_NE(::kill(orphan, 0), 0);
  EXPECT_TRUE(second->kill(kLong));
  EXPECT_EQ(second->exit_reason(), "signal 9 (Killed)") << "its own status is not taken";
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(SupervisedProcess, ASecondDescriptorWakesTheReader) {
  const int wake = ::eventfd(1, EFD_CLOEXEC);
  const auto process = shell("sleep 1000", wake);
  EXPECT_EQ(got_from(*process), Got::woken);
  ::close(wake);
}

TEST(SupervisedProcess, OnlyItsPipeAndErrorsReachIt) {
  const int ours = ::dup(STDIN_FILENO);  // without close-on-exec
  const auto process = shell("ls /proc/self/fd | tr '\\n' ' '; echo; cat; echo done");
  // ls itself opens the folder as 3.
  EXPECT_EQ(line_of(*process), "0 1 2 3 ");
  EXPECT_EQ(line_of(*process), "done");
  ::close(ours);
}

TEST(SupervisedProcess, AProgramThatIsNotThereIsAnError) {
  const auto started = SupervisedProcess::start({"/nowhere/helper"}, -1, 1000);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Errc::not_found);
  EXPECT_NE(started.error().message.find("/nowhere/helper"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::agent
