// DcmiSnapshot — what the driver library says of a machine at one moment, as plain values.
//
// Nothing here is trusted: counts and texts were cut to their limits when they were read; a fact
// that could not be had is absent, and `notes` says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"

namespace chipweave::agent {

struct DcmiError {
  std::uint32_t code = 0;
  std::string text;  // the driver's; may be ""
};

// What is asked often, and may change at any time.
struct DcmiPulse {
  DcmiPlace place;
  bool gone = false;                  // the driver does not answer for the device
  dcmi::Code answer = 0;              // to the question for its health
  std::optional<unsigned> health;     // 0 well, 1 minor, 2 major, 3 critical
  std::optional<int> network;         // dcmi_rdfx_detect_result
  std::vector<std::uint32_t> errors;  // active codes, ascending
  std::optional<std::uint32_t> pcs;   // HCCS: 0 where all is well
  std::optional<std::uint32_t> hdlc;  // HCCS: 3 where all is well
  friend bool operator==(const DcmiPulse&, const DcmiPulse&) = default;

  bool network_bad() const;
  bool hccs_bad() const;
};

struct DcmiSuperPod {
  std::optional<std::uint32_t> sdid;
  int size = -1;  // -1 of each: the driver has none
  int id = -1;
  int server_index = -1;
  int type = -1;  // A5
};

struct DcmiPcsCounters {
  int pcs = 0;
  std::uint64_t crc_errors = 0;
  std::uint64_t retries = 0;
};

struct DcmiDevice {
  DcmiPulse pulse;
  std::optional<int> logic_id;
  std::optional<int> physical_id;
  std::string chip_type;
  std::string chip_name;  // "910B3"
  std::string npu_name;
  std::optional<int> ai_cores;
  std::optional<std::uint32_t> board;
  std::vector<DcmiError> errors;          // of pulse.errors, with their texts
  std::vector<std::string> addresses;     // of its RoCE port
  std::optional<DcmiSuperPod> super_pod;  // absent: not supported
  std::vector<DcmiPcsCounters> counters;  // of PCS that have seen traffic
  std::string cpus;                       // "144-167"
  std::vector<std::string> notes;
};

// How two devices are joined, first position below the second.
struct DcmiPair {
  int a = 0;  // in devices
  int b = 0;
  int type = 0;  // kTopo…
};

struct DcmiSnapshot {
  std::string driver;  // "24.1.rc3"
  bool flat = false;
  int devices_per_card = 0;  // most of any card; 0: not known
  std::vector<DcmiDevice> devices;
  std::vector<DcmiPair> pairs;  // of which the type is known
  std::vector<std::string> notes;
};

}  // namespace chipweave::agent
