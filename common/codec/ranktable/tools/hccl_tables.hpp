// HCCL 1.0 rank tables as hccl_tools.py writes them for one server, and merge_hccl.py for several.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ranktable/tools/input_table.hpp"
#include "common/codec/ranktable/tools/pd_tables.hpp"

namespace chipweave::codec::ranktable {

// Devices in the order of their ranks. The text only: its name has the numbers that the caller
// asked for, which need not be the devices'.
std::string write_hccl_table(const std::string& server, const std::vector<PdDevice>& devices);

struct MergedTable {
  NamedText file;
  std::vector<std::string> warnings;
};

// Servers in the order of the files, ranks counted anew. Errors name file and place: what
// read_input() refuses, a server or an address of a device that stands twice. Warns where the order
// is that of addresses as text (10.0.0.10 before 10.0.0.9), as a shell's `hccl*.json` gives it, and
// of files with several servers, which may be merged ones of before.
Result<MergedTable> merge_hccl_tables(std::vector<NamedText> files);

}  // namespace chipweave::codec::ranktable
