// NvidiaProbe — reads NVIDIA GPUs through the driver's library, NVML: topology, ports, signals
// (nvml_signals.hpp), events (nvml/nvml_events.hpp) and facts (nvml_facts.hpp).
//
// The library is opened at the first discover() and reopened after it failed as a whole, as it does
// when the driver is reloaded. The probe is outdated() when another file, or none, is in its place
// below driver_root, as after a driver container has restarted. discover() reads everything;
// changes() polls (nvml/nvml_poller.hpp) and is true after an event. sample() measures
// (nvml/nvml_sampler.hpp). The probe adds one event of its own, "nvml.reset": a GPU that was lost
// or failed responds again, or the whole library does after it was reopened (then without a chip).
// Tested with a fake library only (tests/fakes/nvml); no hardware was available. Owner: the probe
// process, on its one thread; any call may hang or crash with the driver.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io/file_stamp.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/nvml_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_memory.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct NvidiaProbeOptions {
  // A path, or a name that the loader knows or that lies in driver_root.
  std::string library = NvmlLibrary::kName;
  // Where an operator mounted the driver's files: the library is also searched for in this folder
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
  // Without a library, true at every tenth call: a driver may have been installed.
  bool changes() override;
  void wait(std::chrono::milliseconds longest) override;
  std::vector<domain::ChipMetrics> sample() override;
  std::vector<domain::Signal> take_events() override;
  bool outdated() const override;

 private:
  struct Session;  // an open library and what was created from it
  struct LoadedFile {
    std::string path;
    io::FileStamp stamp;  // just before
  };

  Result<void> open();
  void close();
  Result<NvmlSnapshot> read();
  // Reads; reopens the library if it fails as a whole.
  Result<NvmlSnapshot> read_or_reopen();
  domain::Observation observe(const NvmlSnapshot& snapshot, NvmlTopology made);
  void keep_events();
  void note_resets(const NvmlSnapshot& snapshot, const std::vector<int>& back);

  NvidiaProbeOptions options_;
  std::unique_ptr<Session> session_;
  // What this process loaded from driver_root first. It may stay loaded after it was closed, and
  // then the loader takes it for every library of its name. A library from elsewhere does not
  // count: a package may replace its file long before the kernel module is replaced.
  std::optional<LoadedFile> loaded_;
  NvmlMemory memory_;
  bool failed_ = false;  // the library as a whole, since it last worked
  int idle_ = 0;         // calls of changes() without a library
  bool reread_ = false;  // an event says that something has changed
  // For take_events(), which the loop calls after each wait() and discover(): few.
  std::vector<domain::Signal> events_;
};

}  // namespace chipweave::agent
