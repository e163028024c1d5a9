// AscendProbe — an Ascend machine through its driver library, with hccn_tool and /etc/hccn.conf for
// what the library does not report about network ports.
//
// Signals: ascend_signals.hpp, and from hccn_tool
//   hccn.link-down   state   the link of the chip's port is down; on A5 with the number of the port
// Facts: "driver", "generation", "chip-name", "card-type" and "aicore" (the halves of MindCluster's
// label servertype), "server-type" (its annotation serverType), "super-pod-id" and "server-index"
// where the driver has them (-1: none); "identity" = "unknown" where no physical id is known
// (unknown_identity.hpp).
//
// Fault events come on a thread of the driver's library (dcmi_events.hpp): what has happened once
// is an event of take_events(), anything else makes changes() true at once.
//
// Counters are those of the last discover(). hccn_tool runs on a thread: addresses and neighbours
// that come from it are part of a later discover(), which changes() then calls for. Without the
// library, only the davinci devices and their configured addresses are known; their numbers are
// physical ids up to A3, so where the bus shows other chips or none the identity is unknown.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io/file_stamp.hpp"
#include "node-agent/probes/ascend/ascend_generation.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_events.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_memory.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"
#include "node-agent/probes/ascend/hccn/hccn_watch.hpp"
#include "node-agent/probes/sysfs/sysfs_tree.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct AscendOptions {
  std::string dcmi;                          // path of libdcmi.so; "": where drivers install it
  std::string driver_root;                   // root of that installation; "": this machine's root
  std::string hccn_conf = "/etc/hccn.conf";  // "": not read
  std::string hccn_tool;                     // path; "": not run
  std::string sysfs_root;                    // below which /sys and /dev are
};

class AscendProbe final : public VendorProbe {
 public:
  explicit AscendProbe(AscendOptions options);
  // For tests: a replacement for hccn_tool.
  AscendProbe(AscendOptions options, HccnWatch::RunTool run_tool);

  // not_found: neither the library nor a davinci device. unavailable: there is a driver, but it
  // does not list its devices.
  Result<domain::Observation> discover() override;
  // Reads health, errors, network and HCCS state of each device from the driver.
  bool changes() override;
  // Returns early for an event of the driver.
  void wait(std::chrono::milliseconds longest) override;
  std::vector<domain::ChipMetrics> sample() override;
  std::vector<domain::Signal> take_events() override;

 private:
  // Compared to decide whether discover() may return something new.
  struct Seen {
    bool failed = false;
    std::vector<DcmiSample> samples;
    std::vector<int> devices;              // of /dev, without the library
    std::vector<io::FileStamp> libraries;  // where one would be, without it
    io::FileStamp conf;
    std::uint64_t answers = 0;  // of hccn_tool
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  Seen look() const;
  void open_library();
  Result<domain::Observation> with_library();
  Result<domain::Observation> without_library();
  void watch(const DcmiSnapshot& snapshot, const std::vector<int>& chips,
             AscendGeneration generation);
  void remember(const DcmiSnapshot& snapshot, const std::vector<int>& chips);
  std::vector<int> davinci_devices() const;
  bool davinci_numbers_are_physical() const;
  std::map<int, HccnAnswers> tool_answers() const;

  AscendOptions options_;
  SysfsTree tree_;
  std::optional<DcmiLibrary> library_;
  std::optional<Error> library_problem_;
  DcmiMemory memory_;
  DcmiEvents events_;
  std::map<int, int> chip_of_logic_id_;
  struct Target {
    DcmiPlace place;
    domain::ChipIndex chip;
    std::vector<int> pcs;  // HCCS links with traffic
  };
  std::vector<Target> targets_;  // devices that respond
  bool unanswered_ = false;      // facts of devices that respond, which changes() does not read
  int polls_ = 0;                // since then
  std::unique_ptr<HccnWatch> watch_;  // null: there is no tool
  std::optional<Seen> seen_;
};

}  // namespace chipweave::agent
