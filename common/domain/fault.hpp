// Fault — something that is wrong with a machine, from when on, and what follows: what the health
// policy made of signals.
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

// What an agent tells of faults at most: the worst ones, which come first, and bytes of one text.
inline constexpr std::size_t kMaxReportedFaults = 256;
inline constexpr std::size_t kMaxFaultTextBytes = 256;
// Milliseconds: the end of the year 2261, the last one that a clock of nanoseconds can say.
inline constexpr std::int64_t kLatestFaultTime = 9214646399999;

inline constexpr std::int64_t kHeldUntilReset = -1;

struct Fault {
  std::string code;  // of the signal, or "link.down", "chip.gone", "cordoned"
  Effect effect = Effect::note;
  std::optional<ChipIndex> chip;  // absent: the machine, or a NIC
  std::optional<ChipIndex> peer;  // of a link between two chips; chip is the lower one
  std::optional<int> port;        // of the chip
  std::string part;               // name of the NIC or switch concerned; else ""
  int lanes = 0;                  // that are down by it, of a link
  std::string text;               // for people
  std::int64_t since = 0;         // Unix time in ms
  // Held although its cause is gone: until then, or until a reset. 0: the cause is there.
  std::int64_t held_until = 0;

  friend bool operator==(const Fault&, const Fault&) = default;
};

// A fault that an earlier run of the agent told of, and the id of its chip then ("" without one):
// the next run may number the chips otherwise.
struct RememberedFault {
  Fault fault;
  std::string chip_id;
};

// Whether both are of the same thing, however bad.
bool same_cause(const Fault& a, const Fault& b);
// Of what it is, for people: "chip 3 port 7", "link 0-4", "mlx5_0", "machine".
std::string place_of(const Fault& fault);
// The NIC that is out of use by it; "" if it is of something else, or takes none out of use.
std::string_view nic_out_of_use(const Fault& fault);
// Worst effect first, then by chip, peer, port, part and code.
void sort_worst_first(std::vector<Fault>& faults);

}  // namespace chipweave::domain
