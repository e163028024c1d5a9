#include "cli/ranktable/tools/addresses/address_flags.hpp"

#include <utility>

namespace chipweave::cli {
namespace {

Error contradiction(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

}  // namespace

std::vector<ArgOption> address_options() {
  return {
      {"--hccn-tool",
       Takes::one,
       "PATH",
       "program to ask for addresses (the driver's own, else the one on PATH)",
       {},
       true},
      {"--hccn-conf",
       Takes::one,
       "FILE",
       "read where the program is missing or knows none (/etc/hccn.conf)",
       {},
       true},
      {"--from-inventory",
       Takes::one,
       "FILE",
       "addresses of another machine: its NodeInventory as JSON; asks no device",
       {},
       true},
      {"--from-topology",
       Takes::one,
       "NAME",
       "the same of a built-in machine or a topology file, to plan ahead",
       {},
       true},
      {"--address-plan",
       Takes::one,
       "BASE/PREFIX",
       "device N has address BASE + N, where the machine's description holds none",
       {},
       true},
  };
}

Result<AddressFlags> address_flags(const ArgWords& words) {
  AddressFlags out;
  out.hccn_tool = words.one("--hccn-tool", "");
  out.hccn_conf = words.one("--hccn-conf", "");
  out.from_inventory = words.one("--from-inventory", "");
  out.from_topology = words.one("--from-topology", "");
  out.address_plan = words.one("--address-plan", "");
  const bool described = words.has("--from-inventory") || words.has("--from-topology");
  if (words.has("--from-inventory") && words.has("--from-topology")) {
    return contradiction("argument --from-topology: not allowed with argument --from-inventory");
  }
  for (const char* live : {"--hccn-tool", "--hccn-conf"}) {
    if (!described || !words.has(live)) continue;
    return contradiction(std::string("argument ") + live +
                         ": not allowed with a description of another machine");
  }
  if (words.has("--address-plan") && !described) {
    return contradiction(
        "argument --address-plan: only with --from-topology or --from-inventory; devices of this "
        "machine are asked");
  }
  for (const auto& [name, values] : words.given) {
    const bool ours = name == "--hccn-tool" || name == "--hccn-conf" || name.starts_with("--from-");
    if (ours && values.front().empty()) {
      return contradiction("argument " + name + ": expected a name, got nothing");
    }
  }
  return out;
}

}  // namespace chipweave::cli
