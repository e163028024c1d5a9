#include "common/codec/kube/kubelet/kubelet_claims.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxKubeletClaims = 16384;
constexpr std::size_t kMaxPodsOfClaim = 4096;
constexpr std::size_t kMaxDriversOfClaim = 64;

class ClaimStates {
 public:
  Result<KubeletClaimDevices> read(JsonValue document) {
    JsonProblems problems(document);
    const JsonObject root = JsonObject::tolerant(document, problems);
    if (!root) return problems.error();
    for (const JsonValue value : root.array("ClaimInfoStateList", kMaxKubeletClaims)) {
      if (!claim(JsonObject::tolerant(value, problems))) {
        return make_error(Errc::limit_exceeded, "it lists more than " +
                                                    std::to_string(kMaxCheckpointedDevices) +
                                                    " devices, more than any machine has");
      }
    }
    if (problems.any()) return problems.error();
    std::sort(out_.begin(), out_.end());
    out_.erase(std::unique(out_.begin(), out_.end()), out_.end());
    return std::move(out_);
  }

 private:
  // false: too many devices.
  bool claim(const JsonObject& state) {
    KubeletClaimDevice device;
    device.ns = state.require_text("Namespace").value_or("");
    device.claim = state.require_text("ClaimName").value_or("");
    for (const JsonValue driver : state.map("DriverState", kMaxDriversOfClaim)) {
      device.driver = std::string(driver.name());
      const JsonObject of_driver = JsonObject::tolerant(driver, state.problems());
      for (const JsonValue value : of_driver.array("Devices", kMaxCheckpointedDevices)) {
        const JsonObject one = JsonObject::tolerant(value, state.problems());
        device.pool = one.require_text("PoolName").value_or("");
        device.device = one.require_text("DeviceName").value_or("");
        for (const JsonValue pod : state.map("PodUIDs", kMaxPodsOfClaim)) {
          if (out_.size() == kMaxCheckpointedDevices) return false;
          device.pod_uid = std::string(pod.name());
          out_.push_back(device);
        }
      }
    }
    return true;
  }

  KubeletClaimDevices out_;
};

}  // namespace

Result<KubeletClaimDevices> read_kubelet_claims(std::string_view text) {
  const JsonLimits most{limits::kMaxPodResourcesBytes, limits::kMaxJsonValues};
  auto file = parse_json(text, most);
  if (!file) return std::move(file).error();
  JsonProblems problems{JsonValue(*file)};
  const JsonObject root = JsonObject::tolerant(JsonValue(*file), problems);
  if (!root) return problems.error();
  // A document within a document.
  const JsonValue data = root.require("Data");
  if (data && !data.is_string()) problems.add(data, expected("a string", data));
  if (problems.any()) return problems.error();
  auto document = parse_json(data.text(), most);
  if (!document) return std::move(document).error().in("Data");
  auto out = ClaimStates().read(JsonValue(*document));
  if (!out) return std::move(out).error().in("Data");
  return out;
}

}  // namespace chipweave::codec
