#include "scheduler-plugin/server/caller_audit.hpp"

#include <string>

#include "common/obs/log.hpp"

namespace chipweave::sched {

void CallerAudit::refused(CallerRefusal why, std::string_view route, const http::Peer* peer,
                          Clock::Steady now) {
  if (!may_log(now)) return;
  const std::string from = peer == nullptr ? std::string() : peer->address();
  obs::log(obs::Level::warn, "refused a caller",
           {{"path", route}, {"from", from.empty() ? "unknown" : from}, {"reason", explain(why)}});
}

void CallerAudit::refused_call(const Call& call, Clock::Steady now) {
  if (!may_log(now)) return;
  obs::log(obs::Level::warn, "refused a caller",
           {{"method", call.method},
            {"from", call.from.empty() ? "unknown" : call.from},
            {"caller", call.caller.empty() ? "unknown" : call.caller},
            {"reason", call.reason}});
}

bool CallerAudit::may_log(Clock::Steady now) {
  tick(now);
  if (in_minute_ == 0) since_ = now;
  return ++in_minute_ <= kLinesAMinute;
}

void CallerAudit::tick(Clock::Steady now) {
  if (in_minute_ == 0 || now - since_ < std::chrono::minutes(1)) return;
  if (in_minute_ > kLinesAMinute)
    obs::log(obs::Level::warn, "refused more callers",
             {{"not_logged", std::to_string(in_minute_ - kLinesAMinute)}});
  in_minute_ = 0;
}

}  // namespace chipweave::sched
