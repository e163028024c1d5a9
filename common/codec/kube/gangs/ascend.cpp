// MindCluster: AscendJob (mindxdl.gitee.com/v1), and the keys that its scheduler reads.
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {

// Labels and annotations of jobs and of their pods; docs/reference/vendor-gang-rules.md.
void ascend_topology(const Marks& marks, domain::TopologyWish& to) {
  constexpr std::string_view kTor = "tor-affinity";
  domain::AscendRequest ascend;
  ascend.sp_block = marks.number("sp-block", limits::kMaxChipIndex, to);
  ascend.ra_block = marks.number("ra-block", limits::kMaxChipIndex, to);
  ascend.soft = marks.label("super-pod-affinity") == "soft";
  ascend.ub_memory = marks.annotation("huawei.com/schedule_ubmemory") == "true";
  if (ascend.sp_block || ascend.ra_block || ascend.ub_memory) to.ascend = ascend;
  const std::string_view tor = marks.label(kTor);
  if (tor == "large-model-schema")
    to.tor = domain::TorSchema::large_model;
  else if (tor == "normal-schema")
    to.tor = domain::TorSchema::normal;
  else if (!tor.empty() && tor != "null")
    note_problem(to, kTor, tor, "expected large-model-schema, normal-schema or null");
}

// Its pods carry the labels of the training operator's library; its PodGroup is Volcano's.
void read_ascend_job(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = reading.declare("trainer", object.name);
  read_replica_specs(reading, "replicaSpecs", to);
  read_run_policy(reading, to);
}

}  // namespace chipweave::codec
