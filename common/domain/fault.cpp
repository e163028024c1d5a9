#include "common/domain/fault.hpp"

#include <algorithm>
#include <tuple>

namespace chipweave::domain {
namespace {

auto place(const Fault& f) {
  const auto number = [](const std::optional<ChipIndex>& chip) { return chip ? chip->value : -1; };
  return std::tuple(number(f.chip), number(f.peer), f.port.value_or(-1), std::string_view(f.part),
                    std::string_view(f.code));
}

}  // namespace

bool same_cause(const Fault& a, const Fault& b) { return place(a) == place(b); }

std::string place_of(const Fault& fault) {
  if (!fault.chip) return fault.part.empty() ? "machine" : fault.part;
  const std::string chip = std::to_string(fault.chip->value);
  if (fault.peer) return "link " + chip + "-" + std::to_string(fault.peer->value);
  std::string out = "chip " + chip;
  if (fault.port) out += " port " + std::to_string(*fault.port);
  if (!fault.part.empty()) out += " to " + fault.part;
  return out;
}

std::string_view nic_out_of_use(const Fault& fault) {
  const bool of_lanes = fault.lanes > 0 || (fault.chip && fault.port);
  return fault.effect == Effect::link && !of_lanes ? std::string_view(fault.part) : "";
}

void sort_worst_first(std::vector<Fault>& faults) {
  std::sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) {
    if (a.effect != b.effect) return a.effect > b.effect;
    return place(a) < place(b);
  });
}

}  // namespace chipweave::domain
