// JobLog — the newest signal of each job, in the order of their changes, for any number of readers:
// each reads at its own pace, gets the newest state of each job, and costs two numbers. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <grpcpp/support/slice.h>

namespace chipweave::sched::clusterd {

class JobLog {
 public:
  // Deletions that are kept for readers. One that is further behind is lost.
  static constexpr std::size_t kMaxGone = 10'000;

  // Where a reader is.
  struct Place {
    std::uint64_t read = 0;   // the change that it has last
    std::uint64_t begin = 0;  // the newest when it began: deletions before it are none of its
  };
  enum class Found { none, some, lost };

  // The newest signal of the job, serialized. gone: it says that the job was deleted.
  void put(const std::string& job, const std::string& signal, bool gone);
  // Readers that begin from now on read nothing of before.
  void clear();
  Place begin() const;
  // The signal after the place, which moves there.
  Found next(Place& place, grpc::Slice& signal) const;
  // The same for as many as have about max_bytes, at least one. None of those after place.begin
  // follows one before it.
  Found next(Place& place, std::size_t max_bytes, std::vector<grpc::Slice>& signals) const;
  // Jobs that are there.
  std::size_t jobs() const;

 private:
  struct Signal {
    std::string job;
    grpc::Slice bytes;  // shared by all who write it
    bool gone = false;
  };
  using Signals = std::map<std::uint64_t, Signal>;  // by change
  void take_out(std::uint64_t change);
  bool is_lost(const Place& place) const;
  // Under mutex_.
  Signals::const_iterator find_next(const Place& place) const;

  mutable std::mutex mutex_;
  std::uint64_t changes_ = 0;
  Signals signals_;
  std::unordered_map<std::string, std::uint64_t> change_of_;  // by job
  std::set<std::uint64_t> gone_;
  std::uint64_t forgotten_ = 0;  // the newest deletion that is not kept any more
};

}  // namespace chipweave::sched::clusterd
