#include "common/solver/chips/sets/host_side.hpp"

#include <algorithm>
#include <vector>

namespace chipweave::solver {
namespace {

// Largest matching of chips to near NICs, by augmenting paths.
class NicMatching {
 public:
  explicit NicMatching(const std::vector<ChipSet>& nics) : nics_(nics), holder_(nics.size(), -1) {}

  int matched(ChipSet set) {
    int out = 0;
    for (const int chip : set) {
      seen_.assign(nics_.size(), false);
      out += augment(chip) ? 1 : 0;
    }
    return out;
  }

 private:
  bool augment(int chip) {
    for (std::size_t k = 0; k < nics_.size(); ++k) {
      if (seen_[k] || !nics_[k].contains(chip)) continue;
      seen_[k] = true;
      if (holder_[k] < 0 || augment(holder_[k])) {
        holder_[k] = chip;
        return true;
      }
    }
    return false;
  }

  const std::vector<ChipSet>& nics_;
  std::vector<int> holder_;
  std::vector<bool> seen_;
};

}  // namespace

HostSide host_side(const Wiring& wiring, ChipSet set, ChipSet loaded) {
  HostSide out;
  int nodes = 0;
  int most = 0;
  for (const ChipSet g : wiring.numa_groups()) {
    const int k = (g & set).size();
    nodes += k > 0 ? 1 : 0;
    most = std::max(most, k);
  }
  out.spread = wiring.p2p() ? nodes : most;
  if (!wiring.near_nics().empty()) {
    NicMatching matching(wiring.near_nics());
    matching.matched(loaded);  // those stay matched, to whichever NIC
    out.without_nic = set.size() - matching.matched(set);
  }
  for (const ChipSet g : wiring.uplink_groups()) {
    const int k = (g & set).size();
    out.shared_uplinks += k * (k - 1) / 2 + k * (g & loaded).size();
  }
  return out;
}

}  // namespace chipweave::solver
