#include "node-agent/publish/compat/node_class.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace chipweave::agent {
namespace {

using domain::LinkKind;

// In the order of the class name: from the inside out.
constexpr std::array<std::pair<LinkKind, std::string_view>, 7> kWords = {{
    {LinkKind::sio, "sio"},
    {LinkKind::nvswitch, "nvswitch"},
    {LinkKind::nvlink, "mesh"},
    {LinkKind::xgmi, "xgmi"},
    {LinkKind::hccs, "hccs"},
    {LinkKind::ub, "ub"},
    {LinkKind::metaxlink, "metaxlink"},
}};

// Groups of slots connected by fast links, by the lowest slot of each.
class Islands {
 public:
  explicit Islands(int chips) : root_(static_cast<std::size_t>(chips)) {
    std::iota(root_.begin(), root_.end(), 0);
  }
  void join(int a, int b) {
    const int low = std::min(find(a), find(b));
    const int high = std::max(find(a), find(b));
    root_[static_cast<std::size_t>(high)] = low;
  }
  // Ascending.
  std::vector<int> sizes() const {
    std::vector<int> by_root(root_.size());
    for (std::size_t i = 0; i < root_.size(); ++i) {
      ++by_root[static_cast<std::size_t>(find(static_cast<int>(i)))];
    }
    by_root.erase(std::remove(by_root.begin(), by_root.end(), 0), by_root.end());
    std::sort(by_root.begin(), by_root.end());
    return by_root;
  }

 private:
  int find(int slot) const {
    while (root_[static_cast<std::size_t>(slot)] != slot) {
      slot = root_[static_cast<std::size_t>(slot)];
    }
    return slot;
  }
  std::vector<int> root_;
};

}  // namespace

std::string node_class(const domain::NodeTopology& topology) {
  std::set<LinkKind> kinds;
  Islands islands(topology.chip_count());
  for (const domain::DirectLink& link : topology.links()) {
    kinds.insert(link.kind);
    islands.join(link.a, link.b);
  }
  for (const domain::Switch& each : topology.switches()) {
    if (each.ports.size() > 1) kinds.insert(each.kind);
    for (const domain::SwitchPort& port : each.ports) islands.join(each.ports[0].slot, port.slot);
  }
  const std::string chips = std::to_string(topology.chip_count());
  std::string out;
  for (const auto& [kind, word] : kWords) {
    if (kinds.contains(kind)) out += std::string(word) + "-";
  }
  if (out.empty()) return "pcie-" + chips;
  const std::vector<int> sizes = islands.sizes();
  if (sizes.size() == 1) return out + chips;
  if (sizes.front() != sizes.back()) return out + "mixed-" + chips;
  return out + std::to_string(sizes.size()) + "x" + std::to_string(sizes.front());
}

}  // namespace chipweave::agent
