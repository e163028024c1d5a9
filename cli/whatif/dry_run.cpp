#include "cli/whatif/dry_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/whatif/cluster_model.hpp"
#include "cli/whatif/gang_places.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/domain/pod_labels.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

using codec::ManifestPod;
using codec::PodSummary;

// A pod that is to be placed, or why it cannot be.
struct Wanted {
  PodNeed need;
  std::string group;    // "namespace/name" of its group with several members; empty: none
  std::string gang;     // "namespace/name"; empty: none
  int least = 0;        // pods of the gang that must start together; 0: those that there are
  std::string problem;  // empty: none
};

// Labels or annotations by which the pods themselves make a gang. Others are gangs by objects that
// are not in a manifest.
struct GangKeys {
  const char* name;
  const char* least;
  const char* size;  // counts where `least` is missing
};
constexpr std::array<GangKeys, 8> kGangKeys{{
    {"chipweave.dev/gang", "chipweave.dev/gang-minimum", "chipweave.dev/gang-size"},
    {"scheduling.k8s.io/group-name", "", ""},
    {"scheduling.volcano.sh/group-name", "", ""},
    {"scheduling.x-k8s.io/pod-group", "", ""},
    {"pod-group.scheduling.sigs.k8s.io", "gang.scheduling.koordinator.sh/min-available",
     "gang.scheduling.koordinator.sh/total-number"},
    {"pod-group.scheduling.sigs.k8s.io/name", "pod-group.scheduling.sigs.k8s.io/min-available",
     "gang.scheduling.koordinator.sh/total-number"},
    {"gang.scheduling.koordinator.sh/name", "gang.scheduling.koordinator.sh/min-available",
     "gang.scheduling.koordinator.sh/total-number"},
    {"kueue.x-k8s.io/pod-group-name", "", "kueue.x-k8s.io/pod-group-total-count"},
}};

// What becomes of the pods of a gang.
struct GangTrial {
  std::map<std::size_t, Seat> seats;  // by position of the pod
  std::string reason;                 // of those without; empty: each has its own
};

// The pods of a group get their chips together.
struct GroupSeat {
  Seat seat;
  std::size_t given = 0;  // parts
};

std::string value_of(const domain::PodLabels& labels, const char* key) {
  const auto at = labels.find(key);
  return at == labels.end() ? std::string() : at->second;
}

void read_gang(const domain::PodLabels& labels, const domain::PodLabels& annotations,
               const std::string& ns, Wanted& to) {
  const auto value = [&](const char* key) {
    std::string of_label = value_of(labels, key);
    return of_label.empty() ? value_of(annotations, key) : of_label;
  };
  for (const GangKeys& keys : kGangKeys) {
    const std::string name = value(keys.name);
    if (name.empty()) continue;
    to.gang = ns + "/" + name;
    to.least = parse_number<int>(value(keys.least)).value_or(0);
    if (to.least <= 0) to.least = parse_number<int>(value(keys.size)).value_or(0);
    return;
  }
}

// The accelerator among the resources that the pod requests.
void read_resource(const ManifestPod& pod, const std::vector<std::string>& offered, Wanted& to) {
  const std::vector<std::string>& usual = domain::whole_chip_resources();
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  to.need.chips = 0;
  bool known = pod.resources.empty();
  for (const auto& [name, count] : pod.resources) {
    if (!has(offered, name) && !has(usual, name)) continue;
    known = true;
    if (to.need.chips > 0) {
      to.problem = "asks for " + to.need.resource + " and " + name +
                   "; a pod can request only one kind of accelerator";
      return;
    }
    to.need.resource = name;
    to.need.chips = count;
  }
  if (!known) to.problem = "no node reports " + pod.resources.begin()->first + " as whole chips";
}

Wanted wanted(const ManifestPod& pod, const std::vector<std::string>& offered) {
  Wanted out;
  read_resource(pod, offered, out);
  out.need.only_node = pod.hostname;
  const auto read = codec::read_pod(pod.json);
  if (!read) {
    out.problem = read.error().text();
    return out;
  }
  const domain::PodLabels labels(read->labels.begin(), read->labels.end());
  const domain::PodLabels annotations(read->annotations.begin(), read->annotations.end());
  const std::string job = domain::job_name(domain::job_identity(pod.ns, labels));
  if (!job.empty()) out.need.job = pod.ns + "/" + job;
  out.need.distributed = value_of(annotations, "distributed-job") == "true";
  domain::PodWishes wishes;
  const std::string wrong = domain::read_wishes(annotations, wishes);
  if (out.problem.empty()) out.problem = wrong;
  out.need.objective = wishes.objective;
  out.need.needs_gbps = wishes.needs_gbps;
  read_gang(labels, annotations, pod.ns, out);
  const auto replicas = parse_number<int>(value_of(labels, "gpu-topology-replica"));
  if (pod.group.empty() || !replicas || *replicas < 2 || *replicas > limits::kMaxManifestPods)
    return out;
  out.gang.clear();
  out.group = pod.ns + "/" + pod.group;
  out.need.members = *replicas;
  return out;
}

class DryRun {
 public:
  DryRun(ClusterModel model, const std::vector<PodSummary>& known,
         const std::vector<ManifestPod>& pods)
      : model_(std::move(model)), pods_(pods) {
    for (const PodSummary& pod : known) known_[pod.ns + "/" + pod.name] = &pod;
    const std::vector<std::string> offered = model_.resources();
    for (const ManifestPod& pod : pods) wanted_.push_back(wanted(pod, offered));
    count_jobs(known);
  }

  std::vector<SubmittedPod> run() {
    std::vector<SubmittedPod> out;
    for (std::size_t i = 0; i < pods_.size(); ++i) out.push_back(row_of(i));
    return out;
  }

 private:
  // A job with several pods is distributed, and a gang of one pod is none; all pods are created
  // before the first is placed.
  void count_jobs(const std::vector<PodSummary>& known) {
    std::map<std::string, std::size_t> members;
    std::map<std::string, int> gangs;
    for (const Wanted& one : wanted_)
      if (one.need.chips > 0) ++gangs[one.gang];
    for (const PodSummary& pod : known)
      if (pod.requested > 0 && !pod.job.empty()) ++members[pod.ns + "/" + pod.job];
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      const bool counted = known_.contains(pods_[i].ns + "/" + pods_[i].name);
      if (!counted && wanted_[i].need.chips > 0) ++members[wanted_[i].need.job];
    }
    for (Wanted& one : wanted_) {
      if (gangs[one.gang] < 2 && one.least < 2) one.gang.clear();
      if (!one.gang.empty() || (!one.need.job.empty() && members[one.need.job] > 1))
        one.need.distributed = true;
    }
  }

  SubmittedPod row_of(std::size_t i) {
    const ManifestPod& pod = pods_[i];
    const Wanted& want = wanted_[i];
    SubmittedPod row;
    row.ns = pod.ns;
    row.name = pod.name;
    row.requested = want.need.chips;
    row.resource = want.need.resource;
    if (row.resource.empty() && !pod.resources.empty()) {
      row.resource = pod.resources.begin()->first;
      row.requested = pod.resources.begin()->second;
    }
    const auto known = known_.find(pod.ns + "/" + pod.name);
    row.existed = known != known_.end();
    if (row.existed && !known->second->node.empty()) {
      row.node = known->second->node;
      row.chips = known->second->chips;
      row.gbps = known->second->gbps;
      row.best_gbps = known->second->best_gbps;
    } else if (!want.problem.empty()) {
      row.reason = want.problem;
    } else if (model_.nodes().empty()) {
      row.reason = "the scheduler has no nodes yet; start chipweave-agent on one";
    } else if (want.need.chips == 0) {
      place_without_chips(want, row);
    } else if (!want.gang.empty()) {
      place_of_gang(i, row);
    } else {
      place(want, row);
    }
    return row;
  }

  // As the scheduler scores it: away from free chips.
  void place_without_chips(const Wanted& want, SubmittedPod& row) {
    int best = -1;
    for (const std::size_t position : model_.candidates()) {
      const ClusterModel::Node& node = model_.nodes()[position];
      if (!want.need.only_node.empty() && node.name != want.need.only_node) continue;
      const int level = solver::level_without_chips(node.free.size());
      if (level <= best) continue;
      best = level;
      row.node = node.name;
    }
    if (best < 0) row.reason = model_.outlook(want.need).summary();
  }

  void place(const Wanted& want, SubmittedPod& row) {
    if (!want.group.empty()) {
      if (const auto group = groups_.find(want.group); group != groups_.end())
        return give(group->second, row);
    }
    auto seat = model_.best(want.need);
    if (!seat) {
      row.reason = model_.outlook(want.need).summary();
      return;
    }
    model_.take(*seat, want.need);
    GroupSeat own{*std::move(seat)};
    if (want.group.empty()) return give(own, row);
    give(groups_.emplace(want.group, std::move(own)).first->second, row);
  }

  bool is_bound(std::size_t i) const {
    const auto known = known_.find(pods_[i].ns + "/" + pods_[i].name);
    return known != known_.end() && !known->second->node.empty();
  }

  // All pods of a gang are placed with its first one.
  void place_of_gang(std::size_t i, SubmittedPod& row) {
    const std::string& gang = wanted_[i].gang;
    auto at = gangs_.find(gang);
    if (at == gangs_.end()) at = gangs_.emplace(gang, try_gang(gang)).first;
    const auto seat = at->second.seats.find(i);
    if (seat != at->second.seats.end()) {
      GroupSeat own{seat->second};
      return give(own, row);
    }
    row.reason =
        at->second.reason.empty() ? model_.outlook(wanted_[i].need).summary() : at->second.reason;
  }

  // Where all of the gang is to be placed and its pods are alike, as the scheduler plans it. False:
  // that is not so, or they do not fit.
  bool plan_alike(const std::vector<std::size_t>& members, std::size_t needed, GangTrial& out) {
    const PodNeed& need = wanted_[members.front()].need;
    const bool alike = std::all_of(members.begin(), members.end(), [&](std::size_t i) {
      const PodNeed& other = wanted_[i].need;
      return other.chips == need.chips && other.resource == need.resource &&
             other.objective == need.objective && other.only_node.empty();
    });
    if (needed == 0 || !alike) return false;
    const std::vector<Seat> seats =
        plan_places(model_, need, static_cast<int>(members.size()), static_cast<int>(needed));
    for (const Seat& seat : seats) model_.take(seat, need);
    for (std::size_t k = 0; k < seats.size(); ++k) {
      Seat& seat = out.seats.emplace(members[k], seats[k]).first->second;
      const std::vector<int> chips = model_.indices(seat.node, seat.parts.front());
      seat.gbps = model_.gbps_with_job(seat.node, chips, need.job);
      seat.best_gbps = model_.best_gbps_with_job(seat.node, chips, need.job);
    }
    return !seats.empty();
  }

  // Returns why one does not fit; empty: all do.
  std::string place_one_by_one(const std::vector<std::size_t>& members, GangTrial& out) {
    std::string why;
    for (const std::size_t i : members) {
      auto seat = model_.best(wanted_[i].need);
      if (!seat) {
        if (why.empty()) why = model_.outlook(wanted_[i].need).summary();
        continue;
      }
      model_.take(*seat, wanted_[i].need);
      out.seats.emplace(i, *std::move(seat));
    }
    return why;
  }

  // As many as must start together, or none.
  GangTrial try_gang(const std::string& gang) {
    const ClusterModel before = model_;
    GangTrial out;
    std::size_t bound = 0;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (wanted_[i].gang != gang) continue;
      if (is_bound(i))
        ++bound;
      else if (wanted_[i].need.chips > 0 && wanted_[i].problem.empty())
        members.push_back(i);
    }
    const auto least = static_cast<std::size_t>(wanted_[members.front()].least);
    const std::size_t needed = least > 0 ? least : bound + members.size();
    std::string why;
    if (!plan_alike(members, bound == 0 ? needed : 0, out)) why = place_one_by_one(members, out);
    if (bound + out.seats.size() >= needed) return out;
    out.reason = "its gang needs " + std::to_string(needed) + " pods together, and " +
                 std::to_string(bound + out.seats.size()) + " fit";
    if (members.size() + bound < needed)
      out.reason = "its gang needs " + std::to_string(needed) + " pods, and " +
                   std::to_string(bound + members.size()) + " are known";
    else
      out.reason += "; for the next: " + why;
    out.seats.clear();
    model_ = before;
    return out;
  }

  void give(GroupSeat& from, SubmittedPod& row) {
    const Seat& seat = from.seat;
    if (from.given == seat.parts.size()) {
      row.reason = "its group has all of its " + std::to_string(seat.parts.size()) + " pods";
      return;
    }
    row.node = model_.nodes()[seat.node].name;
    row.chips = model_.indices(seat.node, seat.parts[from.given++]);
    row.gbps = seat.gbps;
    row.best_gbps = seat.best_gbps;
  }

  ClusterModel model_;
  const std::vector<ManifestPod>& pods_;
  std::map<std::string, const PodSummary*> known_;
  std::vector<Wanted> wanted_;
  std::map<std::string, GroupSeat> groups_;
  std::map<std::string, GangTrial> gangs_;
};

}  // namespace

Result<std::vector<SubmittedPod>> dry_run(SchedulerClient& scheduler,
                                          const std::vector<ManifestPod>& pods,
                                          const SubmitOptions& options) {
  const auto known = scheduler.pods();
  if (!known) return Error(known.error());
  auto model = read_model(scheduler, *known);
  if (!model) return std::move(model).error();
  if (auto only = restrict_to_named(*model, options.only_nodes); !only)
    return std::move(only).error();
  return DryRun(*std::move(model), *known, pods).run();
}

}  // namespace chipweave::cli
