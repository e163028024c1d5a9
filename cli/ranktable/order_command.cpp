// chipweave ranktable order, show
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/launchers.hpp"
#include "cli/ranktable/render_ring.hpp"
#include "cli/ranktable/table_file.hpp"
#include "cli/terminal.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/lint/renumber.hpp"

namespace chipweave::cli {

using codec::ranktable::LintedText;
using domain::ranktable::Dialect;
using domain::ranktable::RankedHost;
using solver::TableRing;

namespace {

struct OrderFlags {
  TableFile table;
  std::string network;
  codec::NetworkImportOptions import;
  domain::ranktable::JobChoice choice;
  bool write = false;
  std::string to;
  std::optional<int> cpu_packages;
  OutputForm form = OutputForm::text;
};

// The ring of the table; nullopt with the exit code set. An order needs at least one host of the
// network.
std::optional<TableRing> ring_of(const OrderFlags& flags, const LintedText& linted, bool to_order,
                                 Exit& exit) {
  std::optional<codec::ImportedNetwork> network;
  if (!flags.network.empty()) {
    network = load_network(flags.network, flags.import, exit);
    if (!network) return std::nullopt;
    for (const std::string& warning : network->warnings) warn(warning);
  }
  auto ring = solver::table_ring(linted.table, network ? &network->table : nullptr, flags.choice);
  if (!ring) {
    exit = refuse(ring.error());
    return std::nullopt;
  }
  if (to_order && !ring->unknown.empty() && ring->unknown.size() == ring->hosts.size()) {
    exit = complain_of_input(
        make_error(Errc::not_found,
                   "expected nodes of the network, got other hosts only, such as " +
                       in_quotes(ring->unknown.front())),
        flags.table.file);
    return std::nullopt;
  }
  for (const std::string& each : ring->ambiguous) warn("in " + flags.network + ", host " + each);
  if (!ring->unknown.empty()) {
    warn(concat(ring->unknown.size(), " of ", ring->hosts.size(), " hosts are not in ",
                flags.network, ", e.g. ", ring->unknown.front(),
                "; they are looked up by server_id, host_ip and server_ip"));
  }
  return *std::move(ring);
}

// Tables in which rank_id has no meaning over hosts, or none at all.
bool can_be_renumbered(Dialect dialect) {
  switch (dialect) {
    case Dialect::hccl_1_0:
    case Dialect::hccl_1_1:
    case Dialect::hccl_1_2:
    case Dialect::mindie_llm:
    case Dialect::mindspore_cluster:
    case Dialect::modelarts_1980:
    case Dialect::modelarts_local:
      return true;
    default:
      return false;
  }
}

// New ranks first, then the lists in their order: the second pass reads what the first wrote.
Result<std::string> renumbered(const LintedText& linted, const TableRing& ring) {
  codec::ranktable::Edits ranks;
  codec::ranktable::set_ranks(*linted.tree, solver::best_ranks(ring), linted.table.dialect, ranks);
  const std::string text = ranks.apply(*linted.tree);
  auto parsed = codec::JsonTree::parse(text);
  const auto* tree = std::get_if<codec::JsonTree>(&parsed);
  if (tree == nullptr)
    return make_error(Errc::internal, "the table with its new ranks is not valid JSON");
  const auto again = codec::ranktable::read_table(*tree, linted.root, {linted.dialect});
  codec::ranktable::Edits lists;
  codec::ranktable::sort_lists(*tree, again.table, lists);
  return lists.apply(*tree);
}

Exit write_order(const OrderFlags& flags, const LintedText& linted, const TableRing& ring) {
  if (!can_be_renumbered(*linted.dialect))
    return complain(concat("--write cannot be combined with a table of dialect ",
                           to_string(*linted.dialect), ": it has no global ranks"),
                    Exit::usage);
  const Result<std::string> text = renumbered(linted, ring);
  if (!text) return complain(text.error(), Exit::unreadable);
  if (*text == linted.tree->document()) {
    remark("the ranks already cross as few borders as possible; nothing was changed");
  }
  return print_or_write(*text, flags.table.file, flags.table.file == "-");
}

Exit print_launcher(const OrderFlags& flags, const TableRing& ring) {
  std::vector<RankedHost> hosts;
  std::int64_t next = 0;
  for (const std::size_t h : ring.order) {
    RankedHost& host = hosts.emplace_back();
    host.name = ring.hosts[h].name;
    for (const auto& device : ring.hosts[h].devices) {
      host.ranks.emplace_back(next++, device.device_id.value_or(-1));
    }
  }
  const Result<std::string> text = launcher_text(hosts, flags.to, flags.cpu_packages.value_or(1));
  if (text) warn_of_cpu_packages(flags.to, flags.cpu_packages);
  if (text) return print(*text) ? Exit::fine : Exit::unreadable;
  return complain(text.error(), Exit::findings);
}

Exit run_order(const OrderFlags& flags) {
  if (flags.network.empty() && !flags.write) {
    return complain("--network is required, except with --write", Exit::usage);
  }
  if (const std::string twice =
          standard_input_error({{"TABLE", flags.table.file}, {"--network", flags.network}});
      !twice.empty())
    return complain(twice, Exit::usage);
  Exit exit = Exit::fine;
  const auto linted = load_table(flags.table, exit);
  if (!linted) return exit;
  const auto ring = ring_of(flags, *linted, true, exit);
  if (!ring) return exit;
  if (!flags.to.empty()) return print_launcher(flags, *ring);
  // The table itself goes to standard output.
  const bool piped = flags.write && flags.table.file == "-";
  if (!piped) {
    const bool shown = print(flags.form == OutputForm::json ? ring_json(*linted, *ring)
                                                            : render_order(*ring, colour_wanted()));
    if (!shown) return Exit::unreadable;
  }
  return flags.write ? write_order(flags, *linted, *ring) : Exit::fine;
}

Exit run_table_show(const OrderFlags& flags) {
  if (const std::string twice =
          standard_input_error({{"TABLE", flags.table.file}, {"--network", flags.network}});
      !twice.empty())
    return complain(twice, Exit::usage);
  Exit exit = Exit::fine;
  const auto linted = load_table(flags.table, exit);
  if (!linted) return exit;
  const bool json = flags.form == OutputForm::json;
  if (linted->dialect == Dialect::hccl_2_0) {
    const std::string text =
        json ? layered_json(*linted) : render_layered(*linted, colour_wanted());
    return print(text) ? Exit::fine : Exit::unreadable;
  }
  const auto ring = ring_of(flags, *linted, false, exit);
  if (!ring) return exit;
  const std::string text =
      json ? ring_json(*linted, *ring) : render_ring(*linted, *ring, colour_wanted());
  return print(text) ? Exit::fine : Exit::unreadable;
}

void add_ring_options(CLI::App& command, OrderFlags& flags) {
  add_table_options(command, flags.table);
  auto* network = add_value(command, "--network", "FILE", flags.network,
                            "description of the network, in any format that 'network import' "
                            "reads");
  for (CLI::Option* option : add_network_options(command, flags.import)) option->needs(network);
  add_value(command, "--instance", "N", flags.choice.instance,
            "which instance of a global table, from 0 in the order of the text");
  add_value(command, "--group", "ID", flags.choice.group,
            "which group of servers of a MindIE table");
  add_output_option(command, flags.form);
}

}  // namespace

void register_table_order(CLI::App& ranktable, Exit& exit_code) {
  auto order = std::make_shared<OrderFlags>();
  CLI::App* o = ranktable.add_subcommand(
      "order", "how often the ring crosses switches, and the ranks that cross least");
  add_ring_options(*o, *order);
  auto* write = o->add_flag("--write", order->write,
                            "give the table these ranks, in its file; without "
                            "--network only so that servers do not interleave");
  auto* pointer = o->get_option("--pointer");
  write->excludes(pointer);
  add_value(*o, "--to", "FORM", order->to, "print the new order as a launcher takes it instead")
      ->check(
          CLI::IsMember(std::vector<std::string>(launcher_forms().begin(), launcher_forms().end())))
      ->excludes(write);
  add_cpu_packages_option(*o, order->cpu_packages);
  add_examples(*o,
               "  chipweave ranktable order hccl.json --network topology.conf\n"
               "  chipweave ranktable order hccl.json --network tor.json --write\n"
               "  chipweave ranktable order hccl.json --network tor.json --to hostfile");
  o->callback([order, &exit_code] { exit_code = run_order(*order); });

  auto show = std::make_shared<OrderFlags>();
  CLI::App* s = ranktable.add_subcommand("show", "the table by hosts, and where its ring crosses");
  add_ring_options(*s, *show);
  add_examples(*s, "  chipweave ranktable show hccl.json --network topology.conf");
  s->callback([show, &exit_code] { exit_code = run_table_show(*show); });
}

}  // namespace chipweave::cli
