// What people say is wrong with a machine, as faults like those that the health policy finds.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/declared_faults.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// Of the health file, code "health-file"; since: Unix time in ms. Lanes go down besides those that
// are. invalid_argument naming a chip that the machine does not have, or a pair without a direct
// link.
Result<std::vector<domain::Fault>> faults_of_file(const domain::NodeTopology& topology,
                                                  const domain::DeclaredFaults& said,
                                                  std::int64_t since);

// The machine with those faults alone.
Result<domain::NodeTopology> with_faults(const domain::NodeTopology& topology,
                                         const domain::DeclaredFaults& said);

// Which chips an operator has taken out of service.
struct Cordon {
  bool all = false;
  std::set<domain::ChipIndex> chips;
  friend bool operator==(const Cordon&, const Cordon&) = default;
};

// Code "cordoned". A chip that the machine does not have is none.
std::vector<domain::Fault> faults_of_cordon(const domain::NodeTopology& topology,
                                            const Cordon& cordon, std::int64_t since);

}  // namespace chipweave::agent
