#include "scheduler-plugin/server/clusterd/jobs/job_readers.hpp"

#include <utility>
#include <vector>

namespace chipweave::sched::clusterd {

JobReaders::JobReaders() : thread_([this] { run(); }) {}

JobReaders::~JobReaders() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void JobReaders::add(std::shared_ptr<JobReader> reader) {
  const std::lock_guard lock(mutex_);
  const JobReader* const key = reader.get();
  readers_.insert_or_assign(key, std::move(reader));
}

void JobReaders::remove(const JobReader* reader) {
  const std::lock_guard lock(mutex_);
  readers_.erase(reader);
}

void JobReaders::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (readers_.empty() || std::exchange(due_, true)) return;
  }
  changed_.notify_one();
}

void JobReaders::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return due_ || stopped_; });
    if (stopped_) return;
    due_ = false;
    std::vector<std::shared_ptr<JobReader>> all;
    all.reserve(readers_.size());
    for (const auto& [key, reader] : readers_) all.push_back(reader);
    lock.unlock();
    for (const auto& reader : all) reader->wake();
    all.clear();
    lock.lock();
  }
}

}  // namespace chipweave::sched::clusterd
