#include "scheduler-plugin/server/pod_metrics.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "common/obs/exposition.hpp"
#include "scheduler-plugin/app/measured.hpp"

namespace chipweave::sched {
namespace {

constexpr double kBytesPerGb = 1e9;

struct PodFamily {
  std::string_view name;
  std::string_view help;
};
constexpr std::array<PodFamily, kPodFamilies> kPodFamiliesShown{
    {{"chipweave_pod_predicted_bytes_per_second",
      "Predicted bandwidth of the chips of a placed pod that has several"},
     {"chipweave_pod_measured_bytes_per_second",
      "Most that one of the pod's chips carried over its fast links within ten minutes"}}};

}  // namespace

bool expose_pods(const Scheduler& scheduler, int family, std::size_t most, std::uint64_t& arrival,
                 std::string& out) {
  const PodFamily& shown = kPodFamiliesShown[static_cast<std::size_t>(family)];
  obs::Exposition text;
  if (arrival == 0) {
    text.gauges(shown.name, shown.help);
  } else {
    text.resume(shown.name);
  }
  const Clock::Wall now = scheduler.clock().wall();
  const auto write = [&](const ClusterPod& pod) {
    arrival = pod.arrival;
    const Decision* decision = scheduler.decision(pod.request.uid);
    if (decision == nullptr || decision->indices.size() < 2 || decision->gbps <= 0) return;
    const Node& node = scheduler.nodes().node(decision->node);
    const std::optional<double> gbps =
        family == 0 ? decision->gbps : measured_gbps(*decision, node, now);
    if (!gbps) return;
    text.sample(
        {{"namespace", pod.request.key.ns}, {"pod", pod.request.key.name}, {"node", node.name}},
        *gbps * kBytesPerGb);
  };
  const bool more = scheduler.cluster().each_after(arrival, most, write) == most;
  out += text.take();
  return more;
}

}  // namespace chipweave::sched
