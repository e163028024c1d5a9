// AgentProcess — the built chipweave-agent as a program of its own.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/paths.hpp"

namespace chipweave {

class AgentProcess {
 public:
  // log_file: what it writes to standard error.
  AgentProcess(std::vector<std::string> arguments, std::string log_file)
      : log_file_(std::move(log_file)) {
    arguments.insert(arguments.begin(), test::program_path("chipweave-agent"));
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ > 0) return;
    const int log = ::open(log_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(log, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  ~AgentProcess() {
    if (pid_ > 0) end_with(SIGKILL);
  }

  // Its exit code after SIGTERM; -1 if it ended otherwise.
  int terminate() { return end_with(SIGTERM); }
  std::string log() const {
    std::ifstream file(log_file_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Resident memory.
  long kilobytes() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; file >> word;) {
      long value = 0;
      if (word == "VmRSS:" && file >> value) return value;
    }
    return 0;
  }

 private:
  int end_with(int signal) {
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string log_file_;
  pid_t pid_ = -1;
};

}  // namespace chipweave
