// AscendProbe — an Ascend machine by its driver library, with hccn_tool and /etc/hccn.conf for what
// the library does not say of the network ports.
//
// Signals: ascend_signals.hpp, and of hccn_tool
//   hccn.link-down   state   the link of the chip's port is down; on A5 with the number of the port
// Facts: "driver", "generation", "chip-name", "card-type" and "aicore" (the halves of MindCluster's
// label servertype), "server-type" (its annotation serverType), "super-pod-id" and "server-index"
// where the driver tells them (-1: it has none).
//
// Counters are those of the last discover(). Addresses and neighbours that hccn_tool has to be
// asked for come with a later discover(), which changes() then calls for: the tool is asked on a
// thread. Without the library, the davinci devices and their configured addresses are all that is
// seen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io/file_stamp.hpp"
#include "node-agent/probes/ascend/ascend_generation.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_memory.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"
#include "node-agent/probes/ascend/hccn/hccn_watch.hpp"
#include "node-agent/probes/sysfs/sysfs_tree.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct AscendOptions {
  std::string dcmi;                          // path of libdcmi.so; "": where drivers install it
  std::string driver_root;                   // below which they do; "": this machine's root
  std::string hccn_conf = "/etc/hccn.conf";  // "": not read
  std::string hccn_tool;                     // path; "": not asked
  std::string sysfs_root;                    // below which /sys and /dev are
};

class AscendProbe final : public VendorProbe {
 public:
  explicit AscendProbe(AscendOptions options);
  // For tests: who answers in hccn_tool's place.
  AscendProbe(AscendOptions options, HccnWatch::Ask ask);

  // not_found: neither the library nor a davinci device. unavailable: there is a driver, but it
  // does not list its devices.
  Result<domain::Observation> discover() override;
  // Asks the driver for health, errors, network and HCCS state of each device.
  bool changes() override;

 private:
  // What decides whether discover() would answer anew.
  struct Seen {
    bool failed = false;
    std::vector<DcmiPulse> pulses;
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
  std::vector<int> davinci_devices() const;
  std::map<int, HccnAnswers> tool_answers() const;

  AscendOptions options_;
  SysfsTree tree_;
  std::optional<DcmiLibrary> library_;
  std::optional<Error> library_problem_;
  DcmiMemory memory_;
  std::unique_ptr<HccnWatch> watch_;  // null: there is no tool to ask
  std::optional<Seen> seen_;
};

}  // namespace chipweave::agent
