// TableFeed — the rank tables of MindIE deployments for those who follow them. Loop thread only.
#pragma once

#include <string>

#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/server/clusterd/subscriptions.hpp"

namespace chipweave::sched::clusterd {

class TableFeed final : public RankTableListener {
 public:
  TableFeed(const RankTables& tables, const Clock& clock, CallerLimits& limits)
      : tables_(tables), subscriptions_(clock, limits, [this](const std::string& job) {
          const PublishedTable* table = tables_.deployment(job);
          return table == nullptr ? std::string() : table->text;
        }) {}

  Subscriptions& subscriptions() { return subscriptions_; }

  void job_table(const PublishedTable& /*table*/) override {}
  void job_table_gone(const std::string& /*ns*/, const std::string& /*job*/) override {}
  void deployment_table(const PublishedTable& table) override {
    if (table.kind == TableKind::mindie && table.complete &&
        tables_.deployment(table.name) != nullptr)
      subscriptions_.push(table.name, table.text);
  }
  void deployment_table_gone(TableKind /*kind*/, const std::string& /*ns*/,
                             const std::string& /*name*/) override {}

 private:
  const RankTables& tables_;
  Subscriptions subscriptions_;
};

}  // namespace chipweave::sched::clusterd
