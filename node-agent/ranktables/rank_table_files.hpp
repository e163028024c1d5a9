// RankTableFiles — the rank tables of the jobs of this node as files, for containers that mount
// them from the host (a volume `ranktable` of type hostPath) and not from their ConfigMap. The
// layout is that of MindCluster's operator; docs/reference/rank-tables-of-jobs.md has the rules.
//
// It watches the pods of its own node in the listed namespaces. A folder is removed a minute after
// the last pod of its job, once a new list has none either: a container that has mounted a folder
// which is made again would never see its files.
//
// Loop thread only; ends with its destructor, after which files stay as they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/kube/reflector.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/ranktables/rank_table_options.hpp"
#include "node-agent/ranktables/table_file.hpp"
#include "node-agent/ranktables/table_folder.hpp"

namespace chipweave::agent {

class RankTableFiles {
 public:
  static constexpr std::size_t kMaxJobs = 1'024;  // those that come later have no file
  static constexpr std::chrono::seconds kRemoveAfter{60};

  // Of jobs with pods on this node.
  struct Counts {
    std::size_t initializing = 0;
    std::size_t completed = 0;
    std::size_t failed = 0;
  };

  // node: a DNS subdomain, checked before.
  RankTableFiles(kube::Transport& transport, RankTableOptions options, std::string node,
                 std::uint64_t seed);
  RankTableFiles(const RankTableFiles&) = delete;
  RankTableFiles& operator=(const RankTableFiles&) = delete;

  void start();
  Counts counts() const;

 private:
  using Pod = codec::KubeRankTablePod;
  struct Namespace {
    std::unique_ptr<kube::Reflector<Pod>> watch;
    bool listed = false;
    bool failing = false;  // as logged
  };
  struct Job {
    std::string ns;
    std::string job;
    std::set<std::string> pods;  // uids
    std::unique_ptr<TableFile> file;
    bool resting = false;
    std::unique_ptr<kube::Ticket> removal;
  };
  struct KnownPod {
    std::string uid;
    std::string folder;  // of its job
  };

  void watch(const std::string& ns);
  void seen(const Pod& pod);
  void gone(const std::string& key);
  void listed(const std::string& ns);
  // The folder of its job; empty: it has none, or not ours.
  std::string folder_of(const Pod& pod);
  // Null: there are too many.
  Job* job_of(const std::string& folder);
  void settle(const std::string& folder);
  void remove_later(const std::string& folder);
  void confirm_removal(const std::string& folder);
  bool has_pods(const std::string& folder, Result<kube::Reply> reply);
  void complain(const std::string& about, const std::string& problem);

  kube::Transport& transport_;
  RankTableOptions options_;
  std::string node_;
  TableFolder folder_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::map<std::string, Namespace> namespaces_;
  std::map<std::string, KnownPod> pods_;  // by "namespace/name"
  std::map<std::string, Job> jobs_;       // by name of the folder
  std::set<std::string> complaints_;      // logged
  codec::WatchReader<Pod> reader_;        // of lists before a removal
};

}  // namespace chipweave::agent
