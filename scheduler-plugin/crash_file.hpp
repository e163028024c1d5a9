// CrashFile — how often, and why, earlier processes of this replica ended because of a bug.
//
// Two lines: the number of such ends, and the time and reason of the last one. The file outlives
// the process: in the chart it is on a volume of the pod. Without a path nothing is kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.hpp"

namespace chipweave::sched {

class CrashFile {
 public:
  explicit CrashFile(std::string path) : path_(std::move(path)) {}

  struct Earlier {
    std::uint64_t count = 0;
    std::string last;  // its second line
  };
  // A missing file says none. Errors: as io::read_file; invalid_argument: another file.
  Result<Earlier> read() const;
  // One more; a file that cannot be read is replaced. `what`: the first 1,000 bytes count.
  Result<void> add(std::string_view time, std::string_view what) const;

 private:
  std::string path_;
};

}  // namespace chipweave::sched
