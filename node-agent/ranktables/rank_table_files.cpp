#include "node-agent/ranktables/rank_table_files.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/codec/mindcluster/pod/job_table.hpp"
#include "common/obs/log.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxComplaints = 256;

std::string pods_path(const std::string& ns) { return "/api/v1/namespaces/" + ns + "/pods"; }

std::string without_slashes_at_end(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

RankTableFiles::RankTableFiles(kube::Transport& transport, RankTableOptions options,
                               std::string node, std::uint64_t seed)
    : transport_(transport),
      options_(std::move(options)),
      node_(std::move(node)),
      folder_(options_.folder),
      seed_(seed),
      random_(seed) {}

void RankTableFiles::start() {
  if (const auto ready = folder_.prepare(); !ready) {
    obs::log(obs::Level::error, "rank tables cannot be written to their folder",
             {{"folder", folder_.path()}, {"problem", ready.error().text()}});
  }
  for (const std::string& ns : options_.namespaces) watch(ns);
}

void RankTableFiles::watch(const std::string& ns) {
  kube::Reflector<Pod>::Options options;
  options.path = pods_path(ns);
  options.selector = "fieldSelector=spec.nodeName%3D" + node_;
  kube::Reflector<Pod>::Events events;
  events.changed.seen = [this](Pod&& pod) { seen(pod); };
  events.changed.gone = [this](const std::string& key) { gone(key); };
  events.synced = [this, ns] { listed(ns); };
  events.failed = [this, ns](const kube::WatchFailure& failure) {
    if (std::exchange(namespaces_[ns].failing, true)) return;
    obs::log(obs::Level::warn, "cannot watch pods: rank tables on this node are not up to date",
             {{"namespace", ns}, {"problem", failure.what}});
  };
  Namespace& made = namespaces_[ns];
  made.watch = std::make_unique<kube::Reflector<Pod>>(
      transport_, std::move(options), std::move(events),
      [this] { return std::uniform_real_distribution<double>(0, 1)(random_); });
  made.watch->start();
}

RankTableFiles::Counts RankTableFiles::counts() const {
  Counts out;
  for (const auto& [folder, job] : jobs_) {
    if (job.pods.empty() || job.file == nullptr) continue;
    switch (job.file->state()) {
      case TableFile::State::initializing:
        ++out.initializing;
        break;
      case TableFile::State::completed:
        ++out.completed;
        break;
      case TableFile::State::failed:
        ++out.failed;
        break;
    }
  }
  return out;
}

void RankTableFiles::seen(const Pod& pod) {
  const std::string key = pod.ns + "/" + pod.name;
  const std::string folder = folder_of(pod);
  const auto known = pods_.find(key);
  if (known != pods_.end()) {
    if (known->second.folder == folder && known->second.uid == pod.uid) return;
    gone(key);
  }
  if (folder.empty()) return;
  Job* job = job_of(folder);
  if (job == nullptr) return;
  pods_[key] = {pod.uid, folder};
  job->pods.insert(pod.uid);
  settle(folder);
}

void RankTableFiles::gone(const std::string& key) {
  const auto pod = pods_.extract(key);
  if (pod.empty()) return;
  const auto job = jobs_.find(pod.mapped().folder);
  if (job == jobs_.end()) return;
  job->second.pods.erase(pod.mapped().uid);
  settle(job->first);
}

// Also what an earlier run has left, whose pods may be gone.
void RankTableFiles::listed(const std::string& ns) {
  Namespace& one = namespaces_[ns];
  one.failing = false;
  if (std::exchange(one.listed, true)) return;
  const auto recorded = folder_.recorded();
  if (recorded) {
    for (const std::string& folder : *recorded) {
      const auto parts = parts_of_folder_name(folder);
      if (parts && parts->first == ns) job_of(folder);
    }
  }
  for (const auto& [folder, job] : jobs_) {
    if (job.ns == ns) settle(folder);
  }
}

std::string RankTableFiles::folder_of(const Pod& pod) {
  if (!pod.folder || pod.ended || pod.node != node_) return {};
  const std::string job = codec::mindcluster::job_of_pod(pod.name, pod.labels, pod.annotations);
  auto name = table_folder_name(pod.ns, job);
  const std::string about = pod.ns + "/" + job;
  if (!name) {
    complain(about, name.error().text());
    return {};
  }
  if (without_slashes_at_end(*pod.folder) != folder_.path_of(*name)) {
    complain(about, "the volume " + std::string(codec::kRankTableVolume) + " of pod " + pod.name +
                        " is " + in_quotes(*pod.folder) + " of the host; that of its job is " +
                        folder_.path_of(*name));
    return {};
  }
  return std::move(*name);
}

RankTableFiles::Job* RankTableFiles::job_of(const std::string& folder) {
  const auto known = jobs_.find(folder);
  if (known != jobs_.end()) return &known->second;
  if (jobs_.size() >= kMaxJobs) {
    complain(folder, "this node has more than " + std::to_string(kMaxJobs) + " jobs");
    return nullptr;
  }
  Job& made = jobs_[folder];
  std::tie(made.ns, made.job) = *parts_of_folder_name(folder);
  return &made;
}

// Before the list is complete a pod may look like the first of its job.
void RankTableFiles::settle(const std::string& folder) {
  Job& job = jobs_[folder];
  if (!namespaces_[job.ns].listed) return;
  if (job.file == nullptr) {
    job.file = std::make_unique<TableFile>(transport_, folder_, job.ns, job.job, folder, ++seed_);
  }
  if (!job.pods.empty()) {
    job.resting = false;
    job.removal.reset();
    return job.file->want(job.pods);
  }
  if (std::exchange(job.resting, true)) return;
  job.file->rest();
  remove_later(folder);
}

void RankTableFiles::remove_later(const std::string& folder) {
  jobs_[folder].removal =
      transport_.after(kRemoveAfter, [this, folder = std::string(folder)]() mutable {
        const std::string name = std::move(folder);  // the wait may end with the next request
        confirm_removal(name);
      });
}

void RankTableFiles::confirm_removal(const std::string& folder) {
  Job& job = jobs_[folder];
  kube::Call call;
  call.target = pods_path(job.ns) + "?limit=5000&fieldSelector=spec.nodeName%3D" + node_;
  job.removal = transport_.call(
      std::move(call), [this, folder = std::string(folder)](Result<kube::Reply> reply) mutable {
        const std::string name = std::move(folder);  // the request ends with the job
        if (has_pods(name, std::move(reply))) return remove_later(name);
        jobs_[name].file->remove();
        jobs_.erase(name);
      });
}

// Also where that is not known.
bool RankTableFiles::has_pods(const std::string& folder, Result<kube::Reply> reply) {
  if (!reply || reply->status != kube::kOk) return true;
  const auto page = reader_.read_page(reply->body);
  if (!page || !page->next.empty()) return true;
  return std::any_of(page->objects.begin(), page->objects.end(),
                     [&](const Pod& pod) { return folder_of(pod) == folder; });
}

void RankTableFiles::complain(const std::string& about, const std::string& problem) {
  if (complaints_.size() >= kMaxComplaints) complaints_.clear();
  if (!complaints_.insert(about + ": " + problem).second) return;
  obs::log(obs::Level::warn, "a job has no rank table on this node",
           {{"job", about}, {"problem", problem}});
}

}  // namespace chipweave::agent
