// PublishedTable — a rank table as it is now, for those who write it into the cluster or send it to
// subscribers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/mindcluster/pod/job_table.hpp"
#include "common/domain/ranktable/table.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

// hccl.json while it is not complete, as MindCluster's operator writes it.
inline constexpr const char* kInitializing = codec::mindcluster::kInitialTable;

enum class TableKind : std::uint8_t {
  hccl,       // of a job
  modelarts,  // of a job: jobstart_hccl.json, as the Volcano plugin configmap1980 writes it
  mindie,     // of a MindIE deployment
  pd,         // of a deployment of prefill and decode instances
};

inline bool is_of_job(TableKind kind) {
  return kind == TableKind::hccl || kind == TableKind::modelarts;
}

// Beside jobstart_hccl.json.
struct RouteFiles {
  std::string tors;  // ranktable_tor.json
  std::string plan;  // route_plan.json; empty: there is nothing to plan, or not yet

  friend bool operator==(const RouteFiles&, const RouteFiles&) = default;
};

// Beside the table of a deployment of prefill and decode instances.
struct PdFiles {
  bool vllm = false;                          // of vLLM-Ascend, not of ModelArts
  std::map<std::string, std::string> locals;  // local tables, by pod; "initializing": none yet

  friend bool operator==(const PdFiles&, const PdFiles&) = default;
};

struct PublishedTable {
  TableKind kind = TableKind::hccl;
  std::string ns;
  std::string name;                   // of the job or deployment (MindIE: jobID)
  std::string text;                   // compact JSON; of a deployment "": none yet
  std::optional<RouteFiles> route{};  // nullopt: the job does not ask for switches
  std::optional<PdFiles> pd{};        // nullopt: it is none of these
  bool complete = false;              // what it has to be now
  std::vector<std::string> missing;   // for people, at most kMaxMissing of them, and how many more
  std::string problem;                // why it cannot be complete; empty: it may be
  std::string framework{};            // of a job, as the label of its pods says; empty: it does not
  std::map<std::string, std::string> consumer{};  // labels that consumers select ConfigMaps by
  GangRef about;                                  // whom events are about

  static constexpr std::size_t kMaxMissing = 8;
  void name_missing(std::vector<std::string> all);
  // Sets text and complete if our linter finds no error and the text has at most max_bytes; else
  // the problem, with the rule that it is against.
  void set(const domain::ranktable::RankTable& table, std::size_t max_bytes);
};

// Whether those who use or watch the table have to know.
bool differ(const PublishedTable& a, const PublishedTable& b);

// Follows the tables.
class RankTableListener {
 public:
  virtual ~RankTableListener() = default;
  // The text, or what is missing or wrong, has changed.
  virtual void job_table(const PublishedTable& table) = 0;
  virtual void job_table_gone(const std::string& ns, const std::string& job) = 0;
  virtual void deployment_table(const PublishedTable& table) = 0;
  // kind: mindie or pd.
  virtual void deployment_table_gone(TableKind kind, const std::string& ns,
                                     const std::string& name) = 0;
};

}  // namespace chipweave::sched
