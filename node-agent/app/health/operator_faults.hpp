// Faults that others report (health file, cordon, maintenance, who else gives the chips away), in
// the form of those that the health policy finds.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/declared_faults.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

inline constexpr const char* kCordoned = "cordoned";
inline constexpr const char* kMaintenance = "maintenance";
inline constexpr const char* kContested = "chips.contested";

// Whether it is one of these, not the hardware's.
bool is_reported(const domain::Fault& fault);

// The health file as faults with code "health-file"; since: Unix time in ms. Lanes are taken down
// in addition to those that are down. invalid_argument: a chip that the machine does not have, or a
// pair without a direct link.
Result<std::vector<domain::Fault>> faults_of_file(const domain::NodeTopology& topology,
                                                  const domain::DeclaredFaults& listed,
                                                  std::int64_t since);

// Chips that an operator has taken out of service.
struct Cordon {
  bool all = false;
  std::set<domain::ChipIndex> chips;
  void merge(const Cordon& other) {
    all = all || other.all;
    chips.insert(other.chips.begin(), other.chips.end());
  }
  friend bool operator==(const Cordon&, const Cordon&) = default;
};

// Code kCordoned. Chips that the machine does not have are ignored.
std::vector<domain::Fault> faults_of_cordon(const domain::NodeTopology& topology,
                                            const Cordon& cordon, std::int64_t since);

// Code kMaintenance: the whole machine, with the operator's reason.
domain::Fault fault_of_maintenance(std::string reason, std::int64_t since);

// Code kContested: the whole machine, as another one gives its chips away.
domain::Fault fault_of_contest(const std::string& why, std::int64_t since);

}  // namespace chipweave::agent
