// NVML's binary interface as far as the probe calls it: numbers, layouts and signatures of
// libnvidia-ml.so.1, which is loaded at run time and may be of any driver.
//
// Own declarations of an interface, so that chipweave builds without a header of the vendor. The
// library fills these structs, so each is held to the size and offsets of the real one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chipweave::agent::nvml {

using Code = int;
inline constexpr Code kSuccess = 0;
inline constexpr Code kUninitialized = 1;
inline constexpr Code kInvalidArgument = 2;
inline constexpr Code kNotSupported = 3;
inline constexpr Code kNotFound = 6;
inline constexpr Code kDriverNotLoaded = 9;
inline constexpr Code kTimeout = 10;
inline constexpr Code kFunctionNotFound = 13;
inline constexpr Code kGpuIsLost = 15;
inline constexpr Code kResetRequired = 16;
inline constexpr Code kLibraryMismatch = 18;  // the driver was upgraded under its kernel module
inline constexpr Code kVersionMismatch = 25;  // of a struct: an older one may be understood
inline constexpr Code kUnknown = 999;

inline constexpr unsigned kInitNoGpus = 1;  // do not fail where there is no GPU

// nvmlDevice_t and nvmlEventSet_t: opaque pointers of the library.
struct DeviceTag;
using Device = DeviceTag*;
struct EventSetTag;
using EventSet = EventSetTag*;

inline constexpr unsigned kDriverVersionBytes = 80;
inline constexpr unsigned kUuidBytes = 96;
inline constexpr unsigned kNameBytes = 96;

// Levels of nvmlDeviceGetTopologyCommonAncestor.
inline constexpr int kLevelInternal = 0;
inline constexpr int kLevelSingle = 10;
inline constexpr int kLevelMultiple = 20;
inline constexpr int kLevelHostBridge = 30;
inline constexpr int kLevelNode = 40;
inline constexpr int kLevelSystem = 50;

inline constexpr unsigned kMaxLinks = 36;
inline constexpr int kCapabilityP2p = 0;
inline constexpr int kRemoteGpu = 0;
inline constexpr int kRemoteNpu = 1;
inline constexpr int kRemoteSwitch = 2;

// Counters of nvmlDeviceGetNvLinkErrorCounter.
inline constexpr int kLinkReplay = 0;
inline constexpr int kLinkRecovery = 1;
inline constexpr int kLinkCrcFlit = 2;

inline constexpr int kEccCorrected = 0;
inline constexpr int kEccUncorrected = 1;
inline constexpr int kEccVolatile = 0;  // since the driver was loaded
inline constexpr unsigned kScopeNumaNode = 0;

// Fields of nvmlDeviceGetFieldValues; of those that begin with Link, `scope` is the link.
// Blackwell answers none of the three error counters of the data link layer (nor does
// nvmlDeviceGetNvLinkErrorCounter there: NVML API reference, change log of v560 to v565); it counts
// the recoveries of a link in a field of its own.
inline constexpr std::uint32_t kFieldMemoryTemperature = 82;  // degrees Celsius
inline constexpr std::uint32_t kFieldLinkDataSent = 138;      // KiB, without protocol
inline constexpr std::uint32_t kFieldLinkDataReceived = 139;  // likewise
inline constexpr std::uint32_t kFieldLinkReplay = 161;
inline constexpr std::uint32_t kFieldLinkRecovery = 162;
inline constexpr std::uint32_t kFieldLinkCrc = 163;
inline constexpr std::uint32_t kFieldLinkState = 165;          // 0 inactive, 1 active, 2 asleep
inline constexpr std::uint32_t kFieldPcieBytesSent = 197;      // "can be wrapped"
inline constexpr std::uint32_t kFieldPcieBytesReceived = 198;  // likewise
inline constexpr std::uint32_t kFieldLinkBytesSent = 202;      // NVLink 5
inline constexpr std::uint32_t kFieldLinkBytesReceived = 204;  // likewise
inline constexpr std::uint32_t kFieldLinkRecoveryEvents = 215;
inline constexpr std::uint32_t kFieldRecoveryAction = 230;

// Types of events, one bit each.
inline constexpr std::uint64_t kEventSbe = 0x1;
inline constexpr std::uint64_t kEventDbe = 0x2;
inline constexpr std::uint64_t kEventXid = 0x8;
inline constexpr std::uint32_t kWholeGpu = 0xffffffff;  // in place of an instance of MIG

// Reasons for the current clocks, one bit each (NVML API reference, NvmlClocksEventReasons).
inline constexpr std::uint64_t kClocksSwPowerCap = 0x4;
inline constexpr std::uint64_t kClocksHwSlowdown = 0x8;
inline constexpr std::uint64_t kClocksSyncBoost = 0x10;
inline constexpr std::uint64_t kClocksSwThermalSlowdown = 0x20;
inline constexpr std::uint64_t kClocksHwThermalSlowdown = 0x40;
inline constexpr std::uint64_t kClocksHwPowerBrake = 0x80;

inline constexpr int kTemperatureGpu = 0;
inline constexpr int kClockSm = 1;

struct PciInfo {
  char bus_id_legacy[16];
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t pci_device_id;
  std::uint32_t pci_subsystem_id;
  char bus_id[32];  // older functions end before it
};
static_assert(sizeof(PciInfo) == 68);
static_assert(offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, bus) == 20);
static_assert(offsetof(PciInfo, device) == 24 && offsetof(PciInfo, pci_device_id) == 28);
static_assert(offsetof(PciInfo, pci_subsystem_id) == 32 && offsetof(PciInfo, bus_id) == 36);

struct Memory {
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;
};
static_assert(sizeof(Memory) == 24);
static_assert(offsetof(Memory, free) == 8 && offsetof(Memory, used) == 16);

// `version` of a struct that has one, to be set before the call.
constexpr std::uint32_t struct_version(std::size_t size, std::uint32_t version) {
  return static_cast<std::uint32_t>(size) | (version << 24U);
}

// Memory of the driver and firmware is not part of `used`, as it is in version 1.
struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total;
  std::uint64_t reserved;
  std::uint64_t free;
  std::uint64_t used;
};
static_assert(sizeof(MemoryV2) == 40);
static_assert(offsetof(MemoryV2, total) == 8 && offsetof(MemoryV2, reserved) == 16);
static_assert(offsetof(MemoryV2, free) == 24 && offsetof(MemoryV2, used) == 32);
inline constexpr std::uint32_t kMemoryV2 = struct_version(sizeof(MemoryV2), 2);
static_assert(kMemoryV2 == 0x02000028);

// Percent of the last sample period of the driver, a sixth of a second to a second.
struct Utilization {
  std::uint32_t gpu;
  std::uint32_t memory;
};
static_assert(sizeof(Utilization) == 8 && offsetof(Utilization, memory) == 4);

struct Temperature {
  std::uint32_t version;
  std::int32_t sensor;
  std::int32_t celsius;
};
static_assert(sizeof(Temperature) == 12);
static_assert(offsetof(Temperature, sensor) == 4 && offsetof(Temperature, celsius) == 8);
inline constexpr std::uint32_t kTemperatureV1 = struct_version(sizeof(Temperature), 1);
static_assert(kTemperatureV1 == 0x0100000c);

struct FabricV1 {
  unsigned char cluster_uuid[16];
  std::int32_t status;
  std::uint32_t clique;
  std::uint8_t state;
};
static_assert(sizeof(FabricV1) == 28);
static_assert(offsetof(FabricV1, status) == 16 && offsetof(FabricV1, clique) == 20);
static_assert(offsetof(FabricV1, state) == 24);

// Version 3; version 2 is the same without health_summary.
struct Fabric {
  std::uint32_t version;
  unsigned char cluster_uuid[16];
  std::int32_t status;
  std::uint32_t clique;
  std::uint8_t state;
  std::uint32_t health_mask;
  std::uint8_t health_summary;
};
static_assert(sizeof(Fabric) == 40);
static_assert(offsetof(Fabric, cluster_uuid) == 4 && offsetof(Fabric, status) == 20);
static_assert(offsetof(Fabric, clique) == 24 && offsetof(Fabric, state) == 28);
static_assert(offsetof(Fabric, health_mask) == 32 && offsetof(Fabric, health_summary) == 36);
inline constexpr std::uint32_t kFabricV3 = struct_version(sizeof(Fabric), 3);
inline constexpr std::uint32_t kFabricV2 = struct_version(offsetof(Fabric, health_summary), 2);
static_assert(kFabricV3 == 0x03000028 && kFabricV2 == 0x02000024);

struct FieldValue {
  std::uint32_t field;
  std::uint32_t scope;
  std::int64_t timestamp;
  std::int64_t latency_us;
  std::uint32_t value_type;
  Code result;
  std::uint64_t value;  // a union there: small numbers lie in its low half
};
static_assert(sizeof(FieldValue) == 40);
static_assert(offsetof(FieldValue, scope) == 4 && offsetof(FieldValue, timestamp) == 8);
static_assert(offsetof(FieldValue, latency_us) == 16 && offsetof(FieldValue, value_type) == 24);
static_assert(offsetof(FieldValue, result) == 28 && offsetof(FieldValue, value) == 32);

// Types of the union's value (NVML API reference, nvmlValueType_t); no field that we read is a
// double.
inline constexpr std::uint32_t kUnsignedInt = 1;
inline constexpr std::uint32_t kUnsignedLong = 2;
inline constexpr std::uint32_t kUnsignedLongLong = 3;
inline constexpr std::uint32_t kSignedLongLong = 4;
constexpr std::uint64_t number_of(const FieldValue& field) {
  const bool wide = field.value_type >= kUnsignedLong && field.value_type <= kSignedLongLong;
  return wide ? field.value : field.value & 0xffffffffU;
}

struct EventData {
  Device device;
  std::uint64_t type;
  std::uint64_t data;  // of an XID event: its number
  std::uint32_t gpu_instance;
  std::uint32_t compute_instance;  // nvmlEventSetWait ends before these two
};
static_assert(sizeof(EventData) == 32);
static_assert(offsetof(EventData, type) == 8 && offsetof(EventData, data) == 16);
static_assert(offsetof(EventData, gpu_instance) == 24);
static_assert(offsetof(EventData, compute_instance) == 28);

// The attributes of a MIG instance.
struct DeviceAttributes {
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines;
  std::uint32_t decoders;
  std::uint32_t encoders;
  std::uint32_t jpegs;
  std::uint32_t ofas;
  std::uint32_t gpu_slices;
  std::uint32_t compute_slices;
  std::uint64_t memory_mib;
};
static_assert(sizeof(DeviceAttributes) == 40);
static_assert(offsetof(DeviceAttributes, gpu_slices) == 24);
static_assert(offsetof(DeviceAttributes, memory_mib) == 32);

using U = unsigned int;
using GetText = Code(Device, char*, U);
using GetNumber = Code(Device, U*);
using GetTwoNumbers = Code(Device, U*, U*);
using GetInt = Code(Device, int*);
using GetTwoInts = Code(Device, int*, int*);

}  // namespace chipweave::agent::nvml
