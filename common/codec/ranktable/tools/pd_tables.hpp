// The rank tables of one machine's prefill and decode instances: what `pd_ranktable_tools.py --mode
// gen` writes, byte for byte.
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
  std::optional<int> port;  // where another device's NIC is borrowed
};
using PdInstance = std::vector<PdDevice>;

struct PdMachine {
  std::string address;
  bool api_server = false;
  std::vector<PdInstance> prefill;
  std::vector<PdInstance> decode;
};

// What the local table of an instance or API server is called: its address, then the device ids one
// behind the other, or "host". Ids 1,23 and 12,3 have one name.
std::string local_table_name(const domain::ranktable::Server& server);

// The global table, then a local one for each instance and for the API server.
std::vector<NamedText> write_pd_tables(const PdMachine& machine);

}  // namespace chipweave::codec::ranktable
