// PreparedClaims — the checkpoint of the node's DRA driver: the claims that it has prepared, with
// all that their CDI files say, so that these can be written again without the machine.
//
// One JSON object of one version, with a checksum; unknown and missing keys are errors. Whatever
// cannot be read exactly is refused: an empty list would give chips away twice.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// A device node in containers.
struct CdiNode {
  std::string path;
  std::string host_path;  // empty: the same
  friend bool operator==(const CdiNode&, const CdiNode&) = default;
};

struct PreparedDevice {
  std::string request;
  std::string pool;
  std::string device;
  std::string chip;  // what identifies the hardware: id or PCI address; empty: not known
  std::vector<std::string> env;  // "NAME=value"
  std::vector<CdiNode> nodes;
  std::vector<std::string> also;  // CDI names of other programs, for libraries: "nvidia.com/gpu=…"
  friend bool operator==(const PreparedDevice&, const PreparedDevice&) = default;
};

struct PreparedClaim {
  std::string ns;
  std::string name;
  std::string uid;
  std::vector<PreparedDevice> devices;
  friend bool operator==(const PreparedClaim&, const PreparedClaim&) = default;
};

struct PreparedClaims {
  std::string driver;
  std::string pool;
  std::map<std::string, PreparedClaim> claims;  // by uid
  friend bool operator==(const PreparedClaims&, const PreparedClaims&) = default;
};

inline constexpr std::size_t kMaxPreparedBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxPreparedClaims = 1024;

// Letters, digits and '-': a uid that may be a part of file names.
bool is_plain_uid(std::string_view uid);

std::string write_prepared_claims(const PreparedClaims& claims);
// Errors: invalid_argument (damaged, of another version, or a device that two claims have),
// limit_exceeded.
Result<PreparedClaims> read_prepared_claims(std::string_view text);

}  // namespace chipweave::codec
