// DcmiSnapshot — what the driver library reports about a machine at one moment, as plain values.
//
// Counts and texts are checked and cut to their limits when they are read. A fact that could not be
// read is absent, and `notes` has the reason. Where the driver merely did not answer in time or was
// not ready, the fact is `unanswered`, too: DcmiMemory fills in what it answered last.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"

namespace chipweave::agent {

struct DcmiError {
  std::uint32_t code = 0;
  std::string text;  // from the driver; may be ""
};

enum class DcmiFact {
  // Of DcmiSample.
  health,
  network,
  errors,
  hccs,
  // Of DcmiDevice.
  logic_id,
  physical_id,
  chip,
  board,
  addresses,
  super_pod,
  counters,
  cpus,
};

// What may change at any time and is read often.
struct DcmiSample {
  DcmiPlace place;
  bool gone = false;                  // the driver has no such device
  dcmi::Code answer = 0;              // of the health function
  std::optional<unsigned> health;     // 0 healthy, 1 minor, 2 major, 3 critical
  std::optional<int> network;         // dcmi_rdfx_detect_result
  std::vector<std::uint32_t> errors;  // active codes, ascending
  std::optional<std::uint32_t> pcs;   // HCCS: 0 is healthy
  std::optional<std::uint32_t> hdlc;  // HCCS: 3 is healthy
  std::set<DcmiFact> unanswered;      // of these
  friend bool operator==(const DcmiSample&, const DcmiSample&) = default;

  // The device is there, but the driver cannot tell how it is.
  bool not_responding() const { return unanswered.contains(DcmiFact::health); }
  bool network_bad() const;
  bool hccs_bad() const;
};

struct DcmiSuperPod {
  std::optional<std::uint32_t> sdid;
  int size = -1;  // -1 in any field: the driver has none
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
  DcmiSample sample;
  std::optional<int> logic_id;
  std::optional<int> physical_id;
  std::string chip_type;
  std::string chip_name;  // "910B3"
  std::string npu_name;
  std::optional<int> ai_cores;
  std::optional<std::uint32_t> board;
  std::vector<DcmiError> errors;          // of sample.errors, with their texts
  std::vector<std::string> addresses;     // of its RoCE port
  std::optional<DcmiSuperPod> super_pod;  // absent: not supported
  std::vector<DcmiPcsCounters> counters;  // of PCS with traffic
  std::string cpus;                       // "144-167"
  std::set<DcmiFact> unanswered;          // of these
  std::vector<std::string> notes;
};

// How two devices are connected, first position below the second.
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
  // Cards whose devices the driver did not list in time, with the reason.
  std::map<int, dcmi::Code> unlisted;
  bool pairs_unanswered = false;  // some of them
  std::vector<std::string> notes;
};

}  // namespace chipweave::agent
