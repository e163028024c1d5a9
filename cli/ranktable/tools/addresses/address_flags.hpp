// AddressFlags — the options by which a generator is told where the addresses of devices come from.
// None of them is the reference's.
#pragma once

#include <string>
#include <vector>

#include "cli/ranktable/tools/argparse.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Empty: not said.
struct AddressFlags {
  std::string hccn_tool;       // path of the program
  std::string hccn_conf;       // path of the file
  std::string from_inventory;  // file: an agent's report
  std::string from_topology;   // profile or file
  std::string address_plan;    // BASE/PREFIX
};

std::vector<ArgOption> address_options();
// invalid_argument for options that contradict each other.
Result<AddressFlags> address_flags(const ArgWords& words);

}  // namespace chipweave::cli
