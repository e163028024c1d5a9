#include "common/codec/ranktable/modelarts/job_pods.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/modelarts/pod_fields.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kRankTableName = "ranktable-";

struct Candidate {
  const NetworkObject* object;
  JobPodIdentity identity;
};

std::string label_of(const JobPodIdentity& identity) {
  return identity.ns.empty() ? identity.job : identity.ns + "/" + identity.job;
}

std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string out;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kShown) return out + ", …";
    out += (out.empty() ? "" : ", ") + quoted_excerpt(name);
  }
  return out;
}

template <class Name>
std::set<std::string> names_of(const std::vector<Candidate>& pods, const Name& name) {
  std::set<std::string> out;
  for (const Candidate& pod : pods) out.insert(name(pod.identity));
  return out;
}

// The pods of the chosen job and task.
Result<std::vector<Candidate>> chosen(std::vector<Candidate> pods, const JobPodsChoice& choice) {
  const auto job = [](const JobPodIdentity& identity) { return label_of(identity); };
  const auto task = [](const JobPodIdentity& identity) { return identity.task; };
  const std::set<std::string> jobs = names_of(pods, job);
  if (!choice.job.empty()) {
    std::erase_if(pods, [&](const Candidate& pod) {
      return pod.identity.job != choice.job && label_of(pod.identity) != choice.job;
    });
    if (pods.empty()) {
      return network_error("unknown job " + quoted_excerpt(choice.job) +
                           " of NPU pods; known: " + listed(jobs))
          .in("--job");
    }
  }
  if (names_of(pods, job).size() > 1) {
    return network_error("--job is required: there are pods of several jobs: " +
                         listed(names_of(pods, job)));
  }
  const std::set<std::string> tasks = names_of(pods, task);
  if (!choice.task.empty()) {
    std::erase_if(pods, [&](const Candidate& pod) { return pod.identity.task != choice.task; });
    if (pods.empty()) {
      return network_error("unknown task " + quoted_excerpt(choice.task) +
                           " of NPU pods; known: " + listed(tasks))
          .in("--task");
    }
  } else if (tasks.size() > 1) {
    return network_error(
        "--task is required: pods of several tasks use NPUs, and route planning numbers those of "
        "one: " +
        listed(tasks));
  }
  return pods;
}

Result<std::vector<Candidate>> candidates(const NetworkObjects& objects, Warnings& warnings) {
  std::vector<Candidate> out;
  std::size_t pods = 0;
  std::size_t jobless = 0;
  std::size_t idle = 0;
  for (const NetworkObject& object : objects) {
    if (object.kind != "Pod") continue;
    ++pods;
    JobPodIdentity identity = identity_of(object);
    const bool npu = uses_npu(object.value);
    if (identity.job.empty()) ++jobless;
    if (!identity.job.empty() && !npu) ++idle;
    if (!identity.job.empty() && npu) out.push_back({&object, std::move(identity)});
  }
  if (pods == 0) {
    return network_error(
        "expected pods, got none; get them with kubectl get pods -l volcano.sh/job-name=JOB -o "
        "json");
  }
  if (out.empty()) {
    return network_error(
        jobless == pods
            ? "expected pods with the annotation volcano.sh/job-name, got none"
            : "expected pods that request huawei.com/ascend-1980 or have an annotation about "
              "devices, got none");
  }
  if (jobless > 0) warnings.add(concat(jobless, " pods without a Volcano job are skipped"));
  if (idle > 0) warnings.add(concat(idle, " pods without NPUs are skipped"));
  return out;
}

// Fills pods and missing.
Result<void> number(JobPods& job, std::size_t replicas) {
  std::sort(job.pods.begin(), job.pods.end(), [](const JobPod& a, const JobPod& b) {
    return a.index != b.index ? a.index < b.index : a.name < b.name;
  });
  for (std::size_t i = 1; i < job.pods.size(); ++i) {
    if (job.pods[i].index == job.pods[i - 1].index) {
      return network_error(concat("pods ", job.pods[i - 1].name, " and ", job.pods[i].name,
                                  " both have index ", job.pods[i].index));
    }
  }
  const std::size_t highest = job.pods.back().index;
  if (replicas > 0 && highest >= replicas) {
    return network_error(concat("must be at least ", highest + 1, ": pod ", job.pods.back().name,
                                " has index ", highest, "; got ", replicas))
        .in("--replicas");
  }
  std::size_t next = 0;
  for (const JobPod& pod : job.pods) {
    for (; next < pod.index; ++next) job.missing.push_back(next);
    next = pod.index + 1;
  }
  for (; next < replicas; ++next) job.missing.push_back(next);
  return {};
}

// " (and 2 more)" of three.
std::string and_more(std::size_t count) {
  return count == 1 ? "" : concat(" (and ", count - 1, " more)");
}

// The first device without an address.
std::string no_address(const DeviceReport& report) {
  for (const RouteDevice& device : report.devices) {
    if (!is_address_list(device.ip)) {
      return "device " + device.id + " has no address (device_ip is " + quoted_excerpt(device.ip) +
             ")";
    }
  }
  return "";
}

void warn_of_gaps(const JobPods& job, Warnings& warnings) {
  if (!job.missing.empty()) {
    warnings.add(
        concat("there is no pod with index ", job.missing.front(), and_more(job.missing.size())));
  }
  std::size_t unreported = 0;
  std::string first;
  for (const JobPod& pod : job.pods) {
    if (!pod.report && unreported++ == 0) first = pod.name;
    if (!pod.report || pod.ready()) continue;
    warnings.add_made([&] { return "pod " + pod.name + ": " + no_address(*pod.report); });
  }
  if (unreported == 0) return;
  warnings.add(concat("pod ", first, " has no annotation ", kAscend1980Configuration, " yet",
                      and_more(unreported)));
}

void read_cabinet(JobPods& job, Warnings& warnings) {
  const auto asking = static_cast<std::size_t>(std::count_if(
      job.pods.begin(), job.pods.end(), [](const JobPod& pod) { return pod.cabinet; }));
  job.cabinet = asking == job.pods.size();
  if (asking > 0 && !job.cabinet) {
    warnings.add(concat("only ", asking, " of ", job.pods.size(),
                        " pods have annotation cabinet: \"cabinet\", so it is ignored"));
  }
}

}  // namespace

bool JobPod::ready() const {
  return report && std::all_of(report->devices.begin(), report->devices.end(),
                               [](const RouteDevice& one) { return is_address_list(one.ip); });
}

bool JobPods::complete() const {
  return missing.empty() &&
         std::all_of(pods.begin(), pods.end(), [](const JobPod& pod) { return pod.ready(); });
}

Result<std::size_t> index_of_pod(std::string_view stated, std::string_view name) {
  const std::string_view text = !stated.empty() ? stated : name.substr(name.rfind('-') + 1);
  const auto index = parse_number<std::size_t>(text);
  if (index && *index < kMaxPodIndex) return *index;
  return network_error(stated.empty()
                           ? concat("its index is not known: it has neither annotation ",
                                    kTaskIndex, " nor a name that ends in -N")
                           : concat("annotation ", kTaskIndex, " is ", quoted_excerpt(stated),
                                    ", not a whole number below ", kMaxPodIndex));
}

Result<JobPods> read_job_pods(std::string_view text, const JobPodsChoice& choice) {
  const Result<NetworkObjects> objects = read_network_objects(text);
  if (!objects) return objects.error();
  Warnings warnings;
  Result<std::vector<Candidate>> found = candidates(*objects, warnings);
  if (!found) return std::move(found).error();
  found = chosen(*std::move(found), choice);
  if (!found) return std::move(found).error();
  JobPods out;
  const JobPodIdentity& identity = found->front().identity;
  out.ns = identity.ns;
  out.job = identity.job;
  out.task = identity.task;
  const bool good_names = is_dns_subdomain(std::string(kRankTableName) + out.job) &&
                          (out.ns.empty() || is_dns_label(out.ns)) &&
                          (out.task.empty() || is_dns_label(out.task));
  if (!good_names) {
    return network_error("job " + quoted_excerpt(label_of(identity)) + " with task " +
                         quoted_excerpt(out.task) + " is not a valid name in Kubernetes");
  }
  for (const Candidate& pod : *found) {
    Result<JobPod> read = read_pod_fields(*pod.object);
    if (!read) return std::move(read).error();
    out.pods.push_back(*std::move(read));
  }
  if (auto done = number(out, choice.replicas); !done) return std::move(done).error();
  warn_of_gaps(out, warnings);
  read_cabinet(out, warnings);
  out.warnings = std::move(warnings).list();
  return out;
}

Result<RouteNodes> read_route_nodes(std::string_view text) {
  const Result<NetworkObjects> objects = read_network_objects(text);
  if (!objects) return objects.error();
  RouteNodes out;
  Warnings warnings;
  for (const NetworkObject& object : *objects) {
    if (object.kind != "Node") continue;
    RouteNode node;
    node.name = object_name(object);
    for (const JsonValue one : list_at(object.value["status"], "addresses")) {
      std::string address = text_or_empty(one["address"]);
      if (!address.empty()) node.addresses.push_back(std::move(address));
    }
    const std::string annotation = annotation_of(object.value, kAscendRankTable);
    if (!annotation.empty()) {
      Result<DeviceReport> report = parse_device_report(annotation);
      if (report) {
        node.report = *std::move(report);
      } else {
        warnings.add(concat(object_label(object), ": its annotation ", kAscendRankTable,
                            " is not used: ", report.error().text()));
      }
    }
    out.nodes.push_back(std::move(node));
  }
  if (out.nodes.empty())
    return network_error("contains no nodes; get them with kubectl get nodes -o json");
  out.warnings = std::move(warnings).list();
  return out;
}

void add_node_switches(JobPods& job, const RouteNodes& nodes) {
  std::unordered_map<std::string_view, const DeviceReport*> by_name;
  for (const RouteNode& node : nodes.nodes) {
    if (node.report) by_name.emplace(node.name, &*node.report);
  }
  for (JobPod& pod : job.pods) {
    const auto node = by_name.find(pod.node);
    if (pod.report && node != by_name.end()) pod.report->add_switches(*node->second);
  }
}

void add_leaf_switches(JobPods& job, const std::vector<std::string>& leaves) {
  for (std::size_t i = 0; i < job.pods.size() && i < leaves.size(); ++i) {
    if (!job.pods[i].report) continue;
    for (RouteDevice& device : job.pods[i].report->devices) {
      if (device.tor_ip.empty()) device.tor_ip = leaves[i];
    }
  }
}

}  // namespace chipweave::codec
