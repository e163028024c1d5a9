// make_mindie_table — the table of a whole MindIE deployment (global-ranktable): its coordinator,
// its controller, and a group for each server job. Form and order as ClusterD writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/assembly/member.hpp"

namespace chipweave::domain::ranktable {

// A job with label app=mindie-ms-server.
struct MindieServerJob {
  std::string name;
  std::vector<std::optional<Member>> members;  // by rank; nullopt: the pod has not come
  // Value of label grt-group/deploy-server: of the group; of grt-server/deploy-server: of each
  // server. At most one of them.
  Text group_deploys;
  Text server_deploys;
};

struct MindieDeployment {
  std::optional<Member> coordinator;  // nullopt: has not come
  std::optional<Member> controller;
  std::vector<MindieServerJob> servers;  // in the order of their groups, which begin with "2"
  bool super_pods = false;               // 1.2, with the super pods of the machines; else 1.0
};

struct MindieTable {
  RankTable table;                   // without groups while something is missing
  std::vector<std::string> missing;  // for people; empty: the table is complete
};

// Cost: O(devices log devices). Errors: conflict: as make_job_table(), for each job; both labels,
// or labels of different kinds.
Result<MindieTable> make_mindie_table(const MindieDeployment& deployment);

}  // namespace chipweave::domain::ranktable
