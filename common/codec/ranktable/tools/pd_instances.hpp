// PdInstances — which devices of a machine make up its prefill and decode instances, as the words
// of a generator say it ("4,5": an instance of two devices).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ranktable {

inline constexpr int kMaxDeviceId = 1023;

using DeviceIds = std::vector<int>;  // of one instance, in the order of its ranks

struct PdInstances {
  std::vector<DeviceIds> prefill;
  std::vector<DeviceIds> decode;
  std::vector<std::string> warnings;
};

// Errors name the option: what is no device id, a device used twice, instances of one kind that
// differ in size, two instances whose ids read the same without commas (1,23 and 12,3), as they
// would share the name of a file. Prefill and decode that differ in size: a warning, with `strict`
// an error.
Result<PdInstances> read_pd_instances(const std::vector<std::string>& prefill,
                                      const std::vector<std::string>& decode, bool strict);

// Ids one behind the other, as names of files have them: "0123".
std::string joined_ids(const DeviceIds& ids);
// "4,5"
std::string listed_ids(const DeviceIds& ids);

}  // namespace chipweave::codec::ranktable
