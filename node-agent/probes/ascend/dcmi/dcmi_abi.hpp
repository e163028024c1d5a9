// DCMI's binary interface as far as the probe calls it: numbers, layouts and signatures of
// libdcmi.so, which is loaded at run time and may be of any driver.
//
// Own declarations of an interface, so that chipweave builds without a header of the vendor. The
// library fills these structs, so each is held to the size and offsets of the published one.
// Functions whose structs are not listed here (PCI address, memory) are not called.
// Tested against tests/fakes/dcmi only; no Ascend driver was available.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chipweave::agent::dcmi {

using Code = int;
inline constexpr Code kSuccess = 0;
inline constexpr Code kInvalidParameter = -8001;
inline constexpr Code kNoPermission = -8002;
inline constexpr Code kTimeout = -8006;
inline constexpr Code kInvalidId = -8007;
inline constexpr Code kNotPresent = -8008;
inline constexpr Code kNotReady = -8012;
inline constexpr Code kNotInContainer = -8013;
inline constexpr Code kUpgrading = -8017;
inline constexpr Code kOccupied = -8020;
inline constexpr Code kNotSupported = -8255;
inline constexpr Code kFunctionNotFound = 1;  // ours: the library has no such function

// True if the same call may answer a moment later: says nothing about the device itself.
constexpr bool is_transient(Code code) {
  return code == kTimeout || code == kNotReady || code == kUpgrading || code == kOccupied;
}

// A number without a value.
inline constexpr std::uint32_t kNone = 0xffffffff;

inline constexpr int kMaxCards = 64;
inline constexpr unsigned kMaxErrorCodes = 128;
inline constexpr int kErrorTextBytes = 256;
inline constexpr unsigned kVersionBytes = 64;
inline constexpr int kCpuListBytes = 1024;

// dcmi_get_device_health
inline constexpr std::uint32_t kHealthMinor = 1;
inline constexpr std::uint32_t kHealthMajor = 2;
inline constexpr std::uint32_t kHealthCritical = 3;

// dcmi_rdfx_detect_result: both mean that nothing is wrong with the network port.
inline constexpr int kNetworkOk = 0;
inline constexpr int kNetworkInit = 6;
inline constexpr int kNetworkStates = 9;  // 0 to 8

// dcmi_get_topo_info_by_device_id
inline constexpr int kTopoSelf = 0;
inline constexpr int kTopoSys = 1;
inline constexpr int kTopoPhb = 2;
inline constexpr int kTopoHccs = 3;
inline constexpr int kTopoPxb = 4;
inline constexpr int kTopoPix = 5;
inline constexpr int kTopoSio = 6;  // on A3; before it this number meant "unknown"
inline constexpr int kTopoHccsSwitch = 7;
inline constexpr int kTopoUb = 8;

inline constexpr int kPortRoce = 1;  // dcmi_port_type
inline constexpr int kIpv4 = 0;      // dcmi_ip_addr_type
inline constexpr int kIpv6 = 1;

// Main and sub commands of dcmi_get_device_info (dcmi_main_cmd).
inline constexpr int kChipInfo = 12;
inline constexpr unsigned kChipInfoSuperPod = 1;
inline constexpr int kHccs = 16;
inline constexpr unsigned kHccsStatus = 0;
inline constexpr unsigned kHccsCounters = 5;  // 64-bit
inline constexpr std::uint32_t kPcsOk = 0;
inline constexpr std::uint32_t kHdlcOk = 3;
inline constexpr std::size_t kMaxPcs = 16;

// Of what dcmi_get_device_utilization_rate, dcmi_get_device_frequency (current) and
// dcmi_get_device_ecc_info report.
inline constexpr int kAiCoreUtilization = 2;
inline constexpr int kAiCoreFrequency = 7;
inline constexpr int kEccOfDdr = 0;
inline constexpr int kEccOfHbm = 2;

struct IpAddress {
  std::uint8_t bytes[16];  // IPv4: the first four
  std::int32_t type;
};
static_assert(sizeof(IpAddress) == 20 && offsetof(IpAddress, type) == 16);

struct ChipInfo {
  char chip_type[32];
  char chip_name[32];
  char chip_version[32];
  std::uint32_t ai_cores;
  char npu_name[32];
};
static_assert(sizeof(ChipInfo) == 132);
static_assert(offsetof(ChipInfo, chip_name) == 32 && offsetof(ChipInfo, chip_version) == 64);
static_assert(offsetof(ChipInfo, ai_cores) == 96 && offsetof(ChipInfo, npu_name) == 100);

struct BoardInfo {
  std::uint32_t board;
  std::uint32_t pcb;
  std::uint32_t bom;
  std::uint32_t slot;
};
static_assert(sizeof(BoardInfo) == 16 && offsetof(BoardInfo, slot) == 12);

struct SuperPodInfo {
  std::uint32_t sdid;
  std::uint32_t size;
  std::uint32_t id;
  std::uint32_t server_index;
  std::uint32_t chassis;
  std::uint32_t type;
  std::uint32_t reserved[6];
};
static_assert(sizeof(SuperPodInfo) == 48);
static_assert(offsetof(SuperPodInfo, id) == 8 && offsetof(SuperPodInfo, server_index) == 12);
static_assert(offsetof(SuperPodInfo, chassis) == 16 && offsetof(SuperPodInfo, type) == 20);

struct HccsStatus {
  std::uint32_t pcs;
  std::uint32_t hdlc;
  std::uint8_t reserved[4];
};
static_assert(sizeof(HccsStatus) == 12 && offsetof(HccsStatus, hdlc) == 4);

// By PCS. The tail is what published headers reserve: the driver may fill all of it.
struct HccsCounters {
  std::uint64_t sent[kMaxPcs];
  std::uint64_t received[kMaxPcs];
  std::uint64_t crc_errors[kMaxPcs];
  std::uint64_t retries[kMaxPcs];
  std::uint64_t reserved[64];
};
static_assert(sizeof(HccsCounters) == 1024);
static_assert(offsetof(HccsCounters, crc_errors) == 256 && offsetof(HccsCounters, retries) == 384);

struct HbmInfo {
  std::uint64_t size_mib;
  std::uint32_t mhz;
  std::uint64_t used_mib;
  std::int32_t celsius;
  std::uint32_t bandwidth_percent;
};
static_assert(sizeof(HbmInfo) == 32 && offsetof(HbmInfo, mhz) == 8);
static_assert(offsetof(HbmInfo, used_mib) == 16 && offsetof(HbmInfo, celsius) == 24);

struct EccInfo {
  std::int32_t enabled;
  std::uint32_t single_bit;
  std::uint32_t double_bit;
  std::uint32_t lifetime_single_bit;
  std::uint32_t lifetime_double_bit;
  std::uint32_t single_bit_pages;
  std::uint32_t double_bit_pages;
};
static_assert(sizeof(EccInfo) == 28 && offsetof(EccInfo, double_bit) == 8);

// By PCS, in GB/s, during the time that the caller sets: 1 to 1000 ms, for which the call blocks.
struct HccsBandwidth {
  std::int32_t profiling_ms;
  double total_sent;
  double total_received;
  double sent[kMaxPcs];
  double received[kMaxPcs];
};
static_assert(sizeof(HccsBandwidth) == 280 && offsetof(HccsBandwidth, total_sent) == 8);
static_assert(offsetof(HccsBandwidth, sent) == 24 && offsetof(HccsBandwidth, received) == 152);

// dcmi_event_filter. No flag: all events.
struct EventFilter {
  std::uint64_t flags;
  std::uint32_t event;
  std::uint8_t severity;
  std::uint8_t node_type;
  std::uint8_t reserved[32];
};
static_assert(sizeof(EventFilter) == 48 && offsetof(EventFilter, reserved) == 14);

inline constexpr int kAllDevices = -1;    // as card and as device of a subscription
inline constexpr int kDmsFaultEvent = 0;  // dcmi_event_type

// dcmi_dms_fault_event.assertion
inline constexpr std::uint8_t kFaultEnded = 0;
inline constexpr std::uint8_t kFaultBegun = 1;
inline constexpr std::uint8_t kOneTime = 2;

inline constexpr std::size_t kEventNameBytes = 256;

// dcmi_dms_fault_event. The tail is what old headers reserve.
struct FaultEvent {
  std::uint32_t id;      // an error code
  std::uint16_t device;  // its logic id
  std::uint8_t node_type;
  std::uint8_t node;
  std::uint8_t sub_node_type;
  std::uint8_t sub_node;
  std::uint8_t severity;  // 0 warning, 1 minor, 2 major, 3 critical
  std::uint8_t assertion;
  std::int32_t serial;
  std::int32_t notification;
  std::uint64_t raised;
  char name[kEventNameBytes];
  char data[32];
  std::uint8_t reserved[32];
};
static_assert(sizeof(FaultEvent) == 352 && offsetof(FaultEvent, assertion) == 11);
static_assert(offsetof(FaultEvent, raised) == 24 && offsetof(FaultEvent, name) == 32);
static_assert(offsetof(FaultEvent, data) == 288 && offsetof(FaultEvent, reserved) == 320);

// dcmi_event, whose union has one member.
struct Event {
  std::int32_t type;
  FaultEvent fault;
};
static_assert(sizeof(Event) == 360 && offsetof(Event, fault) == 8);

// dcmi_*: a device is the number of its card and its number on that card.
using Init = Code();
using GetCards = Code(int* count, int* cards, int length);
using GetCount = Code(int card, int* count);
using GetIds = Code(int card, int* device_id_max, int* mcu, int* cpu);
using GetLogicId = Code(int* logic, int card, int device);
using GetPhysicalId = Code(unsigned logic, unsigned* physical);
using GetNumber = Code(int card, int device, unsigned* number);
using GetInt = Code(int card, int device, int* number);
using GetErrors = Code(int card, int device, int* count, unsigned* codes, unsigned length);
using GetErrorText = Code(int card, int device, unsigned code, unsigned char* text, int length);
using GetIp = Code(int card, int device, int port_type, int port, IpAddress* ip, IpAddress* mask);
using GetChipInfo = Code(int card, int device, ChipInfo* info);
using GetBoardInfo = Code(int card, int device, BoardInfo* info);
using GetInfo = Code(int card, int device, int command, unsigned sub, void* buffer, unsigned* size);
using GetTopo = Code(int card, int device, int other_card, int other_device, int* type);
using GetCpus = Code(int card, int device, char* cpus, int* length);
using GetOf = Code(int card, int device, int what, unsigned* number);
using GetHbm = Code(int card, int device, HbmInfo* info);
using GetEcc = Code(int card, int device, int of, EccInfo* info);
using GetHccsBandwidth = Code(int card, int device, HccsBandwidth* info);
using GetVersion = Code(char* version, unsigned length);
using OnEvent = void(Event* event);
using Subscribe = Code(int card, int device, EventFilter filter, OnEvent* on_event);

// dcmiv2_*: a device is one number.
using FlatGetDevices = Code(int* devices, int* count, int length);
using FlatGetPhysicalId = Code(unsigned device, unsigned* physical);
using FlatGetNumber = Code(int device, unsigned* number);
using FlatGetInt = Code(int device, int* number);
using FlatGetErrors = Code(int device, int* count, unsigned* codes, unsigned length);
using FlatGetChipInfo = Code(int device, ChipInfo* info);
using FlatGetBoardInfo = Code(int device, BoardInfo* info);
using FlatGetInfo = Code(int device, int command, unsigned sub, void* buffer, unsigned* size);
using FlatGetTopo = Code(int device, int other, int* type);
using FlatGetOf = Code(int device, int what, unsigned* number);
using FlatGetHbm = Code(int device, HbmInfo* info);
using FlatGetEcc = Code(int device, int of, EccInfo* info);
using FlatSubscribe = Code(int device, EventFilter filter, OnEvent* on_event);

}  // namespace chipweave::agent::dcmi
