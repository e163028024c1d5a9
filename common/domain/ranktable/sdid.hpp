// SDID and vNIC address — the ID of a device in a super pod (A3), and the address of its virtual
// NIC that the driver derives from it.
//
//   SDID   = server_index << 22 | chip << 18 | die << 16 | device_id,  device_id = 2 * chip + die
//   vNIC   = 192 . S . (2 + L) . (199 - device_id)
//            S: server_index in a super pod, else 168; L: the die (A3), else 0..3
//
// Source: driver source and manual; checked against published SDIDs of four servers. The tables of
// HCCL's documentation have toy values (0, 1, 2, …) that do not follow it.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/ip_address.hpp"

namespace chipweave::domain::ranktable {

struct Sdid {
  std::int64_t server_index = 0;
  int chip = 0;
  int die = 0;
  int device_id = 0;
  friend bool operator==(const Sdid&, const Sdid&) = default;
};

// device_id 0..15 of an A3 server.
std::int64_t sdid_of(std::int64_t server_index, int device_id);
// nullopt: chip, die and device disagree, or not a 32-bit number.
std::optional<Sdid> decode_sdid(std::int64_t sdid);

// Whether this can be the vNIC address of that physical device on any server.
bool is_vnic_address(const IpAddress& address, std::int64_t device_id);

}  // namespace chipweave::domain::ranktable
