#include "scheduler-plugin/ranktables/tables/published_table.hpp"

#include <utility>

#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/lint/lint.hpp"

namespace chipweave::sched {
namespace {

using domain::ranktable::Dialect;
using domain::ranktable::Profile;

Profile profile_of(Dialect dialect) {
  if (dialect == Dialect::hccl_1_2) return Profile::hccl_a3;
  if (dialect == Dialect::hccl_2_0) return Profile::hccl_950;
  if (dialect == Dialect::mindie_global) return Profile::mindie_motor;
  if (dialect == Dialect::modelarts_global) return Profile::modelarts;
  return dialect == Dialect::vllm_ascend ? Profile::vllm_ascend : Profile::structural;
}

}  // namespace

void PublishedTable::name_missing(std::vector<std::string> all) {
  if (all.size() > kMaxMissing) {
    const std::size_t more = all.size() - kMaxMissing;
    all.resize(kMaxMissing);
    all.push_back("and " + std::to_string(more) + " more");
  }
  missing = std::move(all);
}

void PublishedTable::set(const domain::ranktable::RankTable& table, std::size_t max_bytes) {
  for (const auto& finding : domain::ranktable::lint(table, profile_of(table.dialect))) {
    if (finding.severity != domain::ranktable::Severity::error) continue;
    problem = std::string(finding.code) + ": " + finding.message;
    return;
  }
  std::string written = codec::ranktable::write_table(table, 0);
  if (written.size() > max_bytes) {
    problem = "it has " + std::to_string(written.size()) + " bytes, and a ConfigMap holds " +
              std::to_string(max_bytes);
    return;
  }
  text = std::move(written);
  complete = true;
}

bool differ(const PublishedTable& a, const PublishedTable& b) {
  return a.kind != b.kind || a.text != b.text || a.route != b.route || a.pd != b.pd ||
         a.complete != b.complete || a.missing != b.missing || a.problem != b.problem ||
         a.consumer != b.consumer;
}

}  // namespace chipweave::sched
