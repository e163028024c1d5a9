// chipweave ranktable convert
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/launchers.hpp"
#include "cli/ranktable/table_file.hpp"
#include "cli/terminal.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/tools/generated_tables.hpp"
#include "common/domain/ranktable/convert.hpp"
#include "common/io/file_set.hpp"

namespace chipweave::cli {

using domain::ranktable::Converted;
using domain::ranktable::ConvertOptions;
using domain::ranktable::RankTable;

namespace {

struct ConvertFlags {
  TableFile table;
  std::string to;
  std::vector<std::string> super_pods;
  std::vector<std::string> server_indices;
  ConvertOptions options;
  std::string write;
  std::string save_dir;
  bool compact = false;
  std::optional<int> cpu_packages;
};

bool is_launcher(const std::string& form) {
  const auto& forms = launcher_forms();
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

// "SERVER=POD", or "POD" of every server.
Result<void> read_pairs(ConvertFlags& flags) {
  for (const std::string& pair : flags.super_pods) {
    const std::size_t equals = pair.rfind('=');
    const std::string server = equals == std::string::npos ? "*" : pair.substr(0, equals);
    flags.options.super_pods[server] = equals == std::string::npos ? pair : pair.substr(equals + 1);
  }
  for (const std::string& pair : flags.server_indices) {
    const std::size_t equals = pair.rfind('=');
    const auto index = equals == std::string::npos
                           ? std::nullopt
                           : parse_number<std::int64_t>(std::string_view(pair).substr(equals + 1));
    constexpr std::int64_t kMax = 1023;  // ten bits of an SDID
    if (!index || *index < 0 || *index > kMax) {
      return make_error(Errc::invalid_argument,
                        "expected SERVER=N with N from 0 to 1023, got " + in_quotes(pair))
          .in("--server-index");
    }
    flags.options.server_indices[pair.substr(0, equals)] = *index;
  }
  return {};
}

Exit run_launcher(const ConvertFlags& flags, const RankTable& table) {
  const auto hosts =
      domain::ranktable::ranked_hosts(table, {flags.options.instance, flags.options.group});
  const Result<std::string> text =
      hosts ? launcher_text(*hosts, flags.to, flags.cpu_packages.value_or(1))
            : Result<std::string>(hosts.error());
  if (text) warn_of_cpu_packages(flags.to, flags.cpu_packages);
  return text ? print_or_write(*text, flags.write, flags.write.empty()) : refuse(text.error());
}

std::string table_text(const RankTable& table, bool compact) {
  using codec::ranktable::write_table;
  return compact ? write_table(table, 0) : write_table(table);
}

// All or none of them, named and with the mode that the generators' local tables have.
Exit write_instances(const ConvertFlags& flags, const Converted& converted) {
  std::vector<NamedText> files;
  std::set<std::string> names;
  for (const RankTable& table : converted.tables) {
    std::string name = codec::ranktable::local_table_name(table.groups.front().servers.front());
    if (name.find('/') != std::string::npos || !names.insert(name).second) {
      complain("an instance cannot be written to " + name +
               ": the name is taken or leaves the folder; nothing was written");
      return Exit::findings;
    }
    files.push_back({std::move(name), table_text(table, flags.compact)});
  }
  const auto written = io::write_file_set(flags.save_dir, files, io::FileMode::owner_only,
                                          [](const std::string& path) { print(path + "\n"); });
  if (written) return Exit::fine;
  return complain(written.error(), Exit::unreadable);
}

Exit run_convert(ConvertFlags flags) {
  const auto pairs = read_pairs(flags);
  if (!pairs) return complain(pairs.error(), Exit::usage);
  if (!flags.save_dir.empty() && flags.to != "modelarts-local") {
    complain("--save-dir requires --to modelarts-local; use --write for a single file");
    return Exit::usage;
  }
  Exit exit = Exit::fine;
  const auto linted = load_table(flags.table, exit);
  if (!linted) return exit;
  if (is_launcher(flags.to)) return run_launcher(flags, linted->table);
  const auto converted = domain::ranktable::convert(
      linted->table, *domain::ranktable::dialect_named(flags.to), flags.options);
  if (!converted) return refuse(converted.error());
  for (const std::string& loss : converted->losses) remark("lost: " + loss);
  if (!flags.save_dir.empty()) return write_instances(flags, *converted);
  if (converted->tables.size() != 1) {
    complain(concat("one of --save-dir (all tables) or --instance (one table) is required: the ",
                    "result is ", converted->tables.size(), " tables"));
    return Exit::usage;
  }
  std::string text = table_text(converted->tables.front(), flags.compact);
  if (flags.write.empty()) text += '\n';
  return print_or_write(text, flags.write, flags.write.empty());
}

std::vector<std::string_view> targets() {
  std::vector<std::string_view> out = domain::ranktable::dialect_names();
  out.insert(out.end(), launcher_forms().begin(), launcher_forms().end());
  return out;
}

std::string wrong_target(const std::string& text) {
  if (is_launcher(text) || domain::ranktable::dialect_named(text)) return {};
  return unknown_name("form", text, targets());
}

}  // namespace

void register_table_convert(CLI::App& ranktable, Exit& exit_code) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* c = ranktable.add_subcommand("convert", "write a table in another dialect or form");
  add_table_options(*c, flags->table);
  offer(add_value(*c, "--to", "FORM", flags->to, joined(targets(), ", ")), targets())
      ->check(wrong_target)
      ->required();
  add_value(*c, "--instance", "N", flags->options.instance,
            "which instance of a global table, from 0 in the order of the text");
  add_value(*c, "--group", "ID", flags->options.group, "which group of servers of a MindIE table");
  add_value(*c, "--prefill-devices", "N", flags->options.prefill_devices,
            "vllm-ascend: the first N ranks prefill, the others decode");
  add_value(*c, "--prefill-groups", "ID,ID", flags->options.prefill_groups,
            "modelarts-global from MindIE: groups that prefill")
      ->delimiter(',');
  add_value(*c, "--decode-groups", "ID,ID", flags->options.decode_groups, "… and that decode")
      ->delimiter(',');
  add_value(*c, "--super-pod", "[SERVER=]POD", flags->super_pods,
            "hccl-1.2: SERVER=POD, or POD of every server; may be given several times");
  add_value(*c, "--server-index", "SERVER=N", flags->server_indices,
            "hccl-1.2: index of a server in its super pod, to compute SDIDs from");
  add_value(*c, "--write", "FILE", flags->write, "write to this file, atomically; default: print");
  add_value(*c, "--save-dir", "DIR", flags->save_dir, "write to a file an instance in this folder");
  add_cpu_packages_option(*c, flags->cpu_packages);
  c->add_flag("--compact", flags->compact, "without white space");
  add_examples(*c,
               "  chipweave ranktable convert hccl.json --to hostfile > hosts\n"
               "  chipweave ranktable convert hccl.json --to vllm-ascend --prefill-devices 8\n"
               "  chipweave ranktable convert global_ranktable_merge.json --to modelarts-local "
               "--save-dir .\n"
               "Losses are listed on standard error. Values that the new form needs and the table\n"
               "lacks must be given as options.");
  c->callback([flags, &exit_code] { exit_code = run_convert(*flags); });
}

}  // namespace chipweave::cli
