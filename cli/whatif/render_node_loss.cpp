// Renders what the loss of nodes does.
#include <algorithm>
#include <utility>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/whatif/node_loss.hpp"
#include "common/base/count_of.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

std::string rate(double gbps) { return gbps > 0 ? gbps_text(gbps) : "-"; }

// "240 -> 150"; a single chip has no bandwidth.
std::string rates(const LostPod& pod) {
  if (pod.to)
    return pod.gbps > 0 || pod.to->gbps > 0 ? rate(pod.gbps) + " -> " + rate(pod.to->gbps) : "-";
  return rate(pod.gbps);
}

// Indices, or how many where they are not known.
std::string chips_text(const std::vector<int>& chips, int requested) {
  return chips.empty() ? "(" + std::to_string(requested) + ")" : chip_list(chips);
}

std::size_t without_place(const NodeLoss& loss) {
  return static_cast<std::size_t>(std::count_if(loss.pods.begin(), loss.pods.end(),
                                                [](const LostPod& pod) { return !pod.to; }));
}

std::string head_line(const NodeLoss& loss) {
  const bool one = loss.nodes.size() == 1;
  std::string out = joined(loss.nodes, ", ");
  if (loss.kind == LossKind::fail)
    out += one ? " fails: " : " fail: ";
  else
    out += one ? " is drained: " : " are drained: ";
  if (loss.pods.empty()) return out + "no pod loses whole chips";
  int chips = 0;
  for (const LostPod& pod : loss.pods) chips += pod.requested;
  out += count_of(loss.pods.size(), "pod") + (loss.pods.size() == 1 ? " loses " : " lose ") +
         count_of(chips, "chip") + "; ";
  const std::size_t without = without_place(loss);
  if (without == 0)
    return out + (loss.pods.size() == 1 ? "it fits elsewhere" : "all fit elsewhere");
  const std::size_t fit = loss.pods.size() - without;
  return out + std::to_string(fit) + (fit == 1 ? " fits" : " fit") + " elsewhere, " +
         std::to_string(without) + (without == 1 ? " does not" : " do not");
}

std::string pod_table(const NodeLoss& loss, bool colours) {
  Table table({{"POD"}, {"FROM"}, {"CHIPS"}, {"TO"}, {"NEW CHIPS"}, {"GB/s"}});
  for (const LostPod& pod : loss.pods) {
    table.add({pod.ns + "/" + pod.name, pod.node, chips_text(pod.chips, pod.requested),
               pod.to ? pod.to->node : "-", pod.to ? chip_list(pod.to->chips) : "-", rates(pod)},
              pod.to ? Colour::none : Colour::yellow);
  }
  return table.text(colours);
}

// "team/train: loses 2 of 4 pods and stops, since it needs 4; the lost ones fit elsewhere"
std::string gang_line(const AffectedGang& gang) {
  std::string out = "  " + gang.ns + "/" + gang.name + ": loses " + std::to_string(gang.lost) +
                    " of " + count_of(gang.bound, "pod");
  out += gang.stops() ? " and stops, since it needs " : " and goes on, since it needs ";
  out += std::to_string(gang.quorum) + "; " + std::to_string(gang.placed) + " of the lost " +
         (gang.placed == 1 ? "fits" : "fit") + " elsewhere";
  if (!gang.fits()) out += ", too few to start again";
  return wrapped(out, 4) + "\n";
}

void write_place(JsonWriter& w, const std::string& node, const std::vector<int>& chips,
                 double gbps) {
  w.field("node", node).key("chips").integers(chips).key("gbps").number(gbps);
}

void write_pod(JsonWriter& w, const LostPod& pod) {
  w.begin_object().field("namespace", pod.ns).field("name", pod.name);
  w.field("resource", pod.resource).key("requested").integer(pod.requested);
  w.field("gang", pod.gang).key("from").begin_object();
  write_place(w, pod.node, pod.chips, pod.gbps);
  w.end_object().key("to");
  if (pod.to) {
    w.begin_object();
    write_place(w, pod.to->node, pod.to->chips, pod.to->gbps);
    w.key("best_gbps").number(pod.to->best_gbps).end_object();
  } else {
    w.raw("null");
  }
  w.field("reason", pod.reason).end_object();
}

}  // namespace

std::string node_loss_text(const NodeLoss& loss, bool colours) {
  std::string out = wrapped(head_line(loss), 2) + "\n";
  if (!loss.pods.empty()) out += "\n" + pod_table(loss, colours);
  std::string reasons;
  for (const LostPod& pod : loss.pods)
    if (!pod.to) reasons += wrapped("  " + pod.ns + "/" + pod.name + ": " + pod.reason, 4) + "\n";
  if (!reasons.empty()) out += "Without a place:\n" + reasons;
  if (!loss.gangs.empty()) out += "Gangs that lose pods:\n";
  for (const AffectedGang& gang : loss.gangs) out += gang_line(gang);
  if (!loss.with_parts.empty())
    out +=
        wrapped("Not considered, because they use parts of chips: " + joined(loss.with_parts, ", "),
                2) +
        "\n";
  return out + "Free chips: " + std::to_string(loss.free_before) + " now, " +
         std::to_string(loss.free_without) + " without " +
         (loss.nodes.size() == 1 ? "the node" : "the nodes") + ", " +
         std::to_string(loss.free_after) + " with the pods in their new places\n";
}

std::string node_loss_json(const NodeLoss& loss) {
  JsonWriter w;
  w.begin_object().field("event", loss.kind == LossKind::fail ? "fail" : "drain");
  w.key("nodes").strings(loss.nodes).key("pods").begin_array();
  for (const LostPod& pod : loss.pods) write_pod(w, pod);
  w.end_array().key("gangs").begin_array();
  for (const AffectedGang& gang : loss.gangs) {
    w.begin_object().field("namespace", gang.ns).field("name", gang.name);
    w.key("bound").integer(gang.bound).key("lost").integer(gang.lost);
    w.key("placed").integer(gang.placed).key("quorum").integer(gang.quorum);
    w.key("stops").boolean(gang.stops()).key("fits").boolean(gang.fits()).end_object();
  }
  w.end_array().key("not_considered").strings(loss.with_parts);
  w.key("free").begin_object().key("before").integer(loss.free_before);
  w.key("without").integer(loss.free_without).key("after").integer(loss.free_after).end_object();
  const std::size_t without = without_place(loss);
  w.key("placed").integer(static_cast<std::int64_t>(loss.pods.size() - without));
  w.key("without_place").integer(static_cast<std::int64_t>(without));
  return w.end_object().take() + "\n";
}

}  // namespace chipweave::cli
