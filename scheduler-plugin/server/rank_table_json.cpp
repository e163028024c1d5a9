#include "scheduler-plugin/server/rank_table_json.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::sched {

std::string rank_table_json(const PublishedTable& table, bool whole) {
  JsonWriter out;
  out.begin_object().field("kind", is_of_job(table.kind) ? "job" : "deployment");
  out.field("namespace", table.ns).field("name", table.name);
  out.key("complete").boolean(table.complete);
  out.field("problem", table.problem).key("missing").strings(table.missing);
  if (whole) out.key("table").raw(table.text.empty() ? "null" : table.text);
  if (whole && table.pd) {
    out.key("locals").begin_object();
    for (const auto& [pod, text] : table.pd->locals) out.key(pod).raw(text);
    out.end_object();
  }
  if (whole && table.route) {
    out.key("tors").raw(table.route->tors);
    out.key("plan").raw(table.route->plan.empty() ? "null" : table.route->plan);
  }
  return out.end_object().take();
}

}  // namespace chipweave::sched
