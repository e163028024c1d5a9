// What a pod says about its gang, as JSON for people and scripts.
#pragma once

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {

// Key "gang":
// {"framework":"volcano","name":"train","role":"worker","index":3,"size":8,"minimum":8}, each only
// if the pod says it, and "problem" for a value that cannot be used. Null: no such key.
void write_gang(JsonWriter& w, const GangMark* mark);

}  // namespace chipweave::sched
