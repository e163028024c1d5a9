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
  const auto inputs =
      read_inputs(std::move(files), Dialect::hccl_1_0, "; merge-hccl takes HCCL 1.0 tables");
  if (!inputs) return inputs.error();
  MergedTable out;
  RankTable table = completed_table(Dialect::hccl_1_0);
  std::vector<Server>& servers = table.groups.emplace_back().servers;
  std::map<std::string, Seen> seen;
  UniqueAddresses addresses;
  std::int64_t ranks = 0;
  for (const InputTable& input : *inputs) {
    const auto own = input.servers();
    if (!own) return own.error();
    for (const Server& server : **own) {
      const std::string id = server.server_id.value_or("");
      const auto [first, is_new] = seen.try_emplace(id, Seen{&input, server.source});
      if (!is_new) {
        return input.wrong(server.source, "server ", in_quotes(id), " is in ", first->second.text(),
                           " too; is a merged table among the files?");
      }
      if (server.devices.empty()) return input.wrong(server.source, "has no device");
      for (Device& device : servers.emplace_back(server).devices) {
        if (auto good = addresses.take(input, device); !good) return std::move(good).error();
        device.rank_id = ranks++;
      }
    }
    if ((*own)->size() > 1) {
      out.warnings.push_back(concat("file ", input.name, " already has ", (*own)->size(),
                                    " servers: is it the result of an earlier merge?"));
    }
  }
  if (const std::string order = text_order(servers); !order.empty()) {
    out.warnings.push_back(
        concat("servers, and so their ranks, are in the text order of their "
               "addresses (",
               order, "); list the files in the order you want"));
  }
  out.file.name = concat("hccl_", servers.size(), "s_", ranks, "p.json");
  table.count = static_cast<std::int64_t>(servers.size());
  out.file.text = write_table(table);
  return out;
}

}  // namespace chipweave::codec::ranktable
