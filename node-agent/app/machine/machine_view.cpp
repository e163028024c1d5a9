#include "node-agent/app/machine/machine_view.hpp"

#include <algorithm>
#include <utility>

#include "common/domain/topology_edit.hpp"

namespace chipweave::agent {

using domain::Basis;
using domain::ChipIndex;
using domain::Observation;

std::string MachineView::driver_problem(const Observation& bus) {
  for (const domain::Signal& signal : bus.signals) {
    if (signal.code.starts_with("driver.")) return signal.text;
  }
  return "the driver does not respond";
}

const Observation* MachineView::known() const {
  if (seen_) return &*seen_;
  return remembered_ ? &*remembered_ : nullptr;
}

Result<bool> MachineView::take(Observation reading) {
  if (reading.basis == Basis::starting) {
    if (!seen_) bus_ = std::move(reading);
    return false;
  }
  const Observation* before = known();
  if (before != nullptr && before->basis == Basis::driver && reading.basis == Basis::bus) {
    // Less than what is known: the driver worked before.
    return make_error(Errc::unavailable, driver_problem(reading));
  }
  ChipNumbers numbers;
  // The driver's first observation replaces the bus's, which has no links to be continued.
  if (continues_ && before != nullptr && before->basis == reading.basis) {
    auto same_terms = in_terms_of(before->topology, std::move(reading));
    if (!same_terms) return std::move(same_terms).error();
    reading = std::move(same_terms->observation);
    numbers = std::move(same_terms->numbers);
  }
  numbers_ = std::move(numbers);
  seen_ = std::move(reading);
  remembered_.reset();
  remembered_only_ = false;
  bus_.reset();
  return true;
}

bool MachineView::fall_back() {
  if (seen_ || (!bus_ && !remembered_)) return false;
  const bool more = remembered_ && (remembered_->basis == Basis::driver || !bus_);
  seen_ = more ? std::exchange(remembered_, std::nullopt) : std::exchange(bus_, std::nullopt);
  remembered_only_ = more;
  remembered_.reset();
  bus_.reset();
  return true;
}

ChipNumbers MachineView::recall(Observation machine) {
  if (!continues_) return {};
  if (!seen_) {
    remembered_ = std::move(machine);
    return {};
  }
  const bool of_driver = machine.basis == Basis::driver;
  const bool sees_driver = seen_->basis == Basis::driver;
  if (!of_driver && sees_driver) return {};
  auto same_terms = in_terms_of(machine.topology, *seen_);
  ChipNumbers renamed = same_terms ? std::move(same_terms->numbers) : ChipNumbers();
  if (of_driver && !sees_driver) {
    seen_ = std::move(machine);
    remembered_only_ = true;
    return renamed;
  }
  if (renamed.empty()) return {};
  seen_ = std::move(same_terms->observation);
  if (numbers_.empty()) {
    numbers_ = renamed;
  } else {
    for (auto& [driver, own] : numbers_) {
      const auto before = renamed.find(own);
      if (before != renamed.end()) own = before->second;
    }
  }
  return renamed;
}

// The driver's own numbers would give the chips that are left other indices than their pods know.
Result<bool> MachineView::forget_gone(std::optional<ChipIndex> chip) {
  std::set<ChipIndex> gone;
  if (!seen_ || remembered_only_) return false;
  for (const domain::Signal& signal : seen_->signals) {
    if (signal.code == kChipGone && signal.chip && (!chip || signal.chip == chip)) {
      gone.insert(*signal.chip);
    }
  }
  if (gone.empty()) return false;
  domain::TopologyEdit without;
  without.keeps_chip = [&gone](const domain::Chip& one) { return !gone.contains(one.index); };
  auto topology = domain::rebuilt(seen_->topology, without);
  if (!topology) return std::move(topology).error().in("without the chips that are gone");
  seen_->topology = std::move(topology).value();
  const auto of_gone = [&gone](const std::optional<ChipIndex>& of) {
    return of && gone.contains(*of);
  };
  std::erase_if(seen_->signals, [&](const domain::Signal& one) { return of_gone(one.chip); });
  std::erase_if(seen_->ports, [&](const domain::Port& one) {
    return gone.contains(one.chip) || of_gone(one.peer);
  });
  std::erase_if(seen_->neighbours, [&](const auto& one) { return of_gone(one.chip); });
  return true;
}

void MachineView::name(std::vector<domain::Signal>& events) const {
  if (continues_ && seen_) name_chips(seen_->topology, numbers_, events);
}

void MachineView::name(std::vector<domain::ChipMetrics>& measured) const {
  if (!seen_) return measured.clear();
  for (domain::ChipMetrics& chip : measured) {
    const auto own = numbers_.find(chip.chip);
    if (own != numbers_.end()) chip.chip = own->second;
  }
  std::erase_if(measured, [this](const domain::ChipMetrics& chip) {
    return !seen_->topology.slot_of(chip.chip);
  });
}

}  // namespace chipweave::agent
