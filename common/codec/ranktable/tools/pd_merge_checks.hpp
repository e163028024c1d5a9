// PdChecks — what must hold over all servers of the tables of a merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ranktable/tools/input_table.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

class PdChecks {
 public:
  using Server = domain::ranktable::Server;
  using Device = domain::ranktable::Device;

  // Takes a server of a table, which must outlive this: its names, and those of its devices, may
  // stand only once. An API server has none.
  Result<void> take(const InputTable& input, const Server& server);
  // The ranks of a server's devices are `first`, first + 1, ... in order; there is at least one.
  static Result<void> check_ranks(const InputTable& input, const Server& server,
                                  std::int64_t first);
  // After the last server: no loopback address among several machines.
  Result<void> finish() const;

  std::vector<std::string>& warnings() { return warnings_; }

 private:
  Result<void> take_device(const InputTable& input, const Server& server, const Device& device);

  std::unordered_map<std::string, Seen> devices_, addresses_;
  std::map<std::string, std::string> ids_;  // server_ip → server_id
  std::map<std::string, Seen> loopback_;    // server_ip
  std::vector<std::string> warnings_;
};

}  // namespace chipweave::codec::ranktable
