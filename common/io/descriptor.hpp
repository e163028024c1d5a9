// Descriptor — a file descriptor that closes itself, and what goes with descriptors: writing all,
// temporary files, the limit of open files. For the few places that need more than files.hpp.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

#include "common/base/result.hpp"

namespace chipweave::io {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Closes the current descriptor and owns `fd` from now on.
  void adopt(int fd) {
    reset();
    fd_ = fd;
  }
  // Gives up ownership.
  int release() { return std::exchange(fd_, -1); }
  // Closes now; false if the system reports a late write error.
  bool reset() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

// Writes everything, retrying after interruptions; false with errno set.
bool write_all(int fd, const std::string& content);
// Creates a file with these permission bits, writes and flushes it. `temporary` ends in XXXXXX and
// becomes its name; the caller renames it to `path`, which errors name.
Result<void> write_temporary(std::string& temporary, const std::string& path,
                             const std::string& content, mode_t bits);

// Raises the limit of open files as far as possible without privileges, up to `most`: a thousand
// nodes need a thousand connections, and the usual limit is 1,024. Returns the new limit.
std::size_t raise_descriptor_limit(std::size_t most);

// "file PATH: cannot DOING: reason of errno"; not_found or unavailable.
Error system_error(const std::string& path, const char* doing, int number);

}  // namespace chipweave::io
