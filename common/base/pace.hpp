// Pace — a minimum interval between writes of one object, so that a node whose state flaps does not
// load the API server.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace chipweave {

class Pace {
 public:
  using Ms = std::chrono::milliseconds;
  using Time = std::chrono::steady_clock::time_point;
  explicit Pace(Ms gap) : gap_(gap) {}

  // How long to wait before the next write; 0: it may be sent now.
  Ms left(Time now) const {
    if (!last_) return Ms(0);
    return std::max(Ms(0), std::chrono::ceil<Ms>(*last_ + gap_ - now));
  }
  // Records that a write is sent now, whether or not it succeeds.
  void sent(Time now) { last_ = now; }

 private:
  Ms gap_;
  std::optional<Time> last_;
};

}  // namespace chipweave
