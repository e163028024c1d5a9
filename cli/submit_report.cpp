// How the outcome of a submission is shown.
#include <algorithm>

#include "cli/json_line.hpp"
#include "cli/submit.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"

namespace chipweave::cli {
namespace {

// A ring needs two chips; a single one has no figure.
std::string figure(const std::optional<double>& gbps) {
  return gbps && *gbps > 0 ? gbps_text(*gbps) : "-";
}

std::string figure(const std::optional<OtherChoice>& other) {
  if (!other) return "-";
  if (!other->legal) return "illegal";
  return figure(std::optional<double>(other->gbps));
}

std::string json_choice(const std::optional<OtherChoice>& choice) {
  if (!choice) return "null";
  return JsonLine()
      .numbers("chips", choice->chips)
      .number("gbps", choice->gbps)
      .flag("legal", choice->legal)
      .done();
}

std::string json_pod(const SubmittedPod& pod) {
  JsonLine line;
  line.text("namespace", pod.ns).text("name", pod.name).text("resource", pod.resource);
  line.number("asked", pod.asked).text("node", pod.node).numbers("chips", pod.chips);
  line.number("gbps", pod.gbps);
  line.raw("best_gbps", pod.best_gbps ? json_number(*pod.best_gbps) : "null");
  line.text("reason", pod.reason);
  if (pod.comparison) {
    line.raw("pair_sum", json_choice(pod.comparison->pair_sum));
    line.raw("first_fit", json_choice(pod.comparison->first_fit));
  }
  return line.done();
}

std::vector<std::string> row_of(const SubmittedPod& pod, bool compare) {
  const std::string asked = pod.asked > 0 ? "(" + std::to_string(pod.asked) + ")" : "-";
  if (!pod.placed()) return {pod.ns + "/" + pod.name, "pending", asked};
  std::vector<std::string> cells{pod.ns + "/" + pod.name, pod.node, chip_list(pod.chips),
                                 figure(pod.gbps), figure(pod.best_gbps)};
  if (compare) {
    cells.push_back(pod.comparison ? figure(pod.comparison->pair_sum) : "-");
    cells.push_back(pod.comparison ? figure(pod.comparison->first_fit) : "-");
  }
  return cells;
}

}  // namespace

std::string submit_text(const std::vector<SubmittedPod>& pods, bool compare, bool colours) {
  using Align = Table::Align;
  std::vector<Table::Column> columns{
      {"POD"}, {"NODE"}, {"CHIPS"}, {"GB/s", Align::right}, {"BEST GB/s", Align::right}};
  if (compare) {
    columns.push_back({"PAIR-SUM GB/s", Align::right});
    columns.push_back({"FIRST-FIT GB/s", Align::right});
  }
  Table table(std::move(columns));
  std::string reasons;
  for (const SubmittedPod& pod : pods) {
    table.add(row_of(pod, compare), pod.placed() ? Colour::none : Colour::yellow);
    if (!pod.placed()) {
      reasons += wrapped("  " + pod.ns + "/" + pod.name + ": " + pod.reason, 4) + "\n";
    }
  }
  std::string out = table.text(colours);
  if (!reasons.empty()) out += "Pending:\n" + reasons;
  return out;
}

std::string submit_json(const std::vector<SubmittedPod>& pods) {
  std::vector<std::string> items;
  items.reserve(pods.size());
  for (const SubmittedPod& pod : pods) items.push_back(json_pod(pod));
  const auto placed =
      std::count_if(pods.begin(), pods.end(), [](const SubmittedPod& pod) { return pod.placed(); });
  return JsonLine()
             .raw("pods", json_list(items))
             .number("placed", static_cast<double>(placed))
             .number("pending", static_cast<double>(pods.size()) - static_cast<double>(placed))
             .done() +
         "\n";
}

}  // namespace chipweave::cli
