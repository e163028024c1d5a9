// CallerLimits — how many subscriptions the services have together, by the address of the client.
// Loop thread only.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/base/result.hpp"

namespace chipweave::sched::clusterd {

class CallerLimits {
 public:
  static constexpr std::size_t kMaxSubscribers = 1'024;
  static constexpr std::size_t kMaxSubscribersOfHost = 512;

  // Errors: limit_exceeded.
  Result<void> enter(const std::string& host) {
    const auto at = of_hosts_.find(host);
    const std::size_t of_host = at == of_hosts_.end() ? 0 : at->second;
    if (all_ >= kMaxSubscribers || of_host >= kMaxSubscribersOfHost) {
      return make_error(Errc::limit_exceeded, "at most " + std::to_string(kMaxSubscribers) +
                                                  " subscriptions may be open, " +
                                                  std::to_string(kMaxSubscribersOfHost) +
                                                  " of them from one address");
    }
    ++of_hosts_[host];
    ++all_;
    return {};
  }
  // Precondition: it entered.
  void leave(const std::string& host) {
    const auto at = of_hosts_.find(host);
    if (--at->second == 0) of_hosts_.erase(at);
    --all_;
  }
  std::size_t all() const { return all_; }

 private:
  std::map<std::string, std::size_t> of_hosts_;
  std::size_t all_ = 0;
};

}  // namespace chipweave::sched::clusterd
