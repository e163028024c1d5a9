// A rank table as the HTTP API shows it (docs/reference/http.md).
#pragma once

#include <string>

#include "scheduler-plugin/ranktables/rank_tables.hpp"

namespace chipweave::sched {

// whole: with its text.
std::string rank_table_json(const PublishedTable& table, bool whole);

}  // namespace chipweave::sched
