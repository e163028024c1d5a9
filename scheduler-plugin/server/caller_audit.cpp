#include "scheduler-plugin/server/caller_audit.hpp"

#include "common/base/text.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxName = 120;  // a certificate's can be as long as it likes

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : std::move(text); }

}  // namespace

void CallerAudit::refused(const Refused& what, Clock::Steady now) {
  if (!may_log(static_cast<std::size_t>(what.why), now)) return;
  obs::log(obs::Level::warn, "refused a caller",
           {{"path", what.route},
            {"from", or_unknown(what.peer == nullptr ? "" : what.peer->address())},
            {"caller", or_unknown(with_dots(what.caller, kMaxName))},
            {"reason", explain(what.why)}});
}

void CallerAudit::refused_call(const Call& call, Clock::Steady now) {
  if (!may_log(kGrpcCalls, now)) return;
  obs::log(obs::Level::warn, "refused a caller",
           {{"method", call.method},
            {"from", or_unknown(call.from)},
            {"caller", or_unknown(with_dots(call.caller, kMaxName))},
            {"reason", call.reason}});
}

bool CallerAudit::may_log(std::size_t minute, Clock::Steady now) {
  tick(now);
  Minute& lines = minutes_[minute];
  if (lines.lines == 0) lines.since = now;
  return ++lines.lines <= kLinesAMinute;
}

void CallerAudit::tick(Clock::Steady now) {
  for (std::size_t i = 0; i < minutes_.size(); ++i) {
    Minute& minute = minutes_[i];
    if (minute.lines == 0 || now - minute.since < std::chrono::minutes(1)) continue;
    if (minute.lines > kLinesAMinute)
      obs::log(obs::Level::warn, "refused more callers",
               {{"reason", i == kGrpcCalls ? "gRPC calls" : explain(static_cast<CallerRefusal>(i))},
                {"not_logged", std::to_string(minute.lines - kLinesAMinute)}});
    minute.lines = 0;
  }
}

}  // namespace chipweave::sched
