// Arbitrary bytes → traces of nodes, pods and jobs: no crash, and what is accepted is within its
// limits, in order, and printable.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/codec/trace/gang_trace_csv.hpp"
#include "common/codec/trace/trace_csv.hpp"
#include "tests/fuzz/read_back.hpp"

namespace chipweave::codec {
namespace {

void require_plain(const std::string& text) {
  require(text.size() <= limits::kMaxNameBytes);
  for (const char c : text) require(static_cast<unsigned char>(c) >= 0x20);
}

void check_nodes(std::string_view text) {
  const auto nodes = read_node_trace(text);
  require_words(nodes);
  if (!nodes) return;
  require(nodes->size() <= limits::kMaxNodes);
  for (const domain::TraceNode& node : *nodes) {
    require_plain(node.name);
    require_plain(node.model);
    require(!node.name.empty() && node.chips >= 0 && node.chips <= limits::kMaxChips);
    require(node.cpu_milli >= 0 && node.memory_mib >= 0);
  }
}

void check_pods(std::string_view text) {
  const auto trace = read_pod_trace(text);
  require_words(trace);
  if (!trace) return;
  require(trace->pods.size() <= limits::kMaxPods && trace->shared <= trace->pods.size());
  double last = 0;
  for (const domain::TracePod& pod : trace->pods) {
    require_plain(pod.name);
    require(pod.chips >= 0 && pod.chips <= limits::kMaxChips);
    require(std::isfinite(pod.arrival_s) && pod.arrival_s >= last);
    require(std::isfinite(pod.duration_s) && pod.duration_s >= 0);
    last = pod.arrival_s;
  }
}

void check_gangs(std::string_view text) {
  const auto trace = read_gang_trace(text, {"block", "rack"});
  require_words(trace);
  if (!trace) return;
  require(trace->gangs.size() <= limits::kMaxPods);
  double last = 0;
  for (const domain::TraceGang& gang : trace->gangs) {
    require_plain(gang.name);
    require(gang.pods >= 1 && gang.pods <= limits::kMaxGangPods);
    require(gang.chips >= 1 && gang.chips <= limits::kMaxChipsOfPod);
    require(gang.required_level >= domain::kNoLevel && gang.required_level <= 1);
    require(gang.preferred_level >= domain::kNoLevel && gang.preferred_level <= 1);
    require(std::isfinite(gang.arrival_s) && gang.arrival_s >= last);
    require(std::isfinite(gang.duration_s) && gang.duration_s >= 0);
    last = gang.arrival_s;
  }
}

}  // namespace
}  // namespace chipweave::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  chipweave::codec::check_nodes(text);
  chipweave::codec::check_pods(text);
  chipweave::codec::check_gangs(text);
  return 0;
}
