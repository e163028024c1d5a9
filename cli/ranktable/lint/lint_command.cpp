// chipweave ranktable lint
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/lint/fix_file.hpp"
#include "cli/ranktable/lint/machine_checks.hpp"
#include "cli/ranktable/lint/render_lint.hpp"
#include "cli/ranktable/table_file.hpp"
#include "cli/terminal.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/ranktable/canonical.hpp"
#include "common/codec/ranktable/lint/fix.hpp"
#include "common/codec/ranktable/lint/topology_file.hpp"
#include "common/domain/ranktable/lint/lint.hpp"
#include "common/solver/ranks/table_ring.hpp"

namespace chipweave::cli {

using codec::ranktable::LintedText;
using codec::ranktable::LintOptions;
using codec::ranktable::Located;
using domain::ranktable::Dialect;
using domain::ranktable::Finding;
using domain::ranktable::Findings;
using domain::ranktable::Place;
using domain::ranktable::Profile;
using domain::ranktable::Severity;

namespace {

enum class LintForm { text, json, sarif };

struct LintFlags {
  TableFile table;
  std::string profile = "structural";
  bool strict = false;
  bool fix = false;
  bool dry_run = false;
  std::string topology;
  std::string against;
  std::string network;
  codec::NetworkImportOptions import;
  MachineFlags machines;
  LintForm form = LintForm::text;
};

Exit unreadable(Error error, const std::string& file) {
  return complain(std::move(error).in(file), Exit::unreadable);
}

Result<std::string> read_table_text(const std::string& file) {
  return read_input(file, limits::kMaxRankTableBytes + 1);
}

constexpr mode_t kPermissions = 07777;
constexpr mode_t kMindie = 0640;
constexpr mode_t kSharedMount = 0644;

bool is_mindie(Profile profile) {
  return profile == Profile::mindie_llm || profile == Profile::mindie_motor;
}

// RT080: symbolic links, and modes that the consumer rejects or that let others read or write. For
// the structural profile 0644 is accepted, which is usual on shared mounts. Nothing for standard
// input.
Findings check_file(const std::string& file, Profile profile) {
  Findings out;
  struct stat link {};
  if (file == "-" || ::lstat(file.c_str(), &link) != 0) return out;
  const auto add = [&](Severity severity, std::string message) {
    out.push_back({"RT080", severity, {}, std::nullopt, std::move(message)});
  };
  if (S_ISLNK(link.st_mode)) {
    add(profile == Profile::torch_npu ? Severity::error : Severity::warning,
        "the file is a symbolic link");
  }
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return out;
  const mode_t mode = status.st_mode & kPermissions;
  if (is_mindie(profile)) {
    if (mode != kMindie) {
      add(Severity::warning, fmt::format("the file has mode {:04o}, MindIE takes 0640 only", mode));
    }
  } else {
    const mode_t most = profile == Profile::structural ? kSharedMount : kMindie;
    if ((mode & ~most & ~mode_t{0100}) != 0) {
      add(Severity::warning, fmt::format("the file has mode {:04o}, more than {:04o}", mode, most));
    }
  }
  return out;
}

// RT109; an exit when the topology file cannot be used.
std::optional<Exit> add_topology(const LintFlags& flags, LintedText& linted) {
  if (flags.topology.empty() || !linted.dialect) return std::nullopt;
  Result<std::string> text = read_table_text(flags.topology);
  if (!text) return unreadable(text.error(), flags.topology);
  const auto findings = codec::ranktable::check_topology_file(linted.table, *std::move(text));
  if (!findings) return unreadable(findings.error(), flags.topology);
  codec::ranktable::add_findings(linted, *findings);
  return std::nullopt;
}

Findings compared(const LintedText& linted, const LintedText& other, const LintFlags& flags) {
  if (linted.dialect == Dialect::modelarts_local && other.dialect == Dialect::modelarts_global) {
    return domain::ranktable::lint_local_against_global(linted.table, other.table);
  }
  if (other.dialect && codec::ranktable::canonical(*linted.tree, linted.root) ==
                           codec::ranktable::canonical(*other.tree, other.root)) {
    return {};
  }
  return {Finding{
      "RT082", Severity::error, Place{linted.table.source}, std::nullopt,
      concat("the table in ", flags.against, " is different; see 'chipweave ranktable diff ",
             shell_word(flags.table.file), " ", shell_word(flags.against), "'")}};
}

// RT082, or RT070 of a local table against the global one.
std::optional<Exit> add_against(const LintFlags& flags, LintedText& linted) {
  if (flags.against.empty() || !linted.dialect || !linted.tree) return std::nullopt;
  Result<std::string> text = read_table_text(flags.against);
  if (!text) return unreadable(text.error(), flags.against);
  LintOptions options;
  options.dialect = linted.dialect == Dialect::modelarts_local ? std::nullopt : linted.dialect;
  const LintedText other = codec::ranktable::lint_text(*std::move(text), options);
  if (!other.tree) {
    const Located& why = other.findings.front();
    return complain(place_text(flags.against, why.position) + ": " + why.message(),
                    Exit::unreadable);
  }
  codec::ranktable::add_findings(linted, compared(linted, other, flags));
  return std::nullopt;
}

// RT046 and RT081.
std::optional<Exit> add_machines(const LintFlags& flags, LintedText& linted) {
  if (!linted.dialect) return std::nullopt;
  const auto facts = read_machine_facts(flags.machines, linted.table);
  if (!facts) {
    return fail(facts.error());
  }
  codec::ranktable::add_findings(linted,
                                 domain::ranktable::lint_against_machines(linted.table, *facts));
  return std::nullopt;
}

std::string pairs_text(const solver::TableRing& ring) {
  constexpr std::size_t kShown = 4;
  const std::size_t leaf = ring.levels.size() - 2;
  std::string out;
  std::size_t count = 0;
  for (const auto& step : ring.steps) {
    if (step.level > leaf || ++count > kShown) continue;
    out += concat((out.empty() ? "" : ", "), step.from_rank, "-", step.to_rank);
  }
  return out + (count > kShown ? concat(" and ", count - kShown, " more") : "");
}

// RT090: over a network.
std::optional<Exit> add_ring(const LintFlags& flags, LintedText& linted) {
  if (flags.network.empty() || !linted.dialect) return std::nullopt;
  Result<std::string> text = read_input(flags.network, limits::kMaxNetworkFileBytes);
  if (!text) return unreadable(text.error(), flags.network);
  auto network = codec::import_network(*text, flags.import);
  if (!network) return complain_of_input(std::move(network).error(), flags.network);
  const auto ring = solver::table_ring(linted.table, &network->table);
  if (!ring) {
    warn("the ring over " + flags.network + " was not checked: " + ring.error().text());
    return std::nullopt;
  }
  for (const std::string& each : ring->ambiguous) warn("in " + flags.network + ", host " + each);
  if (!ring->unknown.empty()) {
    warn(concat(ring->unknown.size(), " hosts of the table are not in ", flags.network, ", e.g. ",
                ring->unknown.front()));
  }
  if (ring->leaf_surplus() == 0) return std::nullopt;
  const auto& leaf = ring->levels[ring->levels.size() - 2];
  codec::ranktable::add_findings(
      linted,
      {Finding{"RT090", Severity::warning, Place{linted.table.source, "server_list"}, std::nullopt,
               concat("the ring crosses ", leaf.name, " borders ", leaf.crossings, " times, ",
                      leaf.least, " is the minimum; between ranks ", pairs_text(*ring))}});
  return std::nullopt;
}

bool show_findings(const LintFlags& flags, const LintedText& linted) {
  const LintFiles names{flags.table.file, flags.network};
  switch (flags.form) {
    case LintForm::json:
      return print(lint_json(linted, names));
    case LintForm::sarif:
      return print(lint_sarif(linted, names));
    case LintForm::text:
      break;
  }
  return print(render_lint(linted, names, colour_wanted()));
}

Exit verdict(const LintFlags& flags, const LintedText& linted) {
  const auto has = [&](Severity severity) {
    return std::any_of(linted.findings.begin(), linted.findings.end(),
                       [&](const Located& each) { return each.severity == severity; });
  };
  const bool bad = has(Severity::error) || (flags.strict && has(Severity::warning));
  return bad ? Exit::findings : Exit::fine;
}

// Writes the corrected text over the file, of which a copy is kept; standard input goes to standard
// output.
std::optional<Exit> write_fixed(const std::string& file, const std::string& text) {
  if (file == "-") return print_or_write(text, file, true);
  const Result<std::string> copy = keep_copy(file);
  if (!copy) return complain(copy.error(), Exit::unreadable);
  if (!copy->empty()) remark("the file as it was: " + *copy);
  const Exit done = print_or_write(text, file, false);
  return done == Exit::fine ? std::nullopt : std::optional(done);
}

// An exit when the rest of the command has nothing to do.
std::optional<Exit> run_fix(const LintFlags& flags, const LintOptions& options,
                            std::string& content) {
  codec::ranktable::Fixed fixed = codec::ranktable::fix(content, options);
  const bool changed = !fixed.changes.empty();
  if (!fixed.refused.empty()) {
    warn("ranks keep their gap: " + fixed.refused +
         "; find the lost device and generate the table again");
  } else if (!changed) {
    remark("nothing to fix automatically");
  }
  for (const std::string& change : fixed.changes) remark(change);
  if (flags.dry_run) {
    if (!print(line_diff(flags.table.file, content, fixed.text))) return Exit::unreadable;
    return changed || !fixed.refused.empty() ? Exit::findings : Exit::fine;
  }
  content = std::move(fixed.text);
  if (!changed && flags.table.file != "-") return std::nullopt;
  const auto stopped = write_fixed(flags.table.file, content);
  return stopped == Exit::fine && !fixed.refused.empty() ? Exit::findings : stopped;
}

Exit run_lint(const LintFlags& flags) {
  if (const std::string twice = standard_input_error({{"FILE", flags.table.file},
                                                      {"--topo-file", flags.topology},
                                                      {"--against", flags.against},
                                                      {"--network", flags.network}});
      !twice.empty())
    return complain(twice, Exit::usage);
  Result<std::string> content = read_table_text(flags.table.file);
  if (!content) return complain_of_reading(content.error());
  LintOptions options = lint_options(flags.table);
  options.profile = *domain::ranktable::profile_named(flags.profile);
  if (flags.fix) {
    const auto done = run_fix(flags, options, *content);
    if (done) return *done;
  }
  LintedText linted = codec::ranktable::lint_text(*std::move(content), options);
  codec::ranktable::add_findings(linted, check_file(flags.table.file, options.profile));
  for (const auto add : {add_topology, add_against, add_machines, add_ring}) {
    const auto stopped = add(flags, linted);
    if (stopped) return *stopped;
  }
  if (!show_findings(flags, linted)) return Exit::unreadable;
  return verdict(flags, linted);
}

void add_form_option(CLI::App& command, LintForm& form) {
  const auto set = [&form](const std::string& text) {
    if (text == "text") {
      form = LintForm::text;
    } else if (text == "json") {
      form = LintForm::json;
    } else if (text == "sarif") {
      form = LintForm::sarif;
    } else {
      throw CLI::ValidationError("-o: unknown form " + in_quotes(text) +
                                 "; known: text, json, sarif");
    }
  };
  constexpr std::array<std::string_view, 3> kForms = {"text", "json", "sarif"};
  offer(
      command.add_option_function<std::string>("-o,--output", set, "text (default), json or sarif"),
      kForms)
      ->option_text("FORM");
}

}  // namespace

void register_table_lint(CLI::App& ranktable, Exit& exit_code) {
  auto flags = std::make_shared<LintFlags>();
  CLI::App* c =
      ranktable.add_subcommand("lint", "report what is wrong with a table, and how to mend it");
  add_table_options(*c, flags->table);
  offer(add_value(*c, "--profile", "PROFILE", flags->profile,
                  "consumer of the table: " + joined(domain::ranktable::profile_names(), ", ")),
        domain::ranktable::profile_names())
      ->check([](const std::string& text) {
        if (domain::ranktable::profile_named(text)) return std::string();
        return unknown_name("profile", text, domain::ranktable::profile_names());
      });
  c->add_flag("--strict", flags->strict, "exit with 1 on warnings, too");
  auto* fix = c->add_flag(
      "--fix", flags->fix,
      "correct quotes, counts, ranks and order in the file; a copy of it is kept as FILE.bak");
  auto* pointer = c->get_option("--pointer");
  fix->excludes(pointer);
  c->add_flag("--dry-run", flags->dry_run,
              "with --fix: print what would change as a diff; exit with 1 if something would")
      ->needs(fix);
  add_value(*c, "--topo-file", "FILE", flags->topology,
            "topology file of the hosts of a 2.0 table");
  add_value(*c, "--against", "FILE", flags->against,
            "table of another rank, which must be equal; or the global table of a local one");
  add_value(*c, "--hccn-conf", "[SERVER=]FILE", flags->machines.hccn_conf,
            "hccn.conf of a server, to compare addresses and subnets; several times for several");
  auto* live = add_value(*c, "--live", "SERVER", flags->machines.live,
                         "this machine is SERVER: query hccn_tool about each of its devices");
  add_value(*c, "--hccn-tool", "PATH", flags->machines.hccn_tool, "where that program is")
      ->needs(live);
  auto* network = add_value(*c, "--network", "FILE", flags->network,
                            "description of the network: also check what the ring crosses");
  for (CLI::Option* option : add_network_options(*c, flags->import)) option->needs(network);
  add_form_option(*c, flags->form);
  add_examples(*c,
               "  chipweave ranktable lint hccl.json --profile hccl-a2 --strict\n"
               "  kubectl get configmap rings-config-job -o json |\n"
               "    chipweave ranktable lint - --pointer /data/hccl.json\n"
               "  chipweave ranktable lint hccl.json --fix");
  c->callback([flags, &exit_code] { exit_code = run_lint(*flags); });
}

}  // namespace chipweave::cli
