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
inline constexpr Code kInvalidArgument = 2;
inline constexpr Code kNotSupported = 3;
inline constexpr Code kDriverNotLoaded = 9;
inline constexpr Code kFunctionNotFound = 13;
inline constexpr Code kGpuIsLost = 15;
inline constexpr Code kResetRequired = 16;
inline constexpr Code kLibraryMismatch = 18;  // the driver was upgraded under its kernel module
inline constexpr Code kVersionMismatch = 25;  // of a struct: an older one may be understood
inline constexpr Code kUnknown = 999;

inline constexpr unsigned kInitNoGpus = 1;  // do not fail where there is no GPU

// nvmlDevice_t: a pointer that only the library looks behind.
struct DeviceTag;
using Device = DeviceTag*;

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

inline constexpr int kEccUncorrected = 1;
inline constexpr int kEccVolatile = 0;
inline constexpr unsigned kScopeNumaNode = 0;

inline constexpr std::uint32_t kFieldLinkState = 165;  // 0 inactive, 1 active, 2 asleep
inline constexpr std::uint32_t kFieldRecoveryAction = 230;

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

using U = unsigned int;
using GetText = Code(Device, char*, U);
using GetNumber = Code(Device, U*);
using GetTwoNumbers = Code(Device, U*, U*);
using GetInt = Code(Device, int*);
using GetTwoInts = Code(Device, int*, int*);

}  // namespace chipweave::agent::nvml
