// Where a generator finds addresses: those of devices and that of this machine.
#pragma once

#include <string>

#include "cli/ranktable/tools/addresses/device_addresses.hpp"
#include "cli/ranktable/tools/requests.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Errors: a named program or file is missing or unreadable; this machine has neither hccn_tool nor
// /etc/hccn.conf.
Result<DeviceAddresses> open_addresses(const AddressFlags& flags, Warn warn);

// The path of hccn_tool: `named` (the value of --hccn-tool) if not empty, else the installed one.
// "" if none is installed; not_found if the named one cannot be executed.
Result<std::string> find_hccn_tool(const std::string& named);

// The address of this machine: `given`, or what its host name resolves to if that is empty. Warns
// about a loopback address. Errors name `option`.
Result<std::string> host_address(const std::string& given, const std::string& option,
                                 const Warn& warn);

}  // namespace chipweave::cli
