#include "cli/simulate/gangs/gang_report.hpp"

#include <fmt/format.h>

#include "cli/simulate/report.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

using Align = Table::Align;
using simulate::GangSummary;
using simulate::LevelSpread;

std::string seconds(double s) { return fmt::format("{:.0f}", s); }

std::string queue_text(double patience_s) {
  if (patience_s <= 0) return "queue: by priority, then by arrival; no gang passes a waiting one";
  return fmt::format(
      "queue: by priority, then by arrival; a gang that does not fit lets others pass for {:g} s",
      patience_s);
}

std::string queue_table(const GangSimulationReport& report, bool colours) {
  Table table({{"POLICY"},
               {"STARTED", Align::right},
               {"NEVER", Align::right},
               {"USED %", Align::right},
               {"WAIT MEAN s", Align::right},
               {"MEDIAN", Align::right},
               {"P95", Align::right},
               {"P99", Align::right},
               {"END s", Align::right},
               {"µs/GANG", Align::right}});
  for (const GangPolicyReport& p : report.policies) {
    const GangSummary& s = p.summary;
    table.add({p.name, std::to_string(s.started), std::to_string(s.never_fit + s.refused),
               fmt::format("{:.2f}", s.used_until_last_arrival * 100), seconds(s.wait_s.mean),
               seconds(s.wait_s.median), seconds(s.wait_s.p95), seconds(s.wait_s.p99),
               seconds(s.end_s), fmt::format("{:.1f}", s.decision_ns.median / kNanosPerMicro)});
  }
  return table.text(colours);
}

std::string spread_table(const GangSimulationReport& report, bool colours) {
  Table table({{"LEVEL"},
               {"POLICY"},
               {"CROSSINGS", Align::right},
               {"DOMAINS", Align::right},
               {"FEWEST", Align::right},
               {"ALONE", Align::right}});
  for (std::size_t level = 0; level < report.levels.size(); ++level) {
    for (const GangPolicyReport& p : report.policies) {
      const LevelSpread& s = p.summary.levels[level];
      table.add({report.levels[level], p.name, std::to_string(s.crossings),
                 std::to_string(s.domains), std::to_string(s.fewest), std::to_string(s.alone)});
    }
  }
  return table.text(colours);
}

void write_levels(JsonWriter& json, const GangSimulationReport& report, const GangSummary& s) {
  json.key("levels").begin_array();
  for (std::size_t level = 0; level < s.levels.size(); ++level) {
    const LevelSpread& at = s.levels[level];
    json.begin_object().field("level", report.levels[level]).field("crossings", at.crossings);
    json.field("domains", at.domains).field("fewest", at.fewest).field("alone", at.alone);
    json.end_object();
  }
  json.end_array();
}

void write_sizes(JsonWriter& json, const GangSummary& s) {
  json.key("sizes").begin_array();
  for (const simulate::GangSizeSummary& size : s.sizes) {
    json.begin_object().field("chips", size.chips).field("arrived", size.arrived);
    json.field("started", size.started);
    write_distribution(json, "wait_s", size.wait_s, 1);
    json.end_object();
  }
  json.end_array();
}

void write_policy(JsonWriter& json, const GangSimulationReport& report, const GangPolicyReport& p) {
  const GangSummary& s = p.summary;
  json.begin_object().field("name", p.name).field("arrived", s.arrived);
  json.field("started", s.started).field("never_fit", s.never_fit).field("refused", s.refused);
  json.key("used").begin_object().key("until_last_arrival").number(s.used_until_last_arrival);
  json.key("until_end").number(s.used_until_end).end_object();
  json.key("end_s").number(s.end_s);
  json.key("queue").begin_object().field("waited", s.waited);
  json.field("most_waiting", s.most_waiting);
  write_distribution(json, "wait_s", s.wait_s, 1);
  json.end_object();
  write_levels(json, report, s);
  write_sizes(json, s);
  write_distribution(json, "decision_us", s.decision_ns, kNanosPerMicro);
  json.key("curve").begin_array();
  for (const simulate::GangSample& sample : p.samples) {
    json.begin_object().key("time_s").number(sample.time_s).key("used").number(sample.used);
    json.field("waiting", sample.waiting).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string report_text(const GangSimulationReport& report, bool colours) {
  std::string out = wrapped(fmt::format("{} nodes with {} chips; levels: {}", report.nodes,
                                        report.chips, joined(report.levels, ", ")),
                            2) +
                    "\n" + wrapped("gangs: " + report.gangs, 2) + "\n" +
                    wrapped(queue_text(report.patience_s), 2) + "\n\n";
  out += queue_table(report, colours) + "\n" + spread_table(report, colours) + "\n";
  for (const std::string& note : report.notes) out += wrapped("note: " + note, 2) + "\n";
  return out;
}

std::string report_json(const GangSimulationReport& report) {
  JsonWriter json;
  json.begin_object().field("nodes", report.nodes).field("chips", report.chips);
  json.key("levels").strings(report.levels).field("gangs", report.gangs);
  json.field("seed", report.seed).key("patience_s").number(report.patience_s);
  json.key("policies").begin_array();
  for (const GangPolicyReport& p : report.policies) write_policy(json, report, p);
  json.end_array().key("notes").strings(report.notes).end_object();
  return json.take();
}

}  // namespace chipweave::cli
