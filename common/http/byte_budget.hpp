// ByteBudget — counts the bytes that the connections of a server hold: requests that are being read
// or served, and replies that are being written. It bounds their sum, so that memory does not
// depend on how many clients send at once.
//
// Also keeps a few body buffers between requests: the usual request then allocates nothing, and
// idle connections hold no buffer. Loop thread only.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::http {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t limit) : limit_(limit) { spare_.reserve(kMaxSpare); }

  std::size_t held() const { return held_; }
  bool fits(std::size_t more) const { return held_ <= limit_ && more <= limit_ - held_; }
  // A connection held `before` bytes and holds `now` from now on.
  void change(std::size_t before, std::size_t now) { held_ = held_ - before + now; }

  // An empty buffer, usually with capacity.
  std::string take_buffer() {
    if (spare_.empty()) return {};
    std::string buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  void give_back(std::string buffer) {
    if (spare_.size() == kMaxSpare || buffer.capacity() > kMaxSpareBytes) return;
    buffer.clear();
    spare_.push_back(std::move(buffer));
  }

 private:
  // What is kept is not counted: 2 MiB at most.
  static constexpr std::size_t kMaxSpare = 4;
  static constexpr std::size_t kMaxSpareBytes = std::size_t{512} << 10U;

  std::size_t limit_;
  std::size_t held_ = 0;
  std::vector<std::string> spare_;
};

}  // namespace chipweave::http
