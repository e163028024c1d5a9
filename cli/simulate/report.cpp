#include "cli/simulate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"

namespace chipweave::cli {
namespace {

using Align = Table::Align;
using simulate::Summary;

constexpr double kGoalOfAlone = 0.98;

std::string percent(double share) { return fmt::format("{:.2f}", share * 100); }

// As shown: differences below the last digit do not decide a goal.
double rounded(double share) { return std::round(share * 10000); }

std::string ratio(double value) { return value > 0 ? fmt::format("{:.3f}", value) : "-"; }

std::string figures_table(const SimulationReport& report, bool colours) {
  Table table({{"POLICY"},
               {"PLACED", Align::right},
               {"REFUSED", Align::right},
               {"ALLOCATED %", Align::right},
               {"FRAGMENTED %", Align::right},
               {"MEAN", Align::right},
               {"µs/POD", Align::right},
               {"P99", Align::right}});
  for (const PolicyReport& p : report.policies) {
    const Summary& s = p.summary;
    table.add({p.name, std::to_string(s.placed), std::to_string(s.never_placed),
               percent(report.pods_end ? s.allocated.mean : s.allocated.at_end),
               percent(s.fragmented.at_end), percent(s.fragmented.mean),
               fmt::format("{:.1f}", s.decision_ns.median / kNanosPerMicro),
               fmt::format("{:.1f}", s.decision_ns.p99 / kNanosPerMicro)});
  }
  return table.text(colours);
}

// One row per policy: all pods with several chips, then the mean of each size.
std::string speed_table(const SimulationReport& report, bool colours) {
  std::vector<Table::Column> columns{{"PODS OF 2 CHIPS AND MORE"},
                                     {"PLACED", Align::right},
                                     {"GB/s", Align::right},
                                     {"WORST", Align::right},
                                     {"OF ALONE", Align::right}};
  if (!report.pods_end) columns.push_back({"OF MOST", Align::right});
  for (const auto& size : report.policies.front().summary.sizes) {
    if (size.chips > 1) columns.push_back({std::to_string(size.chips) + " CHIPS", Align::right});
  }
  Table table(std::move(columns));
  for (const PolicyReport& p : report.policies) {
    const Summary& s = p.summary;
    std::vector<std::string> cells{p.name, std::to_string(s.multi_chip_placed),
                                   gbps_text(s.mean_gbps), gbps_text(s.worst_gbps),
                                   ratio(s.of_alone)};
    if (!report.pods_end) cells.push_back(ratio(s.of_together));
    for (const auto& size : s.sizes) {
      if (size.chips > 1) cells.push_back(gbps_text(size.mean_gbps));
    }
    table.add(std::move(cells));
  }
  return table.text(colours);
}

std::string queue_table(const SimulationReport& report, bool colours) {
  Table table({{"WAITING"},
               {"PODS", Align::right},
               {"MOST AT ONCE", Align::right},
               {"MEAN s", Align::right},
               {"P95 s", Align::right},
               {"LONGEST s", Align::right}});
  for (const PolicyReport& p : report.policies) {
    const Summary& s = p.summary;
    table.add({p.name, std::to_string(s.waited), std::to_string(s.most_waiting),
               fmt::format("{:.0f}", s.wait_s.mean), fmt::format("{:.0f}", s.wait_s.p95),
               fmt::format("{:.0f}", s.wait_s.most)});
  }
  return table.text(colours);
}

void write_course(JsonWriter& json, const char* name, const simulate::Course& course) {
  json.key(name).begin_object();
  json.key("at_end").number(course.at_end).key("mean").number(course.mean).end_object();
}

void write_sizes(JsonWriter& json, const Summary& s) {
  json.key("sizes").begin_array();
  for (const auto& size : s.sizes) {
    json.begin_object().field("chips", size.chips).field("arrived", size.arrived);
    json.field("placed", size.placed).key("mean_gbps").number(size.mean_gbps);
    json.key("worst_gbps").number(size.worst_gbps).key("alone_gbps").number(size.alone_gbps);
    json.end_object();
  }
  json.end_array();
}

void write_curve(JsonWriter& json, const PolicyReport& p, bool pods_end) {
  json.key("curve").begin_array();
  for (const simulate::Sample& s : p.samples) {
    json.begin_object();
    if (pods_end) json.key("time_s").number(s.time_s).field("waiting", s.waiting);
    json.key("asked").number(s.asked).key("allocated").number(s.allocated);
    json.key("fragmented").number(s.fragmented).end_object();
  }
  json.end_array();
}

void write_policy(JsonWriter& json, const PolicyReport& p, bool pods_end) {
  const Summary& s = p.summary;
  json.begin_object().field("name", p.name).field("arrived", s.arrived);
  json.field("placed", s.placed).field("never_placed", s.never_placed);
  write_course(json, "allocated", s.allocated);
  write_course(json, "fragmented", s.fragmented);
  json.key("multi_chip").begin_object().field("arrived", s.multi_chip_arrived);
  json.field("placed", s.multi_chip_placed).key("mean_gbps").number(s.mean_gbps);
  json.key("worst_gbps").number(s.worst_gbps).key("of_alone").number(s.of_alone);
  if (!pods_end) json.key("of_most").number(s.of_together);
  json.end_object();
  write_sizes(json, s);
  if (pods_end) {
    json.key("queue").begin_object().field("waited", s.waited);
    json.field("most_waiting", s.most_waiting);
    write_distribution(json, "wait_s", s.wait_s, 1);
    json.end_object();
  }
  write_distribution(json, "decision_us", s.decision_ns, kNanosPerMicro);
  write_curve(json, p, pods_end);
  json.end_object();
}

}  // namespace

void write_distribution(JsonWriter& json, const char* name, const simulate::Distribution& d,
                        double unit) {
  json.key(name).begin_object();
  json.key("mean").number(d.mean / unit).key("median").number(d.median / unit);
  json.key("p95").number(d.p95 / unit).key("p99").number(d.p99 / unit);
  json.key("most").number(d.most / unit).end_object();
}

const PolicyReport* SimulationReport::find(std::string_view name) const {
  const auto it = std::find_if(policies.begin(), policies.end(),
                               [&](const PolicyReport& p) { return p.name == name; });
  return it == policies.end() ? nullptr : &*it;
}

std::vector<Goal> goals_of(const SimulationReport& report) {
  std::vector<Goal> goals;
  const PolicyReport* ours = report.find("chipweave");
  if (ours == nullptr || ours->summary.multi_chip_placed == 0) return goals;
  const Summary& s = ours->summary;
  std::string speed = fmt::format(
      "mean GB/s of pods with several chips: {:.3f} of what each would have alone on "
      "the empty cluster, goal {}",
      s.of_alone, kGoalOfAlone);
  if (s.of_together > 0) {
    speed += fmt::format("; no placement of these pods has more than {:.3f}",
                         std::min(1.0, s.of_alone / s.of_together));
  }
  goals.push_back({speed, s.of_alone >= kGoalOfAlone});
  const PolicyReport* fgd = report.find("fgd");
  if (fgd == nullptr) return goals;
  const Summary& f = fgd->summary;
  goals.push_back(
      {fmt::format("fragmentation no more than FGD's: {} % against {} % at the end, {} % against "
                   "{} % on average",
                   percent(s.fragmented.at_end), percent(f.fragmented.at_end),
                   percent(s.fragmented.mean), percent(f.fragmented.mean)),
       rounded(s.fragmented.at_end) <= rounded(f.fragmented.at_end) &&
           rounded(s.fragmented.mean) <= rounded(f.fragmented.mean)});
  return goals;
}

std::string report_text(const SimulationReport& report, bool colours) {
  std::string out = fmt::format("{} nodes with {} chips:", report.nodes, report.chips);
  for (const MachineCount& m : report.machines)
    out += fmt::format(" {} {}{}", m.nodes, m.kind, &m == &report.machines.back() ? "" : ",");
  out = wrapped(out, 2) + "\n" + wrapped("arrivals: " + report.arrivals, 2) + "\n\n";
  if (report.policies.empty()) return out;
  out += figures_table(report, colours) + "\n" + speed_table(report, colours);
  if (report.pods_end) out += "\n" + queue_table(report, colours);
  out += "\n";
  for (const Goal& goal : goals_of(report))
    out += wrapped((goal.reached ? "reached: " : "not reached: ") + goal.text, 2) + "\n";
  for (const std::string& note : report.notes) out += wrapped("note: " + note, 2) + "\n";
  return out;
}

std::string report_json(const SimulationReport& report) {
  JsonWriter json;
  json.begin_object().field("nodes", report.nodes).field("chips", report.chips);
  json.key("machines").begin_array();
  for (const MachineCount& m : report.machines) {
    json.begin_object().field("kind", m.kind).field("nodes", m.nodes);
    json.field("chips", m.chips).end_object();
  }
  json.end_array().field("trace_pods", report.trace_pods).field("arrivals", report.arrivals);
  json.field("seed", report.seed).key("pods_end").boolean(report.pods_end);
  json.key("tolerance").number(report.preference.tolerance);
  json.key("useful_gbps_per_peer").number(report.preference.useful_gbps_per_peer);
  json.key("policies").begin_array();
  for (const PolicyReport& p : report.policies) write_policy(json, p, report.pods_end);
  json.end_array().key("goals").begin_array();
  for (const Goal& goal : goals_of(report)) {
    json.begin_object().field("text", goal.text).key("reached").boolean(goal.reached);
    json.end_object();
  }
  json.end_array().key("notes").strings(report.notes).end_object();
  return json.take();
}

}  // namespace chipweave::cli
