// Descriptor — a file descriptor that closes itself, and write_all(). For the few places that need
// more than files.hpp.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

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

}  // namespace chipweave::io
