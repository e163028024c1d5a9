// open_addresses — the source of device addresses that the options of a generator ask for.
#pragma once

#include <memory>

#include "cli/ranktable/tools/addresses/address_flags.hpp"
#include "cli/ranktable/tools/addresses/device_addresses.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Errors: a program or file that was named and is not there or cannot be read; neither program nor
// file on this machine.
Result<std::unique_ptr<DeviceAddresses>> open_addresses(const AddressFlags& flags, Warn warn);

}  // namespace chipweave::cli
