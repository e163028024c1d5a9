// The address under which a generator writes this machine into a table.
#pragma once

#include <string>

#include "cli/ranktable/tools/addresses/device_addresses.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// `given` if it is an address (it becomes part of file names); without one, what the host name of
// this machine resolves to. Warns of a loopback address. Errors name `option`.
Result<std::string> host_address(const std::string& given, const std::string& option,
                                 const Warn& warn);

}  // namespace chipweave::cli
