// make_pd_tables — the tables of an inference deployment whose instances either prefill or decode,
// each a pod: ModelArts' and omni-infer's global table with a local one for each pod, or
// vLLM-Ascend's. Forms as their generators write them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/assembly/member.hpp"

namespace chipweave::domain::ranktable {

struct PdDeployment {
  Dialect dialect = Dialect::modelarts_global;  // or vllm_ascend
  // In the order of their instances.
  std::vector<Member> prefill;
  std::vector<Member> decode;
  std::optional<Member> scheduler;  // ModelArts' API server; nullopt: has not come
};

struct PdTables {
  RankTable table;  // without groups while something is missing
  std::vector<std::pair<std::string, RankTable>> locals;  // by pod; ModelArts only
  std::vector<std::string> missing;  // for people; empty: the table is complete
};

// A group of ModelArts' global table: "0" API server, "1" prefill, "2" decode; a server each
// instance.
Group pd_group(std::string id, std::vector<Server> instances);
// The local table of an instance or of the API server, as it is in the global one.
RankTable local_pd_table(const Server& instance);

// server_id and server_ip are the host's address: readers take two instances of one address for
// neighbours that need no NIC. Devices without an address make the tables incomplete. Cost:
// O(devices log devices). Errors: conflict: as make_job_table(). invalid_argument: another dialect.
Result<PdTables> make_pd_tables(const PdDeployment& deployment);

}  // namespace chipweave::domain::ranktable
