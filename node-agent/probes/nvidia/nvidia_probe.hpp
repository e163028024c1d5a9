// NvidiaProbe — NVIDIA's GPUs as their driver's library NVML tells of them: topology, ports,
// signals (nvml_signals.hpp), events (nvml_events.hpp) and facts (nvml_facts.hpp).
//
// The library is opened at the first discover() and again after it failed as a whole, as it does
// when the driver is reloaded. discover() reads everything; changes() feels a pulse
// (nvml_pulse.hpp) and says whether events have come. Besides what NVML says there is an event of
// our own, "nvml.reset": a GPU that was lost or failed answers again, or the whole library does
// after it had failed and was opened anew (then without a chip). All of it is shown on a fake
// library only (tests/fakes/nvml); no hardware was at hand.
// Owner: the helper process, on its one thread; any call may hang or crash with the driver.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/nvml_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_memory.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct NvidiaProbeOptions {
  // A path, or a name that the loader knows or that lies in driver_root.
  std::string library = NvmlLibrary::kName;
  // Where an operator mounted the driver's files: the library is also looked for in this folder
  // and in its usr/lib64, usr/lib/x86_64-linux-gnu and usr/lib/aarch64-linux-gnu. "": nowhere else.
  std::string driver_root = {};
  FabricPartitions partitions = FabricPartitions::none;
};

class NvidiaProbe final : public VendorProbe {
 public:
  explicit NvidiaProbe(NvidiaProbeOptions options);
  ~NvidiaProbe() override;

  // not_found: no driver or no GPU here. unavailable: the driver does not work.
  Result<domain::Observation> discover() override;
  // Without a library, true at every tenth call: a driver may have come.
  bool changes() override;
  void wait(std::chrono::milliseconds longest) override;

 private:
  struct Session;  // a library that is open, and what was made of it

  Result<void> open();
  void close();
  Result<NvmlSnapshot> read();
  // Reads, after opening the library anew where it fails as a whole.
  Result<NvmlSnapshot> read_or_reopen();
  domain::Observation observe(const NvmlSnapshot& snapshot, NvmlTopology made);
  void add_event(domain::Signal event);
  void note_resets(const std::vector<int>& back);

  NvidiaProbeOptions options_;
  std::unique_ptr<Session> session_;
  NvmlMemory memory_;
  bool failed_ = false;                 // the library, as a whole, since it last answered
  int idle_ = 0;                        // calls of changes() without a library
  std::vector<domain::Signal> events_;  // for the next observation
};

}  // namespace chipweave::agent
