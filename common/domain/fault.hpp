// Fault — something wrong with a machine, since when, and its effect: the result of applying the
// health policy to signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/health_policy.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// Limits of what an agent reports: faults, the worst ones first, and bytes of one text.
inline constexpr std::size_t kMaxReportedFaults = 256;
inline constexpr std::size_t kMaxFaultTextBytes = 256;
// Milliseconds: the end of 2261, the last year that a nanosecond clock can represent.
inline constexpr std::int64_t kLatestFaultTime = 9214646399999;

inline constexpr std::int64_t kHeldUntilReset = -1;

struct Fault {
  std::string code;  // the signal's code, or "link.down", "chip.gone", "cordoned"
  Effect effect = Effect::note;
  std::optional<ChipIndex> chip;  // absent: the machine or a NIC
  std::optional<ChipIndex> peer;  // for a link between two chips; `chip` is the lower index
  std::optional<int> port;        // a port of the chip
  std::string part;               // name of the NIC or switch, or ""
  int lanes = 0;                  // lanes that this fault takes down
  std::string text;               // human-readable
  std::int64_t since = 0;         // Unix time in ms
  // 0: the cause is present. Otherwise it is gone, and the fault is held until this time or
  // kHeldUntilReset.
  std::int64_t held_until = 0;

  friend bool operator==(const Fault&, const Fault&) = default;
};

// A fault that an earlier run of the agent reported, with the id of its chip ("" without one),
// since indices can change between runs.
struct RememberedFault {
  Fault fault;
  std::string chip_id;
};

// Whether both concern the same thing, whatever the effect.
bool same_cause(const Fault& a, const Fault& b);
// What the fault concerns, for people: "chip 3 port 7", "link 0-4", "mlx5_0", "machine".
std::string place_of(const Fault& fault);
// The NIC that this fault takes out of use, or "".
std::string_view nic_out_of_use(const Fault& fault);
// Worst effect first, then by chip, peer, port, part and code.
void sort_worst_first(std::vector<Fault>& faults);

}  // namespace chipweave::domain
