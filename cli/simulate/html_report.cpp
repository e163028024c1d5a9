#include "cli/simulate/html_report.hpp"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "cli/simulate/svg_chart.hpp"
#include "cli/terminal.hpp"

namespace chipweave::cli {
namespace {

// Okabe and Ito's palette, which people with any colour vision can tell apart.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #dfe4ea; --page: #f4f6f8;
  --card: #fff; --c0: #e69f00; --c1: #56b4e9; --c2: #009e73; --c3: #cc79a7; --c4: #0072b2;
  --ours: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa5b4; --line: #303a47;
  --page: #12171e; --card: #1b222c; --c4: #4ea3e0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1340px; margin: 0 auto; padding: 28px 20px 48px; }
h1 { font-size: 25px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 0 0 2px; }
p { margin: 0 0 8px; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr));
  gap: 16px; margin-top: 18px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px 18px; min-width: 0; overflow-x: auto; }
.wide { grid-column: 1 / -1; }
.goal { display: flex; gap: 10px; align-items: baseline; margin: 4px 0; }
.tag { flex: none; border-radius: 99px; padding: 1px 10px; font-size: 12.5px; font-weight: 600;
  color: #fff; background: #b4460f; } .tag.yes { background: #0a7d59; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: 13px; }
th:first-child, td:first-child { text-align: left; } tr:last-child td { border-bottom: 0; }
tr.ours td { font-weight: 650; }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 16px 0 0; font-size: 14px; }
.key i { display: inline-block; width: 18px; height: 4px; border-radius: 2px; margin-right: 6px;
  vertical-align: middle; background: currentColor; }
.key .c0 { color: var(--c0); } .key .c1 { color: var(--c1); } .key .c2 { color: var(--c2); }
.key .c3 { color: var(--c3); } .key .c4 { color: var(--c4); } .key .ours { color: var(--ours); }
.key span { color: var(--ink); }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.grid { stroke: var(--line); } .tick, .axis { fill: var(--soft); } .name, .value { fill: var(--ink); }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .curve.ours { stroke-width: 3; }
.curve.c0 { stroke: var(--c0); } .curve.c1 { stroke: var(--c1); } .curve.c2 { stroke: var(--c2); }
.curve.c3 { stroke: var(--c3); } .curve.c4 { stroke: var(--c4); } .curve.ours { stroke: var(--ours); }
.track { fill: var(--page); } .bar.c0 { fill: var(--c0); } .bar.c1 { fill: var(--c1); }
.bar.c2 { fill: var(--c2); } .bar.c3 { fill: var(--c3); } .bar.c4 { fill: var(--c4); }
.bar.ours { fill: var(--ours); } .mark { stroke: var(--ink); stroke-width: 2; }
ul { margin: 4px 0 0; padding-left: 20px; }
)";

// The class of a policy's colour.
std::string colour_of(const SimulationReport& report, const PolicyReport& policy) {
  if (policy.name == "chipweave") return "ours";
  constexpr std::ptrdiff_t kColours = 5;
  return "c" + std::to_string((&policy - report.policies.data()) % kColours);
}

std::string card(const std::string& title, const std::string& says, const std::string& content,
                 bool wide = false) {
  return fmt::format(
      "<section class=\"card{}\"><h2>{}</h2><p class=\"soft\">{}</p>\n{}</section>\n",
      wide ? " wide" : "", html_text(title), html_text(says), content);
}

std::string curves(const SimulationReport& report, const Axis& y,
                   const std::function<double(const simulate::Sample&)>& value) {
  std::vector<Curve> curves;
  for (const PolicyReport& p : report.policies) {
    Curve curve{p.name, colour_of(report, p), {}};
    for (const simulate::Sample& s : p.samples) {
      constexpr double kHour = 3600;
      curve.points.emplace_back(report.pods_end ? s.time_s / kHour : s.asked, value(s));
    }
    curves.push_back(std::move(curve));
  }
  return curves_svg(curves,
                    report.pods_end ? Axis{"hours", 1}
                                    : Axis{"chips that pods have asked for, % of the cluster", 100},
                    y);
}

std::string percent_text(double share) { return fmt::format("{:.2f} %", share * 100); }

std::string speed_bars(const SimulationReport& report) {
  std::vector<Bar> bars;
  for (const PolicyReport& p : report.policies) {
    const simulate::Summary& s = p.summary;
    const double alone = s.of_alone > 0 ? s.mean_gbps / s.of_alone : 0;
    bars.push_back({p.name, colour_of(report, p), s.mean_gbps, alone,
                    fmt::format("{} GB/s, {:.3f}", gbps_text(s.mean_gbps), s.of_alone)});
  }
  return bars_svg(bars);
}

std::string decision_bars(const SimulationReport& report) {
  std::vector<Bar> bars;
  for (const PolicyReport& p : report.policies) {
    const simulate::Distribution& d = p.summary.decision_ns;
    bars.push_back(
        {p.name, colour_of(report, p), d.median, 0,
         fmt::format("{:.1f} µs, p99 {:.1f}", d.median / kNanosPerMicro, d.p99 / kNanosPerMicro)});
  }
  return bars_svg(bars);
}

// Rows of cells as a table; the first row is the header.
std::string table_html(const SimulationReport& report,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool ours = i > 0 && report.policies[i - 1].name == "chipweave";
    out += ours ? "<tr class=\"ours\">" : "<tr>";
    const char* kind = i == 0 ? "th" : "td";
    for (const std::string& cell : rows[i])
      out += fmt::format("<{0}>{1}</{0}>", kind, html_text(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string figures(const SimulationReport& report) {
  std::vector<std::vector<std::string>> rows{{"policy", "placed", "refused", "allocated",
                                              "fragmented", "fragmented, mean", "mean GB/s",
                                              "worst", "of alone"}};
  for (const PolicyReport& p : report.policies) {
    const simulate::Summary& s = p.summary;
    rows.push_back({p.name, std::to_string(s.placed), std::to_string(s.never_placed),
                    percent_text(report.pods_end ? s.allocated.mean : s.allocated.at_end),
                    percent_text(s.fragmented.at_end), percent_text(s.fragmented.mean),
                    gbps_text(s.mean_gbps), gbps_text(s.worst_gbps),
                    fmt::format("{:.3f}", s.of_alone)});
  }
  return table_html(report, rows);
}

std::string sizes(const SimulationReport& report) {
  std::vector<std::vector<std::string>> rows{{"policy"}};
  for (const auto& size : report.policies.front().summary.sizes) {
    if (size.chips < 2) continue;
    const std::string n = std::to_string(size.chips);
    rows[0].insert(rows[0].end(), {n + " chips: placed", "GB/s", "worst", "alone"});
  }
  for (const PolicyReport& p : report.policies) {
    std::vector<std::string> row{p.name};
    for (const auto& size : p.summary.sizes) {
      if (size.chips < 2) continue;
      row.insert(row.end(),
                 {fmt::format("{} of {}", size.placed, size.arrived), gbps_text(size.mean_gbps),
                  gbps_text(size.worst_gbps), gbps_text(size.alone_gbps)});
    }
    rows.push_back(std::move(row));
  }
  return table_html(report, rows);
}

std::string waits(const SimulationReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"policy", "pods that waited", "most at once", "mean wait", "p95", "longest"}};
  for (const PolicyReport& p : report.policies) {
    const simulate::Summary& s = p.summary;
    const auto seconds = [](double value) { return fmt::format("{:.0f} s", value); };
    rows.push_back({p.name, std::to_string(s.waited), std::to_string(s.most_waiting),
                    seconds(s.wait_s.mean), seconds(s.wait_s.p95), seconds(s.wait_s.most)});
  }
  return table_html(report, rows);
}

std::string head(const SimulationReport& report) {
  std::string out = fmt::format(
      "<h1>chipweave simulate</h1>\n<p class=\"soft\">{} nodes, {} chips. Arrivals: {}.</p>\n",
      report.nodes, report.chips, html_text(report.arrivals));
  for (const Goal& goal : goals_of(report)) {
    out += fmt::format("<p class=\"goal\"><span class=\"tag{}\">{}</span><span>{}</span></p>\n",
                       goal.reached ? " yes" : "", goal.reached ? "reached" : "not reached",
                       html_text(goal.text));
  }
  out += "<div class=\"key\">";
  for (const PolicyReport& p : report.policies) {
    out += fmt::format("<b class=\"{}\" title=\"{}\"><i></i><span>{}</span></b>",
                       colour_of(report, p), html_text(p.help), html_text(p.name));
  }
  return out + "</div>\n";
}

std::string foot(const SimulationReport& report) {
  std::string out = "<ul>\n";
  const auto item = [&out](const std::string& text) {
    out += "<li>" + html_text(text) + "</li>\n";
  };
  for (const PolicyReport& p : report.policies) item(p.name + ": " + p.help);
  std::string machines = "machines:";
  for (const MachineCount& m : report.machines)
    machines += fmt::format(" {} {}{}", m.nodes, m.kind, &m == &report.machines.back() ? "" : ",");
  item(machines);
  item(fmt::format("chipweave's bandwidth tolerance {:.3g} %, useful GB/s per peer {:.4g}",
                   report.preference.tolerance * 100, report.preference.useful_gbps_per_peer));
  for (const std::string& note : report.notes) item(note);
  return out + "</ul>\n";
}

}  // namespace

std::string report_html(const SimulationReport& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>chipweave simulate</title><style>" +
      std::string(kStyle) + "</style></head><body><main>\n" + head(report) +
      "<div class=\"cards\">\n";
  if (!report.policies.empty()) {
    out += card("Bandwidth",
                "Mean predicted GB/s of pods with several chips; the mark is what each of them "
                "would have alone on the empty cluster",
                speed_bars(report));
    out += card("Fragmentation", "Free chips that a typical pod cannot use, % of all chips",
                curves(report, {"% of all chips", 100},
                       [](const simulate::Sample& s) { return s.fragmented; }));
    out += card("Allocation", "Chips in use, % of all chips",
                curves(report, {"% of all chips", 100},
                       [](const simulate::Sample& s) { return s.allocated; }));
    if (report.pods_end) {
      out += card("Queue", "Pods that wait",
                  curves(report, {"pods", 1},
                         [](const simulate::Sample& s) { return static_cast<double>(s.waiting); }));
      out += card("Waiting", "Of placed pods, those that did not wait included", waits(report));
    }
    out += card("Decision", "Median time of one decision in this run, and its 99th percentile",
                decision_bars(report));
    out += card("Figures", "Shares of all chips, after the last arrival and on average until then",
                figures(report), true);
    out += card("By size", "Predicted GB/s; alone: of the same pods on the empty cluster",
                sizes(report), true);
  }
  return out + card("How", "Policies and assumptions", foot(report), true) +
         "</div>\n</main></body></html>\n";
}

}  // namespace chipweave::cli
