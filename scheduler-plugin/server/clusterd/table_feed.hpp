// TableFeed — the rank tables of MindIE deployments for those who follow them. Loop thread only.
#pragma once

#include <string>

#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/server/clusterd/subscriptions.hpp"

namespace chipweave::sched::clusterd {

class TableFeed final : public RankTableListener {
 public:
  TableFeed(const RankTables& tables, const Clock& clock);

  Subscriptions& subscriptions() { return subscriptions_; }

  void job_table(const PublishedTable& /*table*/) override {}
  void job_table_gone(const std::string& /*ns*/, const std::string& /*job*/) override {}
  void deployment_table(const PublishedTable& table) override;
  void deployment_table_gone(TableKind /*kind*/, const std::string& /*ns*/,
                             const std::string& /*id*/) override {}

 private:
  const RankTables& tables_;
  Subscriptions subscriptions_;
};

}  // namespace chipweave::sched::clusterd
