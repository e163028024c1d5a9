// Observation — what a probe sees of its machine at one moment: the wiring, and whatever its source
// says about health.
//
// Facts without judgement: which signals make a chip or a lane unusable, and for how long, is the
// health policy's to say (node-agent/app/health). The topology says how the machine is wired; lanes
// and chips that the source itself calls down may be so in it, too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// One lane of a fast link as the port of one chip has it. Both ends of a direct link have one.
struct Port {
  ChipIndex chip;
  int number = 0;                 // the vendor's, on that chip
  std::optional<ChipIndex> peer;  // absent: a switch
  bool up = true;
};

enum class SignalKind {
  state,    // holds as long as each observation repeats it
  event,    // happened once, since the observation before
  counter,  // `value` has come together since some beginning; a smaller one is a new beginning
  reading,  // `value` is a measure of this moment
};

// Something that a source says of a chip, of one of its ports, or of a NIC.
struct Signal {
  SignalKind kind = SignalKind::state;
  // Of whom, in lower case: source, dot, what. "xid.79", "nvml.lost", "nvlink.crc",
  // "dcmi.80e01801", "ras.umc.ue", "nic.down". The policy goes by it.
  std::string code;
  std::optional<ChipIndex> chip;  // absent: the machine, or a NIC
  std::optional<int> port;        // of the chip
  std::string nic;                // of the topology; else ""
  double value = 0;               // of a counter or reading
  std::string text;               // for people, without naming chip or code; may be ""
};

// Where a port of the network leads, as the device at its other end says by LLDP.
struct Neighbour {
  std::string nic;                // name of a NIC; "" where the port is a chip's own
  std::optional<ChipIndex> chip;  // whose own port it is
  std::string system;             // name of the switch; "" where it does not say
  std::string port;               // of the switch: "400GE1/1/20:2"
  std::string address;            // management address of the switch; may be ""
};

struct Observation {
  std::string machine;  // what people call it: profile or model name
  NodeTopology topology;
  std::vector<std::string> warnings;  // what was assumed or could not be seen
  std::vector<Port> ports = {};       // where the source tells lanes apart
  std::vector<Signal> signals = {};
  std::vector<Neighbour> neighbours = {};
  // What else is published, by a name of ours: "driver" → "550.54.15".
  std::map<std::string, std::string> facts = {};
};

}  // namespace chipweave::domain
