// Probe — where the agent learns what its machine is. One implementation a source: a profile, a
// file, sysfs; vendor libraries come behind the same interface.
//
// Called on the agent's loop thread only. A probe with events of its own (a vendor library)
// collects them on its thread and lets changes() tell.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

struct Discovery {
  std::string machine;  // what people call it: profile or model name
  domain::NodeTopology topology;
  std::vector<std::string> warnings;  // what was assumed or could not be seen
};

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  // The whole machine as it is now. not_found: there are no accelerators here, an ordinary state.
  virtual Result<Discovery> discover() = 0;
  // True if discover() may answer differently than the last time it was called. Cheap: asked twice
  // a second.
  virtual bool changes() = 0;
};

}  // namespace chipweave::agent
