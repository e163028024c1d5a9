#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxEntries = 16384;
constexpr std::size_t kMaxNumaNodes = 4096;

}  // namespace

Result<CheckpointedDevices> read_kubelet_checkpoint(std::string_view text,
                                                    const std::vector<std::string>& resources) {
  auto document = parse_json(text, {limits::kMaxPodResourcesBytes, limits::kMaxJsonValues});
  if (!document) return std::move(document).error();
  JsonProblems problems{JsonValue(*document)};
  const JsonObject root = JsonObject::tolerant(JsonValue(*document), problems);
  if (!root) return problems.error();
  const JsonObject data = JsonObject::tolerant(root.require("Data"), problems);
  if (!data) return problems.error();
  CheckpointedDevices out;
  // The response of the device plugin ("AllocResp") may be long, and is not read.
  for (const JsonValue value : data.array("PodDeviceEntries", kMaxEntries)) {
    const JsonObject entry = JsonObject::tolerant(value, problems);
    CheckpointedDevice device;
    device.resource = entry.text_or_empty("ResourceName");
    if (!starts_with_any(device.resource, resources)) continue;
    device.container = entry.text_or_empty("ContainerName");
    device.pod_uid = entry.require_text("PodUID").value_or("");
    for (const JsonValue of_numa_node : entry.map("DeviceIDs", kMaxNumaNodes)) {
      for (const JsonValue id : of_numa_node) {
        if (!id.is_string()) {
          problems.add(id, expected("a device id", id));
          continue;
        }
        if (out.size() == kMaxCheckpointedDevices) {
          return make_error(Errc::limit_exceeded, "it lists more than " +
                                                      std::to_string(kMaxCheckpointedDevices) +
                                                      " devices, more than any machine has");
        }
        device.id = std::string(id.text());
        out.push_back(device);
      }
    }
  }
  if (problems.any()) return problems.error();
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace chipweave::codec
