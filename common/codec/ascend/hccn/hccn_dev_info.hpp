// What `hccn_tool -g -dev_info -i NPU` prints on Ascend 950: of its tables the one with the UB
// ports of an NPU.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

struct HccnUbPort {
  int port = 0;
  bool up = false;
};

// Columns are found by their headings; other columns and tables are ignored. Errors: as in
// hccn_tool.hpp; invalid_argument names the line of a cell that does not fit its column.
Result<std::vector<HccnUbPort>> parse_hccn_dev_info(std::string_view output);

}  // namespace chipweave::codec::ascend
