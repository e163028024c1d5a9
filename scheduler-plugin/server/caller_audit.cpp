#include "scheduler-plugin/server/caller_audit.hpp"

#include "common/base/text.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxName = 120;  // a certificate's can be as long as it likes

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : std::move(text); }

}  // namespace

void CallerAudit::refused(const Refused& what, Clock::Steady now) {
  tick(now);
  Minute& minute = minutes_[static_cast<std::size_t>(what.why)];
  if (minute.lines == 0) minute.since = now;
  if (++minute.lines > kLinesAMinute) return;
  obs::log(obs::Level::warn, "refused a caller",
           {{"path", what.route},
            {"from", or_unknown(what.peer == nullptr ? "" : what.peer->address())},
            {"caller", or_unknown(with_dots(what.caller, kMaxName))},
            {"reason", explain(what.why)}});
}

void CallerAudit::tick(Clock::Steady now) {
  for (int i = 0; i < kCallerRefusals; ++i) {
    Minute& minute = minutes_[static_cast<std::size_t>(i)];
    if (minute.lines == 0 || now - minute.since < std::chrono::minutes(1)) continue;
    if (minute.lines > kLinesAMinute)
      obs::log(obs::Level::warn, "refused more callers",
               {{"reason", explain(static_cast<CallerRefusal>(i))},
                {"not_logged", std::to_string(minute.lines - kLinesAMinute)}});
    minute.lines = 0;
  }
}

}  // namespace chipweave::sched
