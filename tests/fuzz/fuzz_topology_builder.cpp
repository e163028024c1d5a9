// Arbitrary facts → TopologyBuilder: whatever build() accepts must have the invariants that
// node_topology.hpp documents.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/domain/topology_builder.hpp"

namespace {
using chipweave::domain::ChipIndex;
using chipweave::domain::ChipSet;
using chipweave::domain::LinkKind;
using chipweave::domain::NodeTopology;
using chipweave::domain::TopologyBuilder;

void require(bool holds) {
  if (!holds) std::abort();
}

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  int next() {
    if (rest_.empty()) return 0;
    const int value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  // Small values mostly, so that facts are about the same chips.
  ChipIndex chip() { return ChipIndex{next() % 9 - (next() == 255 ? 1 : 0)}; }
  int lanes() { return next() % 7 - (next() > 250 ? 1 : 0); }
  LinkKind kind() { return static_cast<LinkKind>(next() % chipweave::domain::kLinkKindCount); }
  double gbps() { return next() * 1.5 - (next() > 250 ? 10 : 0); }

 private:
  std::span<const std::uint8_t> rest_;
};

std::vector<ChipIndex> chips(Bytes& bytes) {
  std::vector<ChipIndex> list(static_cast<std::size_t>(bytes.next() % 5));
  for (ChipIndex& chip : list) chip = bytes.chip();
  return list;
}

void add_fact(TopologyBuilder& builder, Bytes& bytes) {
  switch (bytes.next() % 5) {
    case 0: {
      const ChipIndex a = bytes.chip();
      const ChipIndex b = bytes.chip();
      const LinkKind kind = bytes.kind();
      const int lanes = bytes.lanes();
      if (bytes.next() % 2 == 0) return builder.add_link(a, b, kind, lanes);
      const double gbps = bytes.gbps();
      return builder.add_link(a, b, kind, lanes, gbps, bytes.lanes());
    }
    case 1: {
      std::vector<TopologyBuilder::Port> ports;
      for (const ChipIndex chip : chips(bytes))
        ports.push_back({chip, bytes.lanes(), bytes.next() % 3});
      const LinkKind kind = bytes.kind();
      return builder.add_switch("switch", kind, std::move(ports), bytes.gbps());
    }
    case 2: {
      std::map<ChipIndex, LinkKind> paths;
      for (const ChipIndex chip : chips(bytes)) paths[chip] = bytes.kind();
      return builder.add_nic("nic", "", bytes.next() % 3 - 1, bytes.gbps(), std::move(paths));
    }
    case 3:
      return builder.add_partition(chips(bytes));
    default: {
      chipweave::domain::Chip chip;
      chip.index = bytes.chip();
      chip.numa = bytes.next() % 4 - 1;
      return builder.add_chip(std::move(chip));
    }
  }
}

void check_links(const NodeTopology& t) {
  std::pair<int, int> last{-1, -1};
  for (const auto& link : t.links()) {
    require(0 <= link.a && link.a < link.b && link.b < t.chip_count());
    require(last < std::pair(link.a, link.b));
    last = {link.a, link.b};
    require(chipweave::domain::is_fast(link.kind));
    require(0 <= link.lanes_down && link.lanes_down <= link.lanes &&
            link.lanes <= chipweave::limits::kMaxLanes);
    require(link.gbps_per_lane > 0 && link.gbps_per_lane <= chipweave::limits::kMaxGbps);
    require(t.link(link.a, link.b) == &link && t.link(link.b, link.a) == &link);
  }
}

void check_invariants(const NodeTopology& t) {
  require(t.chip_count() >= 1 && t.chip_count() <= chipweave::limits::kMaxChips);
  for (int slot = 0; slot < t.chip_count(); ++slot) {
    require(slot == 0 || t.chip(slot - 1).index < t.chip(slot).index);
    require(t.slot_of(t.chip(slot).index) == slot);
    for (int other = 0; other < t.chip_count(); ++other) {
      const LinkKind path = t.host_path(slot, other);
      require(slot == other ? path == LinkKind::self : path >= LinkKind::board);
      require(path == t.host_path(other, slot));
    }
  }
  check_links(t);
  for (const auto& port_owner : t.switches()) require(t.all().contains(port_owner.members()));
  for (const auto& nic : t.nics())
    require(nic.paths.size() == static_cast<std::size_t>(t.chip_count()));
  for (const ChipSet set : t.partitions()) require(!set.empty() && t.all().contains(set));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  constexpr const char* kVendors[] = {"nvidia", "amd", "ascend", "metax", ""};
  TopologyBuilder builder;
  builder.vendor = kVendors[bytes.next() % 5];
  for (int left = bytes.next() % 9; left > 0; --left) {
    chipweave::domain::Chip chip;
    chip.index = ChipIndex{left - 1};
    builder.add_chip(std::move(chip));
  }
  while (!bytes.empty()) add_fact(builder, bytes);
  const auto topology = std::move(builder).build();
  if (topology) check_invariants(*topology);
  return 0;
}
