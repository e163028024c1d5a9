// Arbitrary bytes → the spec of an owner object of every kind, an annotation of a pod, and an event
// of their watch; then what was read → the planner's request: no crash, and every error has words.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/codec/kube/gangs/gang_object.hpp"
#include "common/codec/kube/watch.hpp"
#include "scheduler-plugin/model/gangs/gang_request.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

void require_plannable(const chipweave::domain::GangSpec& spec) {
  using namespace chipweave;
  const std::vector<std::string> levels{"block", "rack", "hostname"};
  for (const int pods : {0, 3}) {
    sched::GangMembers members;
    members.resource = "nvidia.com/gpu";
    if (pods > 0) members.roles.push_back({"worker", pods, 8, {}});
    const auto gang = sched::gang_of(spec, members, levels, {});
    codec::require_words(gang);
    if (!gang) continue;
    codec::require(gang->pods >= 0 && gang->pods <= limits::kMaxGangPods);
    codec::require(gang->sets.size() <= limits::kMaxGangSets + 1);
    int in_sets = 0;
    for (const domain::PodSet& set : gang->sets) in_sets += set.pods;
    codec::require(gang->sets.empty() || in_sets == gang->pods);
    codec::require(gang->pod_chips.empty() ||
                   gang->pod_chips.size() == static_cast<std::size_t>(gang->pods));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  const std::string text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  WatchReader<KubeGangObject> reader;
  std::string line = text;
  require_words(reader.read_event(line));
  KubeGangObject object;
  object.ns = "n";
  object.name = "o";
  object.owner = {"batch", "Job", "o"};
  object.spec = text;
  for (const GangSource& source : gang_sources()) {
    const auto gangs = read_gangs(source, object);
    require_words(gangs);
    if (!gangs) continue;
    require(gangs->size() <= std::size_t{chipweave::limits::kMaxManifestPods});
    // The groups of a LeaderWorkerSet do not differ.
    if (!gangs->empty()) require_plannable(gangs->front().spec);
  }
  for (const char* key :
       {"kueue.x-k8s.io/podset-slice-required-topology-constraints",
        "gang.scheduling.koordinator.sh/network-topology-spec", "chipweave.dev/gang-slice"}) {
    chipweave::domain::GangSpec spec;
    spec.topology = topology_of_pod({}, {{key, text}});
    require_plannable(spec);
  }
  return 0;
}
