// What is done about a bug: an exception that escapes a task of the loop ends the process, and the
// next process reports it.
#pragma once

#include "common/base/clock.hpp"
#include "common/http/loop.hpp"
#include "scheduler-plugin/crash_file.hpp"
#include "scheduler-plugin/server/metrics.hpp"

namespace chipweave::sched {

inline constexpr int kBug = 70;  // EX_SOFTWARE of sysexits.h

// From now on an escaped exception ends the process with kBug, after it was added to the file. Runs
// no destructor: what they would find may be half changed. Clock and file must outlive the loop.
void end_on_escape(http::Loop& loop, const Clock& clock, const CrashFile& file);

// Shows how often earlier processes ended this way.
void count_crashes(const CrashFile& file, Metrics& metrics);

}  // namespace chipweave::sched
