#include "scheduler-plugin/server/clusterd/table_feed.hpp"

namespace chipweave::sched::clusterd {

TableFeed::TableFeed(const RankTables& tables, const Clock& clock)
    : tables_(tables), subscriptions_(clock, [this](const std::string& job) {
        const PublishedTable* table = tables_.deployment(job);
        return table == nullptr ? std::string() : table->text;
      }) {}

void TableFeed::deployment_table(const PublishedTable& table) {
  if (table.kind == TableKind::mindie && table.complete &&
      tables_.deployment(table.name) != nullptr)
    subscriptions_.push(table.name, table.text);
}

}  // namespace chipweave::sched::clusterd
