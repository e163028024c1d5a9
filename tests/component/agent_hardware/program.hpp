// Program — one of the built programs, started by a test and ended with it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace chipweave {

class Program {
 public:
  // words[0]: name of the program. environment: in addition to our own. log_file: its standard
  // error.
  Program(std::vector<std::string> words, const std::map<std::string, std::string>& environment,
          std::string log_file);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  int pid() const { return pid_; }
  void signal(int number) const;
  // Its exit status after it ended by itself or on SIGTERM; -1 if a signal killed it.
  int wait();
  int terminate();
  std::string log() const;
  // Memory of the process in KiB ("VmRSS", "RssAnon"), and its processor time in seconds.
  long kilobytes(const std::string& what) const;
  double cpu_seconds() const;
  // Processes that it has started, by name.
  std::vector<int> children(const std::string& name) const;

 private:
  std::string log_file_;
  int pid_ = -1;
};

long kilobytes_of(int pid, const std::string& what);
double cpu_seconds_of(int pid);

// Polls `what` every few milliseconds until it is true; false after a long timeout.
bool eventually(const std::function<bool()>& what,
                std::chrono::milliseconds within = std::chrono::seconds(30));

}  // namespace chipweave
