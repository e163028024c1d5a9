// The reader of Volcano's requests: accepted requests have names within the limits and evictees
// that can be repeated as JSON; the same bytes always give the same verdict.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/limits.hpp"
#include "common/codec/kube/requests/volcano.hpp"

namespace {

namespace codec = chipweave::codec;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static codec::VolcanoReader reader;
  const std::string text(data, data + size);
  codec::VolcanoTask task;
  const auto nobody = [](const codec::VolcanoTask&) { return false; };
  const auto everybody = [](const codec::VolcanoTask&) { return true; };
  codec::VolcanoNode node;
  std::string body = text;
  const bool read = reader.read_predicate(body, nobody, task, node).ok();
  if (read) require(!task.uid.empty() && task.uid.size() <= chipweave::limits::kMaxNameBytes);
  if (read) require(!node.name.empty() && node.name.size() <= chipweave::limits::kMaxNameBytes);
  if (read) static_cast<void>(node.idle_of("nvidia.com/gpu"));
  body = text;
  const bool stepped_over = reader.read_predicate(body, everybody, task, node).ok();
  require(!read || stepped_over);
  body = text;
  std::vector<std::string_view> nodes;
  if (reader.read_prioritize(body, everybody, task, nodes).ok()) {
    for (const std::string_view name : nodes) require(!name.empty());
  }
  body = text;
  static_cast<void>(reader.read_event(body, nobody, task));
  body = text;
  std::vector<codec::VolcanoEvictee> evictees;
  if (reader.read_eviction(body, nobody, task, evictees).ok()) {
    for (const codec::VolcanoEvictee& one : evictees)
      require(one.text.front() == '{' && one.text.back() == '}');
  }
  return 0;
}
