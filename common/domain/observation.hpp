// Observation — what a probe sees of its machine at one moment: the wiring, and what its source
// reports about health.
//
// Facts only: the health policy decides which signals make a chip or a lane unusable, and for how
// long (node-agent/app/health). Lanes and chips that the source itself reports as down may be down
// in the topology, too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// One lane of a fast link, as a port of one chip. Each end of a direct link has one.
struct Port {
  ChipIndex chip;
  int number = 0;                 // the vendor's number on that chip
  std::optional<ChipIndex> peer;  // absent: a switch
  bool up = true;
};

enum class SignalKind {
  state,    // holds as long as each observation repeats it
  event,    // happened once since the previous observation
  counter,  // `value` accumulates; a smaller value than before means a restart
  reading,  // `value` is a current measurement
};

// What a source reports about a chip, one of its ports, or a NIC.
struct Signal {
  SignalKind kind = SignalKind::state;
  // Source, dot, what, in lower case: "xid.79", "nvml.lost", "nvlink.crc",
  // "dcmi.80e01801", "ras.umc.ue", "nic.down". Matched by policy rules.
  std::string code;
  std::optional<ChipIndex> chip;  // absent: the machine, or a NIC
  std::optional<int> port;        // of the chip
  std::string nic;                // name in the topology, or ""
  double value = 0;               // value of a counter or reading
  std::string text;               // human-readable, without chip or code; may be ""
  // Of an event: the chip's PCI address, where known. Drivers may renumber chips between an event
  // and the next observation, so it takes precedence over `chip`.
  std::string pci = {};
};

// Whether the event says that a chip, or all of them, was reset: that ends what was before it.
inline bool is_reset(const Signal& event) { return event.code.ends_with(".reset"); }

// What a network port is connected to, by LLDP.
struct Neighbour {
  std::string nic;                // name of a NIC; "" if the port belongs to a chip
  std::optional<ChipIndex> chip;  // that the port belongs to
  std::string system;             // name of the switch; may be ""
  std::string port;               // the port of the switch: "400GE1/1/20:2"
  std::string address;            // management address of the switch; may be ""
};

// Where an observation comes from.
enum class Basis {
  driver,    // the vendor's driver; for a declared machine, its declaration
  starting,  // the PCI bus alone: the driver is about to be asked for the first time
  bus,       // the PCI bus alone: the driver is absent or has never responded
};

struct Observation {
  std::string machine;  // profile or model name
  NodeTopology topology;
  std::vector<std::string> warnings;  // assumptions, and what could not be observed
  std::vector<Port> ports = {};       // if the source distinguishes lanes
  std::vector<Signal> signals = {};
  std::vector<Neighbour> neighbours = {};
  // Other published facts by name: "driver" → "550.54.15".
  std::map<std::string, std::string> facts = {};
  Basis basis = Basis::driver;
};

}  // namespace chipweave::domain
