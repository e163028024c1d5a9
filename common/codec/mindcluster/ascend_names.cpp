#include "common/codec/mindcluster/ascend_names.hpp"

#include <algorithm>

namespace chipweave::codec::mindcluster {

bool has_chip_network(domain::AscendFamily generation) {
  return generation != domain::AscendFamily::ascend_310 &&
         generation != domain::AscendFamily::ascend_310p;
}

bool has_super_pod(domain::AscendFamily generation) {
  return generation == domain::AscendFamily::a3 || generation == domain::AscendFamily::a5;
}

AscendNames::AscendNames(const domain::NodeTopology& topology)
    : topology_(topology), generation_(domain::ascend_family_of(topology)) {}

int AscendNames::number(const domain::Chip& chip) const {
  // A5 lists devices, not physical ids.
  if (generation_ == domain::AscendFamily::a5) return chip.index.value;
  return chip.physical_id.value_or(chip.index.value);
}

std::optional<int> AscendNames::number(domain::ChipIndex index) const {
  const auto slot = topology_.slot_of(index);
  return slot ? std::optional(number(topology_.chip(*slot))) : std::nullopt;
}

std::optional<domain::ChipIndex> AscendNames::index_of(int number) const {
  for (const domain::Chip& chip : topology_.chips()) {
    if (this->number(chip) == number) return chip.index;
  }
  return std::nullopt;
}

}  // namespace chipweave::codec::mindcluster
