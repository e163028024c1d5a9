#include "scheduler-plugin/crash_report.hpp"

#include <cstdlib>
#include <string>

#include "common/obs/log.hpp"

namespace chipweave::sched {

void end_on_escape(http::Loop& loop, const Clock& clock, const CrashFile& file) {
  loop.on_escape([&clock, &file](const std::string& what) {
    obs::log(obs::Level::error,
             "this is a bug: the process ends, and the next one reads the cluster",
             {{"what", what}});
    if (auto kept = file.add(rfc3339(clock.wall()), what); !kept)
      obs::log(obs::Level::error, "no crash file", {{"error", kept.error().text()}});
    std::_Exit(kBug);
  });
}

void count_crashes(const CrashFile& file, Metrics& metrics) {
  const auto earlier = file.read();
  if (!earlier) {
    obs::log(obs::Level::warn, "the crash file cannot be read",
             {{"error", earlier.error().text()}});
  } else if (earlier->count > 0) {
    metrics.crashed(earlier->count);
    obs::log(obs::Level::warn, "an earlier process ended because of a bug",
             {{"times", earlier->count}, {"last", earlier->last}});
  }
}

}  // namespace chipweave::sched
