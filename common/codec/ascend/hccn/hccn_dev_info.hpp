// What `hccn_tool -g -dev_info -i NPU` prints on Ascend 950: the UB ports of an NPU, its network
// interfaces and its EIDs, a table each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

struct HccnUbPort {
  int die = 0;
  int port = 0;
  std::optional<int> gbps;  // of its speed ability
  std::string type;         // "UB"
  bool up = false;
  std::string media;  // "Electrical"
};

struct HccnInterface {
  std::string name;                    // "ipourma0"
  std::vector<std::string> addresses;  // IPv4 or IPv6
};

struct HccnEid {
  std::string device;  // "udma1"
  int index = 0;
  std::string eid;
};

struct HccnDevInfo {
  std::vector<HccnUbPort> ports;
  std::vector<HccnInterface> interfaces;
  std::vector<HccnEid> eids;
};

// Columns are found by their headings; unknown ones are ignored. Errors: as in hccn_tool.hpp;
// invalid_argument names the line of a cell that does not fit its column.
Result<HccnDevInfo> parse_hccn_dev_info(std::string_view output);

}  // namespace chipweave::codec::ascend
