// JobReaders — the streams that follow the jobs, and the thread that makes them write: gRPC writes
// to a socket where a message is handed over, and a thousand tables of a large job would occupy the
// loop for a tenth of a second. Any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace chipweave::sched::clusterd {

class JobReader {
 public:
  JobReader() = default;
  JobReader(const JobReader&) = delete;
  JobReader& operator=(const JobReader&) = delete;
  virtual ~JobReader() = default;
  // There may be something to read. Any thread.
  virtual void wake() = 0;
};

class JobReaders {
 public:
  JobReaders();
  ~JobReaders();
  JobReaders(const JobReaders&) = delete;
  JobReaders& operator=(const JobReaders&) = delete;

  void add(std::shared_ptr<JobReader> reader);
  void remove(const JobReader* reader);
  // All of them, soon.
  void wake();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const JobReader*, std::shared_ptr<JobReader>> readers_;
  bool due_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace chipweave::sched::clusterd
