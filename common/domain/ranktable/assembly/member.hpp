// Member — a pod of a job as its rank tables need it: on which devices of which machine, and under
// which addresses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

// A way out of the inner layers of an Ascend 950, of which a job uses one.
struct ScaleOut {
  std::string type;  // ROCE, UBOE, UBG
  NetLayer layer;

  friend bool operator==(const ScaleOut&, const ScaleOut&) = default;
};

struct MemberDevice {
  std::int64_t device_id = 0;  // physical, on its host
  std::string ip;              // of its NIC, or several separated by commas; empty: none is known
  Number super_device_id;
  std::vector<NetLayer> layers;  // HCCL 2.0: the inner ones, 0 and 1
  std::vector<ScaleOut> outer;   // the same: 2 and 3

  friend bool operator==(const MemberDevice&, const MemberDevice&) = default;
};

// What is empty is not known yet.
struct Member {
  std::string pod;  // its name
  std::string uid;
  std::string host_ip;
  std::string pod_ip;
  std::string super_pod;              // of its machine; empty also: it is in none
  std::string hardware;               // MindIE's hardware_type; empty: not stated
  std::vector<MemberDevice> devices;  // by local rank

  friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace chipweave::domain::ranktable
