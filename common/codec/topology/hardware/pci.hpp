// Helpers for every source of PCI devices: normalised bus ids, and the generation of a link.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::codec {

// "00000000:1A:00.0" → "0000:1a:00.0": lower case, blanks trimmed, and of a domain longer than four
// digits the leading zeros dropped (NVML prints eight). Symbolic ids ("ffff:ff:01.0") and anything
// else stay as they are, lower case.
std::string normalize_bus_id(std::string_view text);

// PCIe generation (3…6) of a per-lane rate in GT/s; generations before 3 count as 3. 0 for a rate
// of 0 or less.
int pcie_generation_of_gts(double gigatransfers);

}  // namespace chipweave::codec
