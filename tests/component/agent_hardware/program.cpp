#include "tests/component/agent_hardware/program.hpp"
#include "tests/support/paths.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace chipweave {

Program::Program(std::vector<std::string> words,
                 const std::map<std::string, std::string>& environment, std::string log_file)
    : log_file_(std::move(log_file)) {
  words.front() = test::program_path(words.front());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  const int log = ::open(log_file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(log, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

Program::~Program() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  wait();
}

void Program::signal(int number) const { ::kill(pid_, number); }

int Program::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int Program::terminate() {
  signal(SIGTERM);
  return wait();
}

std::string Program::log() const {
  std::ifstream file(log_file_);
  return {std::istreambuf_iterator<char>(file), {}};
}

long Program::kilobytes(const std::string& what) const { return kilobytes_of(pid_, what); }

double Program::cpu_seconds() const { return cpu_seconds_of(pid_); }

std::vector<int> Program::children(const std::string& name) const {
  std::vector<int> out;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
    std::ifstream file(task.path() / "children");
    for (int child = 0; file >> child;) {
      std::ifstream comm("/proc/" + std::to_string(child) + "/comm");
      std::string is;
      // The kernel keeps 15 characters of a name.
      if (std::getline(comm, is) && is == name.substr(0, 15)) out.push_back(child);
    }
  }
  return out;
}

long kilobytes_of(int pid, const std::string& what) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;) {
    long value = 0;
    if (word == what + ":" && file >> value) return value;
  }
  return 0;
}

double cpu_seconds_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // Fields 14 and 15 of the line, counted after the name, which may contain anything.
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string word;
  double ticks = 0;
  for (int field = 3; field <= 15 && rest >> word; ++field) {
    if (field >= 14) ticks += std::stod(word);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool eventually(const std::function<bool()>& what, std::chrono::milliseconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (std::chrono::steady_clock::now() < end) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return what();
}

}  // namespace chipweave
