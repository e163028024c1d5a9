#include "common/solver/gang/chips/gang_bandwidth.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "common/base/count_of.hpp"
#include "common/base/text.hpp"

namespace chipweave::solver {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double sum_of(const std::vector<Rail>& rails) {
  return std::accumulate(rails.begin(), rails.end(), 0.0,
                         [](double sum, const Rail& rail) { return sum + rail.gbps; });
}

// "n1, n2 and 3 more"
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 3;
  std::string out = joined(std::span(names).first(std::min(kNamed, names.size())), ", ");
  if (names.size() > kNamed) out += " and " + std::to_string(names.size() - kNamed) + " more";
  return out;
}

void add_chips(const GangShape& shape, GangBandwidth& out) {
  std::vector<std::string> unknown;
  for (const NodeBandwidth& node : shape.nodes) {
    if (node.chips < 2) continue;
    if (!node.set_gbps) unknown.push_back(node.name);
    if (!node.set_gbps || (out.chips && *out.chips <= *node.set_gbps)) continue;
    out.chips = node.set_gbps;
    out.slowest_node = node.name;
  }
  if (!unknown.empty())
    out.left_out.push_back("chips of " + names_text(unknown) + ": the machine is not known");
}

// Which adapters are not known, by reason: nodes of one kind are one sentence.
void name_unknown_rails(const std::vector<const NodeBandwidth*>& unknown, GangBandwidth& out) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const NodeBandwidth* node : unknown) by_reason[node->rails.unknown].push_back(node->name);
  for (const auto& [reason, names] : by_reason)
    out.left_out.push_back("rails of " + names_text(names) + ": " + reason);
}

void add_rails(const GangShape& shape, GangBandwidth& out) {
  struct Seen {
    std::size_t nodes = 0;
    double least = kNoLimit;
  };
  std::map<int, Seen> rails;
  std::vector<const NodeBandwidth*> known;
  std::vector<const NodeBandwidth*> unknown;
  for (const NodeBandwidth& node : shape.nodes) {
    if (node.chips == 0) continue;
    (node.rails.unknown.empty() ? known : unknown).push_back(&node);
  }
  name_unknown_rails(unknown, out);
  if (known.empty()) return;
  double crossing = kNoLimit;
  for (const NodeBandwidth* node : known) {
    for (const Rail& rail : node->rails.rails) {
      Seen& seen = rails[rail.index];
      ++seen.nodes;
      seen.least = std::min(seen.least, rail.gbps);
    }
    crossing = std::min(crossing, sum_of(node->rails.rails));
  }
  double aligned = 0;
  for (const auto& [index, seen] : rails) {
    if (seen.nodes != known.size()) continue;
    ++out.rails_used;
    aligned += seen.least;
  }
  out.aligned = out.rails_used > 0;
  out.rails = out.aligned ? aligned : crossing;
  out.rails_text = out.aligned ? count_of(static_cast<std::size_t>(out.rails_used), "rail")
                               : "adapters of nodes without a common rail";
}

void add_levels(const GangShape& shape, GangBandwidth& out) {
  for (const LevelBandwidth& level : shape.levels) {
    if (level.domains < 2) continue;
    out.levels.push_back(level);
    if (!level.gbps) {
      out.left_out.push_back("level " + level.name + ": " +
                             count_of(static_cast<std::size_t>(level.domains), "domain") +
                             ", what a node gets across is not given");
    }
  }
}

void take_least(GangBandwidth& out) {
  const auto offer = [&out](std::optional<double> gbps, const std::string& text) {
    if (!gbps || (out.gbps && *out.gbps <= *gbps)) return;
    out.gbps = gbps;
    out.limit_text = text;
  };
  offer(out.chips, "chips of " + out.slowest_node);
  offer(out.chip_fabric, "the chips' fabric between nodes");
  offer(out.rails, out.rails_text);
  for (const LevelBandwidth& level : out.levels) offer(level.gbps, "level " + level.name);
}

}  // namespace

GangBandwidth gang_bandwidth(const GangShape& shape) {
  GangBandwidth out;
  add_chips(shape, out);
  const auto nodes = std::count_if(shape.nodes.begin(), shape.nodes.end(),
                                   [](const NodeBandwidth& node) { return node.chips > 0; });
  if (nodes > 1) {
    if (shape.chip_fabric_gbps) {
      out.chip_fabric = shape.chip_fabric_gbps;
    } else {
      add_rails(shape, out);
      add_levels(shape, out);
    }
  }
  take_least(out);
  return out;
}

}  // namespace chipweave::solver
