// The rank tables that the reference tools generate for one machine, byte for byte:
// pd_ranktable_tools.py --mode gen (prefill and decode instances) and hccl_tools.py (one server).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/named_text.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

struct PdDevice {
  int id = 0;
  std::string address;
  std::optional<int> port;  // if the device borrows the NIC of another one
};
using PdInstance = std::vector<PdDevice>;  // in the order of ranks

struct PdMachine {
  std::string address;
  bool api_server = false;
  std::vector<PdInstance> prefill;
  std::vector<PdInstance> decode;
};

// The file name of a local table: the server's address, then its device ids without separators, or
// "host" for the API server. Ids 1,23 and 12,3 result in the same name.
std::string local_table_name(const domain::ranktable::Server& server);

// The global table, then the local tables of each instance and of the API server. File names are
// without folder.
std::vector<NamedText> write_pd_tables(const PdMachine& machine);

// The text only: the file name contains the device numbers of the request, which may differ from
// the physical ids.
std::string write_hccl_table(const std::string& server, const PdInstance& devices);

}  // namespace chipweave::codec::ranktable
