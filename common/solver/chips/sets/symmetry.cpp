#include "common/solver/chips/sets/symmetry.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace chipweave::solver {
namespace {

ChipSet mapped(ChipSet set, const std::vector<int>& image) {
  ChipSet out;
  for (const int s : set) out.insert(image[static_cast<std::size_t>(s)]);
  return out;
}

// Whether the family of sets is the same after renaming the chips.
bool keeps(const std::vector<ChipSet>& family, const std::vector<int>& image) {
  std::vector<std::uint64_t> before;
  std::vector<std::uint64_t> after;
  for (const ChipSet s : family) {
    before.push_back(s.bits());
    after.push_back(mapped(s, image).bits());
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after;
}

}  // namespace

Symmetry::Symmetry(const Wiring& wiring) : wiring_(wiring) {
  const int n = wiring.chip_count();
  std::map<int, ChipSet> groups;
  for (int s = 0; s < n; ++s) groups[wiring.rule_group(s)].insert(s);
  for (const auto& [number, set] : groups) rule_groups_.push_back(set);

  std::vector<int> identity(static_cast<std::size_t>(n));
  std::iota(identity.begin(), identity.end(), 0);
  // Which partitions a chip is in decides more than its wiring.
  const bool distinct = !wiring.partitions().empty();
  for (int s = 0; s < n; ++s) {
    const auto home = std::find_if(classes_.begin(), classes_.end(), [&](const TwinClass& c) {
      if (distinct) return false;
      std::vector<int> image = identity;
      std::swap(image[static_cast<std::size_t>(s)],
                image[static_cast<std::size_t>(c.members.lowest())]);
      return swappable(image);
    });
    if (home != classes_.end()) {
      home->members.insert(s);
    } else {
      classes_.push_back({ChipSet{s}, 0});
    }
  }
  for (std::size_t k = 0; k < classes_.size(); ++k) {
    classes_[k].family = static_cast<int>(k);
    for (std::size_t j = 0; j < k; ++j) {
      if (distinct || classes_[j].family != static_cast<int>(j))
        continue;  // compare with the first of each family only
      if (classes_[j].members.size() != classes_[k].members.size()) continue;
      std::vector<int> image = identity;
      auto theirs = classes_[j].members.begin();
      for (const int s : classes_[k].members) {
        image[static_cast<std::size_t>(s)] = *theirs;
        image[static_cast<std::size_t>(*theirs)] = s;
        ++theirs;
      }
      if (swappable(image)) {
        classes_[k].family = static_cast<int>(j);
        break;
      }
    }
  }
}

bool Symmetry::swappable(const std::vector<int>& image) const {
  const int n = wiring_.chip_count();
  const auto to = [&image](int s) { return image[static_cast<std::size_t>(s)]; };
  for (int a = 0; a < n; ++a) {
    if (to(a) == a) continue;  // pairs of unmoved chips are unchanged
    for (int b = 0; b < n; ++b) {
      if (a == b) continue;
      if (wiring_.direct(a, b) != wiring_.direct(to(a), to(b)) ||
          wiring_.routed(a, b) != wiring_.routed(to(a), to(b)) ||
          wiring_.host_kind(a, b) != wiring_.host_kind(to(a), to(b))) {
        return false;
      }
    }
    for (const Plane& p : wiring_.planes()) {
      if (p.egress[static_cast<std::size_t>(a)] != p.egress[static_cast<std::size_t>(to(a))])
        return false;
    }
  }
  return keeps(wiring_.numa_groups(), image) && keeps(wiring_.uplink_groups(), image) &&
         keeps(wiring_.near_nics(), image) && keeps(rule_groups_, image);
}

}  // namespace chipweave::solver
