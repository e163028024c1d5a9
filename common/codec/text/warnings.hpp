// Warnings — what an importer assumed or left out. Keeps the first few and counts the rest, so that
// a broken file costs little time and output.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::codec {

class Warnings {
 public:
  void add(std::string text) {
    add_made([&text] { return std::move(text); });
  }
  // For texts that are expensive to make (places in a file): make() is called only for those that
  // are kept.
  template <class Make>
  void add_made(const Make& make) {
    if (kept_.size() < kMaxKept) {
      kept_.push_back(make());
    } else {
      ++left_out_;
    }
  }

  // Keeps all warnings of another program.
  void repeat(std::vector<std::string> texts) {
    kept_.insert(kept_.end(), std::make_move_iterator(texts.begin()),
                 std::make_move_iterator(texts.end()));
  }

  std::vector<std::string> list() && {
    if (left_out_ > 0) kept_.push_back("and " + std::to_string(left_out_) + " more warnings");
    return std::move(kept_);
  }

 private:
  static constexpr std::size_t kMaxKept = 24;
  std::vector<std::string> kept_;
  std::size_t left_out_ = 0;
};

}  // namespace chipweave::codec
