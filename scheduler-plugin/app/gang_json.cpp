#include "scheduler-plugin/app/gang_json.hpp"

namespace chipweave::sched {

void write_gang(JsonWriter& w, const GangMark* mark) {
  if (mark == nullptr) return;
  w.key("gang").begin_object().field("framework", mark->framework).field("name", mark->name);
  if (!mark->role.empty()) w.field("role", mark->role);
  if (mark->index) w.key("index").integer(*mark->index);
  if (mark->size) w.key("size").integer(*mark->size);
  if (mark->minimum) w.key("minimum").integer(*mark->minimum);
  if (mark->spares > 0) w.key("spares").integer(mark->spares);
  if (!mark->problem.empty()) w.field("problem", mark->problem);
  w.end_object();
}

}  // namespace chipweave::sched
