// MachineView — which machine this is, of what the driver, the PCI bus and the agent's previous run
// know about it.
//
// The driver's word counts. Until it responds, what the previous run knew counts more than the bus,
// which shows chips without ids and links. Chips keep the indices that they had (continuity.hpp).
// One owner; no clock.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/chip_metrics.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/app/machine/continuity.hpp"

namespace chipweave::agent {

class MachineView {
 public:
  // continues: whether chips are matched with those seen before; not if the machine is declared.
  explicit MachineView(bool continues) : continues_(continues) {}

  // The machine; null: not known yet.
  const domain::Observation* seen() const { return seen_ ? &*seen_ : nullptr; }
  // Whether it is only remembered: nothing has confirmed it in this run.
  bool only_remembered() const { return remembered_only_; }

  // A reading. False: it changes nothing yet, since the driver is starting. Errors: unavailable, if
  // the driver has failed that worked before; a topology that the builder refuses.
  Result<bool> take(domain::Observation reading);
  // Without a word of the driver: takes what is known without it. Whether that is news.
  bool fall_back();
  // The machine of the previous run, before or after the first reading. The result: chips that are
  // called differently from now on.
  ChipNumbers recall(domain::Observation machine);
  // Stops listing chips that are gone: that one (absent: all). The other ones keep their indices.
  // Whether there were any.
  Result<bool> forget_gone(std::optional<domain::ChipIndex> chip);
  // Events and measurements with the chips' own indices. Only when the machine is known. Those of
  // chips that it does not have are removed from the measurements.
  void name(std::vector<domain::Signal>& events) const;
  void name(std::vector<domain::ChipMetrics>& measured) const;

  // Of a reading from the bus: why it is not the driver's.
  static std::string driver_problem(const domain::Observation& bus);

 private:
  const domain::Observation* known() const;

  bool continues_;
  std::optional<domain::Observation> seen_;
  std::optional<domain::Observation> bus_;         // while the driver starts
  std::optional<domain::Observation> remembered_;  // until there is seen_
  bool remembered_only_ = false;
  ChipNumbers numbers_;  // of seen_
};

}  // namespace chipweave::agent
