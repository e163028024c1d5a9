#include "common/domain/topology_builder.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/limits.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/rule_guess.hpp"

namespace chipweave::domain {

// Collects messages; keeps the first kMaxListed, so that a broken file of 64 chips does not produce
// pages of output.
struct TopologyBuilder::Problems {
  static constexpr std::size_t kMaxListed = 8;
  std::vector<std::string> list;
  std::size_t total = 0;
  void add(std::string text) {
    ++total;
    if (list.size() < kMaxListed) list.push_back(std::move(text));
  }
  std::string joined() const {
    std::string out;
    for (const std::string& p : list) {
      if (!out.empty()) out += "; ";
      out += p;
    }
    if (total > list.size()) out += "; and " + std::to_string(total - list.size()) + " more";
    return out;
  }
};

namespace {

std::string pair_text(ChipIndex a, ChipIndex b) {
  return std::to_string(a.value) + "-" + std::to_string(b.value);
}

bool bad_rate(double gbps) { return !std::isfinite(gbps) || gbps <= 0 || gbps > limits::kMaxGbps; }

// The default rate of a kind for one model, looked up once a kind.
class DefaultRates {
 public:
  explicit DefaultRates(const std::string& model) : model_(model) {}
  double of(LinkKind kind) {
    const auto [it, fresh] = known_.try_emplace(kind, 0);
    if (fresh) it->second = default_gbps_per_lane(kind, model_);
    return it->second;
  }

 private:
  const std::string& model_;
  std::map<LinkKind, double> known_;
};

bool bad_lanes(int lanes, int down) {
  return lanes < 1 || lanes > limits::kMaxLanes || down < 0 || down > lanes;
}

}  // namespace

void TopologyBuilder::check_text(const std::string& where, const std::string& text,
                                 Problems& problems) {
  if (text.size() <= limits::kMaxFactBytes) return;
  problems.add(where + " has a name, model or id of " + std::to_string(text.size()) +
               " bytes, at most " + std::to_string(limits::kMaxFactBytes) + " are supported");
}

void TopologyBuilder::check_numa(const std::string& where, int numa, Problems& problems) {
  if (numa >= -1 && numa <= limits::kMaxNumaNode) return;
  problems.add(where + ": NUMA node " + std::to_string(numa) + " is not -1 (unknown) to " +
               std::to_string(limits::kMaxNumaNode));
}

void TopologyBuilder::add_chip(Chip chip) { chips_.push_back(std::move(chip)); }

void TopologyBuilder::add_link(ChipIndex a, ChipIndex b, LinkKind kind, int lanes,
                               std::optional<double> gbps_per_lane, int lanes_down) {
  links_.push_back({a, b, kind, lanes, gbps_per_lane, lanes_down});
}

void TopologyBuilder::add_switch(std::string name, LinkKind kind, std::vector<Port> ports,
                                 std::optional<double> gbps_per_lane) {
  switches_.push_back({std::move(name), kind, std::move(ports), gbps_per_lane});
}

void TopologyBuilder::add_nic(std::string name, std::string pci, int numa, double gbps,
                              std::map<ChipIndex, LinkKind> paths) {
  nics_.push_back({Nic{std::move(name), std::move(pci), numa, gbps, {}}, std::move(paths)});
}

void TopologyBuilder::add_partition(std::vector<ChipIndex> chips) {
  partitions_.push_back(std::move(chips));
}

int TopologyBuilder::slot(const NodeTopology& t, ChipIndex index, const std::string& where,
                          Problems& problems) const {
  if (const auto s = t.slot_of(index)) return *s;
  problems.add(where + " names chip " + std::to_string(index.value) +
               ", which the machine does not have");
  return -1;
}

void TopologyBuilder::place_chips(NodeTopology& t, Problems& problems) {
  if (chips_.empty()) problems.add("no chips");
  if (chips_.size() > static_cast<std::size_t>(limits::kMaxChips)) {
    problems.add(std::to_string(chips_.size()) + " chips, at most " +
                 std::to_string(limits::kMaxChips) + " are supported");
    chips_.resize(static_cast<std::size_t>(limits::kMaxChips));
  }
  std::stable_sort(chips_.begin(), chips_.end(),
                   [](const Chip& x, const Chip& y) { return x.index < y.index; });
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    if (chips_[i].index.value < 0) {
      problems.add("chip index " + std::to_string(chips_[i].index.value) + " is negative");
    }
    if (chips_[i].index.value > limits::kMaxChipIndex) {
      problems.add("chip index " + std::to_string(chips_[i].index.value) + " is above " +
                   std::to_string(limits::kMaxChipIndex));
    }
    const std::string where = "chip " + std::to_string(chips_[i].index.value);
    check_numa(where, chips_[i].numa, problems);
    for (const std::string* text : {&chips_[i].id, &chips_[i].model, &chips_[i].pci}) {
      check_text(where, *text, problems);
    }
    if (i > 0 && chips_[i].index == chips_[i - 1].index) {
      problems.add("two chips have index " + std::to_string(chips_[i].index.value));
    }
  }
  t.chips_ = std::move(chips_);
}

// a and b: the slots that it joins, a below b.
void TopologyBuilder::place_direct_link(NodeTopology& t, const LinkFact& f, double rate, int a,
                                        int b, const std::string& where, Problems& problems) {
  if (bad_lanes(f.lanes, f.lanes_down)) {
    problems.add(where + ": " + std::to_string(f.lanes) + " lanes, " +
                 std::to_string(f.lanes_down) + " of them down");
    return;
  }
  if (f.kind == LinkKind::nvswitch) {
    problems.add(where + ": NVSWITCH joins a chip to a switch, not two chips (use \"switches\")");
    return;
  }
  if (bad_rate(rate)) {
    problems.add(where + ": gbps_per_lane must be above 0 and at most 100000");
    return;
  }
  const DirectLink link{a, b, f.kind, f.lanes, f.lanes_down, rate};
  const auto same_pair = std::find_if(t.links_.begin(), t.links_.end(),
                                      [a, b](const DirectLink& l) { return l.a == a && l.b == b; });
  if (same_pair == t.links_.end()) {
    t.links_.push_back(link);
  } else if (same_pair->kind != link.kind || same_pair->lanes != link.lanes ||
             same_pair->lanes_down != link.lanes_down ||
             same_pair->gbps_per_lane != link.gbps_per_lane) {
    problems.add(where + " contradicts an earlier link of this pair (" +
                 std::string(to_string(same_pair->kind)) + " x" + std::to_string(same_pair->lanes) +
                 ")");
  }
}

void TopologyBuilder::place_links(NodeTopology& t, Problems& problems) const {
  const int n = t.chip_count();
  const auto width = static_cast<std::size_t>(n);
  DefaultRates rates(model);
  t.host_paths_.assign(width * width, LinkKind::sys);
  std::vector<bool> stated(width * width, false);
  const auto at = [width](int a, int b) {
    return static_cast<std::size_t>(a) * width + static_cast<std::size_t>(b);
  };
  for (int s = 0; s < n; ++s) t.host_paths_[at(s, s)] = LinkKind::self;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const LinkFact& f = links_[i];
    const std::string where = "links[" + std::to_string(i) + "] (" + pair_text(f.a, f.b) + ")";
    const int x = slot(t, f.a, where, problems);
    const int y = slot(t, f.b, where, problems);
    if (x < 0 || y < 0) continue;
    if (x == y) {
      problems.add(where + " links a chip with itself");
      continue;
    }
    const auto [a, b] = std::minmax(x, y);
    if (is_host_path(f.kind)) {
      if (f.kind == LinkKind::self) {
        problems.add(where + ": SELF between two chips");
      } else if (stated[at(a, b)] && t.host_paths_[at(a, b)] != f.kind) {
        problems.add(where + " is " + std::string(to_string(f.kind)) + ", but was " +
                     std::string(to_string(t.host_paths_[at(a, b)])) + " before");
      }
      stated[at(a, b)] = true;
      t.host_paths_[at(a, b)] = t.host_paths_[at(b, a)] = f.kind;
      continue;
    }
    place_direct_link(t, f, f.gbps_per_lane ? *f.gbps_per_lane : rates.of(f.kind), a, b, where,
                      problems);
  }
  std::sort(t.links_.begin(), t.links_.end(), [](const DirectLink& l, const DirectLink& r) {
    return std::pair(l.a, l.b) < std::pair(r.a, r.b);
  });
}

// Ids and bus ids are unique, except that the partitions of a card share a bus id.
void TopologyBuilder::check_identities(const NodeTopology& t, Problems& problems) {
  const auto text = [&t](int s) { return std::to_string(t.chip(s).index.value); };
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) {
      const std::string both = "chips " + text(a) + " and " + text(b) + " have one ";
      if (!t.chip(a).id.empty() && t.chip(a).id == t.chip(b).id) {
        problems.add(both + "id, \"" + t.chip(a).id + "\"");
      }
      if (!t.chip(a).pci.empty() && t.chip(a).pci == t.chip(b).pci &&
          t.host_path(a, b) != LinkKind::board) {
        problems.add(both + "bus id, \"" + t.chip(a).pci + "\"");
      }
    }
  }
}

void TopologyBuilder::place_switches(NodeTopology& t, Problems& problems) const {
  if (switches_.size() > limits::kMaxSwitches) {
    problems.add(std::to_string(switches_.size()) + " switches, at most " +
                 std::to_string(limits::kMaxSwitches));
    return;
  }
  DefaultRates rates(model);
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    const SwitchFact& f = switches_[i];
    const std::string where =
        "switches[" + std::to_string(i) + "]" + (f.name.empty() ? "" : " (" + f.name + ")");
    Switch sw{f.name, f.kind, f.gbps_per_lane ? *f.gbps_per_lane : rates.of(f.kind), {}};
    check_text("switches[" + std::to_string(i) + "]", f.name, problems);
    if (is_host_path(f.kind)) problems.add(where + ": kind must be a fast link kind");
    if (bad_rate(sw.gbps_per_lane))
      problems.add(where + ": gbps_per_lane must be above 0 and at most 100000");
    for (const Port& p : f.ports) {
      const int s = slot(t, p.chip, where, problems);
      if (s < 0) continue;
      if (bad_lanes(p.lanes, p.lanes_down)) {
        problems.add(where + ": " + std::to_string(p.lanes) + " lanes to chip " +
                     std::to_string(p.chip.value) + ", " + std::to_string(p.lanes_down) +
                     " of them down");
      }
      sw.ports.push_back({s, p.lanes, p.lanes_down});
    }
    std::sort(sw.ports.begin(), sw.ports.end(),
              [](const SwitchPort& l, const SwitchPort& r) { return l.slot < r.slot; });
    for (std::size_t k = 1; k < sw.ports.size(); ++k) {
      if (sw.ports[k].slot == sw.ports[k - 1].slot) {
        problems.add(where + " names chip " + std::to_string(t.chip(sw.ports[k].slot).index.value) +
                     " twice");
      }
    }
    if (sw.ports.empty()) problems.add(where + " has no chips");
    t.switches_.push_back(std::move(sw));
  }
}

void TopologyBuilder::place_nics(NodeTopology& t, Problems& problems) {
  if (nics_.size() > limits::kMaxNics) {
    problems.add(std::to_string(nics_.size()) + " NICs, at most " +
                 std::to_string(limits::kMaxNics));
    return;
  }
  for (std::size_t i = 0; i < nics_.size(); ++i) {
    NicFact& f = nics_[i];
    const std::string where = "nics[" + std::to_string(i) + "] (" + f.nic.name + ")";
    check_text("nics[" + std::to_string(i) + "]", f.nic.name, problems);
    check_text("nics[" + std::to_string(i) + "]", f.nic.pci, problems);
    check_numa(where, f.nic.numa, problems);
    f.nic.paths.assign(t.chips_.size(), LinkKind::sys);
    for (const auto& [index, kind] : f.paths) {
      const int s = slot(t, index, where, problems);
      if (s < 0) continue;
      if (!is_host_path(kind)) problems.add(where + ": path must be a host path (PIX … SYS)");
      f.nic.paths[static_cast<std::size_t>(s)] = kind;
    }
    if (!std::isfinite(f.nic.gbps) || f.nic.gbps < 0 || f.nic.gbps > limits::kMaxGbps) {
      problems.add(where + ": gbps must be between 0 and 100000");
    }
    t.nics_.push_back(std::move(f.nic));
  }
}

void TopologyBuilder::place_partitions(NodeTopology& t, Problems& problems) const {
  if (partitions_.size() > limits::kMaxPartitions) {
    problems.add(std::to_string(partitions_.size()) + " partitions, at most " +
                 std::to_string(limits::kMaxPartitions));
    return;
  }
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    const std::string where = "partitions[" + std::to_string(i) + "]";
    ChipSet set;
    for (const ChipIndex c : partitions_[i]) {
      const int s = slot(t, c, where, problems);
      if (s >= 0) set.insert(s);
    }
    if (set.empty()) problems.add(where + " is empty");
    t.partitions_.push_back(set);
  }
  std::sort(t.partitions_.begin(), t.partitions_.end(),
            [](ChipSet l, ChipSet r) { return l.bits() < r.bits(); });
  t.partitions_.erase(std::unique(t.partitions_.begin(), t.partitions_.end()), t.partitions_.end());
}

namespace {

// Two rings or meshes, and what lies across both.
bool is_of_two_groups(RuleKind kind) {
  return kind == RuleKind::ascend_910a_module || kind == RuleKind::ascend_910b_16;
}

}  // namespace

Result<NodeTopology> TopologyBuilder::build() && {
  NodeTopology t;
  Problems problems;
  t.vendor_ = std::move(vendor);
  t.model_ = model;
  t.p2p_ = p2p;
  t.super_pod_ = std::move(super_pod);
  t.host_bandwidth_ = host_bandwidth ? *host_bandwidth : default_host_bandwidth(model);
  for (const LinkKind k : {LinkKind::board, LinkKind::pix, LinkKind::pxb, LinkKind::phb,
                           LinkKind::node, LinkKind::sys}) {
    if (bad_rate(t.host_bandwidth_.of(k))) {
      problems.add("host_gbps." + std::string(to_string(k)) +
                   " must be above 0 and at most 100000");
    }
  }
  check_text("the machine", t.vendor_, problems);
  check_text("the machine", t.model_, problems);
  if (t.super_pod_) check_text("super_pod", t.super_pod_->id, problems);
  place_chips(t, problems);
  if (problems.total == 0) {
    place_links(t, problems);
    check_identities(t, problems);
    place_switches(t, problems);
    place_nics(t, problems);
    place_partitions(t, problems);
  }
  if (rule && (rule->group_size < 1 || rule->group_size > limits::kMaxChips)) {
    problems.add("rule: group must be between 1 and 64");
  } else if (rule && is_of_two_groups(rule->kind)) {
    std::set<int> groups;
    for (const Chip& chip : t.chips_) groups.insert(chip.index.value / rule->group_size);
    if (groups.size() > 2) {
      problems.add("rule: " + std::string(to_string(rule->kind)) +
                   " is for two groups of chips; these, by index / " +
                   std::to_string(rule->group_size) + ", are in " + std::to_string(groups.size()));
    }
  }
  if (problems.total > 0) return make_error(Errc::invalid_argument, problems.joined());
  t.rule_ = rule ? *rule : guess_rule(t).rule;
  return t;
}

}  // namespace chipweave::domain
