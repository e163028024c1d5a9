// Renders the outcome of a submission.
#include <cstdint>

#include "cli/submit.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"

namespace chipweave::cli {
namespace {

// A ring needs two chips; a single chip has no bandwidth.
std::string figure(double gbps) { return gbps > 0 ? gbps_text(gbps) : "-"; }

std::string figure(const std::optional<OtherChoice>& other) {
  if (!other) return "-";
  if (!other->legal) return "illegal";
  return figure(other->gbps);
}

void write_choice(JsonWriter& w, const char* key, const std::optional<OtherChoice>& choice) {
  w.key(key);
  if (!choice) {
    w.raw("null");
    return;
  }
  w.begin_object().key("chips").integers(choice->chips).key("gbps").number(choice->gbps);
  w.key("legal").boolean(choice->legal).end_object();
}

void write_pod(JsonWriter& w, const SubmittedPod& pod) {
  w.begin_object().field("namespace", pod.ns).field("name", pod.name);
  w.field("resource", pod.resource).key("requested").integer(pod.requested);
  w.field("node", pod.node).key("chips").integers(pod.chips);
  w.key("gbps").number(pod.gbps).key("best_gbps").number(pod.best_gbps);
  w.field("reason", pod.reason).key("existed").boolean(pod.existed);
  if (pod.comparison) {
    write_choice(w, "pair_sum", pod.comparison->pair_sum);
    write_choice(w, "first_fit", pod.comparison->first_fit);
  }
  w.end_object();
}

std::vector<std::string> row_of(const SubmittedPod& pod, bool compare) {
  const std::string requested = pod.requested > 0 ? "(" + std::to_string(pod.requested) + ")" : "-";
  if (!pod.placed()) return {pod.ns + "/" + pod.name, "pending", requested};
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
  std::string existed;
  for (const SubmittedPod& pod : pods) {
    table.add(row_of(pod, compare), pod.placed() ? Colour::none : Colour::yellow);
    if (pod.existed && pod.placed())
      existed += (existed.empty() ? "" : ", ") + pod.ns + "/" + pod.name;
    if (!pod.placed()) {
      reasons += wrapped("  " + pod.ns + "/" + pod.name + ": " + pod.reason, 4) + "\n";
    }
  }
  std::string out = table.text(colours);
  if (!existed.empty()) out += wrapped("Unchanged, because they exist: " + existed, 2) + "\n";
  if (!reasons.empty()) out += "Pending:\n" + reasons;
  return out;
}

std::string submit_json(const std::vector<SubmittedPod>& pods) {
  JsonWriter w;
  w.begin_object().key("pods").begin_array();
  std::int64_t placed = 0;
  for (const SubmittedPod& pod : pods) {
    write_pod(w, pod);
    placed += pod.placed() ? 1 : 0;
  }
  w.end_array().key("placed").integer(placed);
  w.key("pending").integer(static_cast<std::int64_t>(pods.size()) - placed).end_object();
  return w.take() + "\n";
}

}  // namespace chipweave::cli
