#include "cli/submit.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/domain/availability.hpp"

namespace chipweave::cli {
namespace {

using codec::ManifestPod;
using codec::NodeView;

std::vector<std::string_view> names_of(const std::vector<NodeView>& nodes) {
  std::vector<std::string_view> out;
  out.reserve(nodes.size());
  for (const NodeView& node : nodes) out.push_back(node.name);
  return out;
}

bool lost(const Error& error) {
  return error.code == Errc::unavailable || error.code == Errc::deadline;
}

// "0/3 nodes are available: 2 not enough free chips, …", as in kube-scheduler's event.
std::string misfit_text(const codec::FilterReply& reply, std::size_t nodes) {
  if (!reply.error.empty()) return reply.error;
  std::map<std::string, std::size_t> counted;
  for (const auto& [node, reason] : reply.failed) ++counted[reason];
  if (counted.size() == 1 && nodes == 1) return counted.begin()->first;
  std::vector<domain::Unavailable> others;
  others.reserve(counted.size());
  for (const auto& [reason, count] : counted) others.push_back({count, reason});
  return domain::availability_text(0, std::move(others));
}

// Pods with the same ACK group are planned as one: their figures are those of the group on the
// node.
struct Group {
  std::vector<NodeView> before;  // for comparisons: the nodes before its first pod was placed
  std::map<std::string, std::vector<std::size_t>> members;  // node → pods
};

class Submission {
 public:
  Submission(SchedulerClient& scheduler, const std::vector<ManifestPod>& pods,
             const SubmitOptions& options)
      : scheduler_(scheduler), pods_(pods), options_(options), comparer_(options.overlays) {}

  Result<std::vector<SubmittedPod>> run() {
    if (auto read = read_nodes(); !read) return std::move(read).error();
    if (auto created = create_all(); !created) return std::move(created).error();
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (!created_[i]) continue;
      if (auto placed = place(i); !placed) return std::move(placed).error();
    }
    if (options_.compare) {
      for (const auto& [name, group] : groups_) compare(group);
    }
    if (auto read = read_summaries(); !read) return std::move(read).error();
    return std::move(out_);
  }

 private:
  Result<void> read_nodes() {
    Result<std::vector<NodeView>> nodes = scheduler_.nodes();
    if (!nodes) return std::move(nodes).error();
    nodes_ = *std::move(nodes);
    candidates_.clear();
    const auto& wanted = options_.only_nodes;
    for (const std::string& name : wanted) {
      const bool known = std::any_of(nodes_.begin(), nodes_.end(),
                                     [&](const NodeView& node) { return node.name == name; });
      if (!known) {
        return unknown_node(name, names_of(nodes_)).in("--node");
      }
    }
    for (const NodeView& node : nodes_) {
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), node.name) != wanted.end()) {
        candidates_.push_back(node.name);
      }
    }
    return {};
  }

  // Creates all pods before scheduling: a group is complete only when the scheduler knows all of
  // its pods.
  Result<void> create_all() {
    for (const ManifestPod& pod : pods_) {
      SubmittedPod row;
      row.ns = pod.ns;
      row.name = pod.name;
      if (!pod.resources.empty()) {
        row.resource = pod.resources.begin()->first;
        row.requested = pod.resources.begin()->second;
      }
      Result<CreatedPod> created = scheduler_.create_pod(pod.json);
      if (created) {
        created_.emplace_back(*std::move(created));
      } else if (lost(created.error())) {
        return std::move(created).error();
      } else if (created.error().code == Errc::conflict) {
        auto taken = take_existing(row, created.error());
        if (!taken) return std::move(taken).error();
        created_.push_back(*std::move(taken));
      } else if (created.error().code == Errc::not_found) {
        return make_error(
            Errc::unsupported,
            "this scheduler takes no pods; start chipweave-scheduler with --standalone");
      } else {
        row.reason = created.error().message;
        created_.emplace_back(std::nullopt);
      }
      out_.push_back(std::move(row));
    }
    return {};
  }

  // A pod of this name exists: its place, or the pod itself if it has none yet.
  Result<std::optional<CreatedPod>> take_existing(SubmittedPod& row, const Error& conflict) {
    row.existed = true;
    Result<std::string> body = scheduler_.get("/standalone/pods/" + row.ns + "/" + row.name);
    Result<codec::PodView> view = body ? codec::read_pod_view(*body) : Error(body.error());
    if (!view) {
      if (lost(view.error())) return std::move(view).error();
      row.reason = conflict.message;  // it is gone by now, or another pod has its uid
      return std::optional<CreatedPod>();
    }
    if (view->node.empty()) return std::optional(CreatedPod{*std::move(view), *std::move(body)});
    take_place(row, *view);
    return std::optional<CreatedPod>();
  }

  static void take_place(SubmittedPod& row, const codec::PodView& bound) {
    row.node = bound.node;
    if (bound.placement) {
      row.chips = bound.placement->chips;
      row.gbps = bound.placement->gbps;
    }
    const auto note = bound.annotations.find("chipweave.dev/placement");
    if (note != bound.annotations.end()) row.annotation = note->second;
  }

  // A pod that cannot be placed has the reason in its row; an Error means that the scheduler cannot
  // be reached.
  Result<void> place(std::size_t i) {
    SubmittedPod& row = out_[i];
    if (options_.compare) {
      if (auto read = read_nodes(); !read) return read;
    }
    Group& group = groups_[group_key(i)];
    if (options_.compare && group.before.empty()) group.before = nodes_;
    if (candidates_.empty()) {
      row.reason = "the scheduler has no nodes yet; start chipweave-agent on one";
      return {};
    }
    std::vector<std::string> candidates = candidates_;
    if (const std::string& host = pods_[i].hostname; !host.empty()) {
      std::erase_if(candidates, [&](const std::string& name) { return name != host; });
      if (candidates.empty()) {
        row.reason = "its nodeSelector asks for node " + host + ", which is not a candidate";
        return {};
      }
    }
    Result<std::string> node = choose_node(i, candidates);
    if (!node) return settle(row, node.error());
    if (node->empty()) return {};
    const CreatedPod& pod = *created_[i];
    const Result<std::string> refused =
        scheduler_.bind(codec::write_binding_args(row.ns, row.name, pod.view.uid, *node));
    if (!refused) return settle(row, refused.error());
    if (!refused->empty()) {
      row.reason = *refused;
      return {};
    }
    return record(i, group);
  }

  // The node for pod i; "" with the reason in its row when none fits.
  Result<std::string> choose_node(std::size_t i, const std::vector<std::string>& candidates) {
    const CreatedPod& pod = *created_[i];
    Result<std::string> args = codec::write_extender_args(pod.json, candidates);
    if (!args) return std::move(args).error();
    Result<codec::FilterReply> fit = scheduler_.filter(*args);
    if (!fit) return std::move(fit).error();
    if (fit->nodes.empty() || !fit->error.empty()) {
      out_[i].reason = misfit_text(*fit, candidates.size());
      return std::string();
    }
    if (fit->nodes.size() == 1) return fit->nodes.front();
    args = codec::write_extender_args(pod.json, fit->nodes);
    if (!args) return std::move(args).error();
    Result<std::vector<codec::HostScore>> scores = scheduler_.prioritize(*args);
    if (!scores) return std::move(scores).error();
    std::map<std::string, int> score_of;
    for (const codec::HostScore& score : *scores) score_of[score.host] = score.score;
    return *std::max_element(
        fit->nodes.begin(), fit->nodes.end(),
        [&](const std::string& a, const std::string& b) { return score_of[a] < score_of[b]; });
  }

  static Result<void> settle(SubmittedPod& row, const Error& error) {
    if (lost(error)) return error;
    row.reason = error.message;
    return {};
  }

  Result<void> record(std::size_t i, Group& group) {
    SubmittedPod& row = out_[i];
    const Result<codec::PodView> bound = scheduler_.pod(row.ns, row.name);
    if (!bound) return settle(row, bound.error());
    if (bound->node.empty()) {
      row.reason = "the scheduler reports the pod as bound, but without a node";
      return {};
    }
    take_place(row, *bound);
    group.members[row.node].push_back(i);
    // For a pod without a group only its own node matters from here on.
    if (pods_[i].group.empty()) {
      std::erase_if(group.before, [&](const NodeView& node) { return node.name != row.node; });
    }
    return {};
  }

  std::string group_key(std::size_t i) const {
    const ManifestPod& pod = pods_[i];
    return pod.group.empty() ? "pod " + std::to_string(i) : "group " + pod.ns + "/" + pod.group;
  }

  // The choices of other allocators for all chips of the group on each node.
  void compare(const Group& group) {
    for (const auto& [name, members] : group.members) {
      const auto node =
          std::find_if(group.before.begin(), group.before.end(),
                       [&on = name](const NodeView& view) { return view.name == on; });
      if (node == group.before.end()) continue;
      std::size_t chips = 0;
      for (const std::size_t i : members) chips += out_[i].chips.size();
      const std::size_t first = members.front();
      const auto comparison = comparer_.compare(*node, static_cast<int>(chips), siblings(first) > 1,
                                                held_before(first));
      for (const std::size_t i : members) {
        if (!out_[i].chips.empty()) out_[i].comparison = comparison;
      }
    }
  }

  // Facts that only the scheduler has: which of the pod's resources is the accelerator, and the
  // best possible bandwidth.
  Result<void> read_summaries() {
    Result<std::vector<codec::PodSummary>> pods = scheduler_.pods();
    if (!pods) return std::move(pods).error();
    std::map<std::pair<std::string, std::string>, const codec::PodSummary*> known;
    for (const codec::PodSummary& pod : *pods) known[{pod.ns, pod.name}] = &pod;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      SubmittedPod& row = out_[i];
      const auto found = known.find({row.ns, row.name});
      if (found == known.end() || (!created_[i] && !row.placed())) continue;
      if (row.placed()) row.best_gbps = found->second->best_gbps;
      if (found->second->resource.empty()) continue;
      row.resource = found->second->resource;
      row.requested = found->second->requested;
    }
    return {};
  }

  // Chips on the pod's node held by earlier pods of its owner: the scheduler optimises the union.
  std::vector<int> held_before(std::size_t i) const {
    std::vector<int> chips;
    for (std::size_t k = 0; k < i && !pods_[i].owner.empty(); ++k) {
      const bool sibling = pods_[k].ns == pods_[i].ns && pods_[k].owner == pods_[i].owner;
      if (!sibling || out_[k].node != out_[i].node) continue;
      chips.insert(chips.end(), out_[k].chips.begin(), out_[k].chips.end());
    }
    return chips;
  }

  // Pods of the same owner that request chips: a job with several is distributed, which matters to
  // some vendor rules.
  std::size_t siblings(std::size_t i) const {
    if (pods_[i].owner.empty()) return 1;
    return static_cast<std::size_t>(
        std::count_if(pods_.begin(), pods_.end(), [&](const ManifestPod& other) {
          return other.ns == pods_[i].ns && other.owner == pods_[i].owner &&
                 !other.resources.empty();
        }));
  }

  SchedulerClient& scheduler_;
  const std::vector<ManifestPod>& pods_;
  const SubmitOptions& options_;
  std::vector<NodeView> nodes_;
  std::vector<std::string> candidates_;
  std::vector<std::optional<CreatedPod>> created_;
  std::vector<SubmittedPod> out_;
  std::map<std::string, Group> groups_;
  Comparer comparer_;
};

}  // namespace

Result<std::vector<SubmittedPod>> submit(SchedulerClient& scheduler,
                                         const std::vector<ManifestPod>& pods,
                                         const SubmitOptions& options) {
  return Submission(scheduler, pods, options).run();
}

}  // namespace chipweave::cli
