#include <map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/natural_order.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/tools/input_table.hpp"
#include "common/codec/ranktable/tools/merge.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::completed_table;

// Collects the servers of several tables, and what must be unique among them.
class HcclMerger {
 public:
  HcclMerger() { table_.groups.emplace_back(); }

  // The table must outlive this.
  Result<void> take(const InputTable& input) {
    if (input.table.groups.empty() || input.table.groups.front().servers.empty()) {
      return input.wrong(input.table.source, "has no server");
    }
    for (const Server& server : input.table.groups.front().servers) {
      if (Result<void> good = take_server(input, server); !good) return good;
    }
    return {};
  }

  RankTable& table() { return table_; }
  std::int64_t ranks() const { return ranks_; }

 private:
  Result<void> take_server(const InputTable& input, const Server& server) {
    const std::string id = server.server_id.value_or("");
    const auto [first, is_new] = servers_.try_emplace(id, Seen{&input, server.source});
    if (!is_new) {
      return input.wrong(server.source, "server ", in_quotes(id), " is in ", first->second.text(),
                         " too; is a merged table among the files?");
    }
    if (server.devices.empty()) return input.wrong(server.source, "has no device");
    Server out = server;
    for (Device& device : out.devices) {
      if (Result<void> good = addresses_.take(input, device); !good) return good;
      device.rank_id = ranks_++;
    }
    table_.groups.front().servers.push_back(std::move(out));
    return {};
  }

  RankTable table_ = completed_table(Dialect::hccl_1_0);
  std::int64_t ranks_ = 0;
  std::map<std::string, Seen> servers_;
  UniqueAddresses addresses_;
};

// "B before A" if all servers are in text order and B and A would be swapped in natural order.
std::string text_order(const std::vector<Server>& servers) {
  std::string out;
  for (std::size_t i = 1; i < servers.size(); ++i) {
    const std::string& before = *servers[i - 1].server_id;
    const std::string& here = *servers[i].server_id;
    if (here < before) return "";
    if (out.empty() && natural_less(here, before)) out = before + " before " + here;
  }
  return out;
}

}  // namespace

Result<MergedTable> merge_hccl_tables(std::vector<NamedText> files) {
  MergedTable out;
  HcclMerger merger;
  const auto inputs =
      read_inputs(std::move(files), Dialect::hccl_1_0, "; merge-hccl takes HCCL 1.0 tables");
  if (!inputs) return inputs.error();
  for (const InputTable& input : *inputs) {
    if (Result<void> good = merger.take(input); !good) return std::move(good).error();
    const std::size_t servers = input.table.groups.front().servers.size();
    if (servers > 1) {
      out.warnings.push_back(concat("file ", input.name, " already has ", servers,
                                    " servers: is it the result of an earlier merge?"));
    }
  }
  RankTable& table = merger.table();
  const std::vector<Server>& servers = table.groups.front().servers;
  if (const std::string order = text_order(servers); !order.empty()) {
    out.warnings.push_back(
        concat("servers, and so their ranks, are in the text order of their "
               "addresses (",
               order, "); list the files in the order you want"));
  }
  out.file.name = concat("hccl_", servers.size(), "s_", merger.ranks(), "p.json");
  table.count = static_cast<std::int64_t>(servers.size());
  out.file.text = write_table(table);
  return out;
}

}  // namespace chipweave::codec::ranktable
