#include "common/solver/collectives/all_reduce.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/domain/link_rates.hpp"

namespace chipweave::solver {
namespace {

constexpr double kTreeShare = 0.92;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The least of some terms, with its name.
class Least {
 public:
  explicit Least(std::string algorithm) { out_.algorithm = std::move(algorithm); }
  void add(double gbps, const std::string& name) {
    if (gbps >= least_) return;
    least_ = gbps;
    out_.limit = name;
  }
  AllReduce times(double factor) {
    out_.gbps = least_ * factor;
    return out_;
  }
  bool empty() const { return least_ == kNoLimit; }

 private:
  AllReduce out_;
  double least_ = kNoLimit;
};

struct Counted {
  int nodes = 0;
  double chips = 0;
};
Counted count(const GangShape& shape) {
  Counted out;
  for (const NodeBandwidth& node : shape.nodes) {
    out.nodes += node.chips > 0 ? 1 : 0;
    out.chips += node.chips;
  }
  return out;
}

void add_network(Least& least, const GangBandwidth& ring, double weight) {
  if (ring.rails) least.add(*ring.rails * weight, ring.rails_text);
  for (const LevelBandwidth& level : ring.levels)
    if (level.gbps) least.add(*level.gbps * weight, "level " + level.name);
}

// Whether the switches of all nodes that have several chips reduce; the least share of a chip.
bool add_reduction(Least& least, const GangShape& shape, bool one_switch, double chips) {
  for (const NodeBandwidth& node : shape.nodes) {
    if (node.chips < 2) continue;
    if (node.reduction_gbps <= 0) return false;
    const double of = one_switch ? chips : node.chips;
    least.add(node.reduction_gbps * of / (of + 1), "chips of " + node.name);
  }
  return !least.empty();
}

}  // namespace

double reduction_gbps(const domain::NodeTopology& topology, domain::ChipSet chips,
                      double set_gbps) {
  const bool on_one = std::any_of(
      topology.switches().begin(), topology.switches().end(), [chips](const domain::Switch& one) {
        return one.kind == domain::LinkKind::nvswitch && one.members().contains(chips);
      });
  if (!on_one || chips.size() < 2) return 0;
  const std::string& model =
      topology.model().empty() ? topology.chip(chips.lowest()).model : topology.model();
  return domain::in_switch_reduction(model) * set_gbps;
}

std::optional<AllReduce> all_reduce(const GangShape& shape, const GangBandwidth& ring) {
  if (!ring.gbps) return std::nullopt;
  AllReduce best{*ring.gbps, "ring", ring.limit_text};
  const auto offer = [&best](const AllReduce& other) {
    if (other.gbps > best.gbps) best = other;
  };
  const Counted all = count(shape);
  const double moved = 2 * (all.chips - 1) / all.chips;  // of the buffer, by bus bandwidth
  if (all.nodes == 1 || ring.chip_fabric) {
    Least nvls("nvls");
    if (add_reduction(nvls, shape, ring.chip_fabric.has_value(), all.chips))
      offer(nvls.times(moved));
    return best;
  }
  if (!shape.trees || !ring.rails) return best;
  if (all.nodes == 2) {
    Least tree("tree");
    if (ring.chips) tree.add(*ring.chips / 2, "chips of " + ring.slowest_node);
    add_network(tree, ring, 1);
    offer(tree.times(kTreeShare * moved));
  }
  Least nvls_tree("nvls tree");
  if (!add_reduction(nvls_tree, shape, false, all.chips)) return best;
  add_network(nvls_tree, ring, all.nodes == 2 ? kTreeShare : 0.5);
  offer(nvls_tree.times(moved));
  return best;
}

}  // namespace chipweave::solver
