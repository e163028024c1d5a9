#include "tests/unit/training_jobs/job_world.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "cli/render_gangs.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"
#include "scheduler-plugin/app/gangs/gang_status.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"

namespace chipweave::sched::test {
namespace {

constexpr const char* kBlockLabel = "cloud.provider.com/topology-block";
constexpr std::size_t kMaxGangs = 100;

std::string name_of_node(int number) { return "gpu-" + std::to_string(number + 1); }
std::string rack_of(int number) { return "r" + std::to_string(number / kNodesOfRack + 1); }
std::string block_of(int number) { return "b" + std::to_string(number / kNodesOfRack / 2 + 1); }

template <class T>
T served(Json object) {
  object["metadata"]["resourceVersion"] = "7";
  std::string body = object.dump();
  auto read = codec::WatchReader<T>().read_one(body);
  if (!read) throw std::runtime_error(read.error().text());
  return *std::move(read);
}

std::size_t source_of(const Json& object) {
  const auto sources = codec::gang_sources();
  const std::string version = object["apiVersion"];
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const codec::GangSource& one = sources[i];
    if (object["kind"] != one.kind) continue;
    for (const char* each : one.versions)
      if (each != nullptr && version == std::string(one.group) + "/" + each) return i;
  }
  return sources.size();
}

}  // namespace

JobWorld::JobWorld(std::vector<std::string> kinds, std::string resource)
    : resource_(std::move(resource)),
      kinds_(std::move(kinds)),
      book_(
          [this](const GangKey& gang, std::optional<GangSpec> spec) {
            scheduler.owner_says(gang.text(), std::move(spec));
          },
          kMaxGangs) {
  const std::vector<std::string_view> known = codec::gang_settings();
  for (const std::string& kind : kinds_)
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw std::runtime_error("unknown kind " + kind);
}

void JobWorld::add_racks(const std::string& machine) {
  for (int i = 0; i < kRacks * kNodesOfRack; ++i) {
    const std::map<std::string, std::string> labels{{kBlockLabel, block_of(i)},
                                                    {kRackLabel, rack_of(i)}};
    scheduler.network().set_labels(name_of_node(i), {labels.begin(), labels.end()});
    add_node(name_of_node(i), machine, {resource_});
  }
}

void JobWorld::occupy(int nodes, bool first_only) {
  for (int rack = 0; rack < (first_only ? 1 : kRacks); ++rack) {
    for (int i = 0; i < nodes; ++i) {
      const std::string node = name_of_node(rack * kNodesOfRack + i);
      const auto done = bind(submit("filler-" + node, 8, resource_), node);
      if (!done) throw std::runtime_error(done.error().text());
    }
  }
}

void JobWorld::read_objects(const std::vector<Json>& objects) {
  for (Json object : objects) {
    const std::size_t source = source_of(object);
    if (source == codec::gang_sources().size()) continue;
    const codec::GangSource& row = codec::gang_sources()[source];
    if (std::find(kinds_.begin(), kinds_.end(), row.setting) == kinds_.end()) continue;
    object["metadata"]["uid"] = kObjectUid;
    const auto read = served<codec::KubeGangObject>(object);
    auto gangs = codec::read_gangs(row, read);
    if (!gangs) throw std::runtime_error(gangs.error().text());
    for (const codec::DeclaredGang& gang : *gangs)
      if (!gang.spec.problem.empty()) throw std::runtime_error(gang.spec.problem);
    book_.put(source, read, *std::move(gangs));
  }
}

codec::KubePod kube_pod_of(const Json& pod) {
  Json with_uid = pod;
  with_uid["metadata"]["uid"] = "uid-" + pod["metadata"]["name"].get<std::string>();
  return served<codec::KubePod>(std::move(with_uid));
}

PodRequest JobWorld::create(const Json& pod) {
  const codec::KubePod seen = kube_pod_of(pod);
  CountedRequest counted = count_request(seen, ResourceTable{});
  if (!counted.refused.empty()) throw std::runtime_error(counted.refused);
  counted.request.mark = gang_mark_of(seen);
  return submit(std::move(counted.request));
}

std::vector<std::string> JobWorld::place(const PodRequest& pod) {
  const std::set<std::string> fits = fit(pod);
  if (fits.size() != 1 || !bind(pod, *fits.begin())) return {};
  return scheduler.network().path_of(*fits.begin());
}

std::string JobWorld::refusal(const PodRequest& pod) {
  std::set<std::string> reasons;
  for (const auto& [node, why] : rejections(pod)) reasons.insert(why);
  return joined(std::vector<std::string>(reasons.begin(), reasons.end()), " | ");
}

std::vector<std::string> JobWorld::ranks(const std::string& gang) const {
  std::vector<std::string> out;
  const GangPlan* plan = scheduler.gang_plans().find(gang);
  if (plan == nullptr) return out;
  for (const GangSlot& slot : plan->slots) {
    const auto& members = scheduler.gangs().find(gang)->members;
    const auto pod = members.find(slot.uid);
    out.push_back(pod == members.end() ? "" : pod->second.name);
  }
  return out;
}

std::string JobWorld::printed(const std::string& gang) const {
  const Gang* found = scheduler.gangs().find(gang);
  if (found == nullptr) return "no gang " + gang;
  const auto read =
      codec::read_gang_summaries(R"({"items":[)" + scheduler.gang_view().json(*found, true) + "]}");
  if (!read) throw std::runtime_error(read.error().text());
  return cli::render_whole_gangs(*read, false);
}

}  // namespace chipweave::sched::test
