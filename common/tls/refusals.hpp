// Refusals — content of files that cannot be used. Files change one after another, so content
// counts as final, and is worth a line in the log, when two checks in a row find it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace chipweave::tls {

// How often a program should read the files of certificates again.
inline constexpr std::chrono::seconds kLookEvery{2};

template <class Content>
class Refusals {
 public:
  // found: empty if it could not be read. Whether to log the refusal: once for each content.
  bool add(const Content& found, const std::string& why) {
    if (last_ && last_->found == found && last_->why == why) {
      return !std::exchange(last_->logged, true);
    }
    last_ = Refusal{found, why, false};
    return false;
  }
  // The content in use is good again.
  void clear() { last_.reset(); }

 private:
  struct Refusal {
    Content found;
    std::string why;
    bool logged = false;
  };
  std::optional<Refusal> last_;
};

}  // namespace chipweave::tls
