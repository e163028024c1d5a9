// chipweave profiles
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/aliases.hpp"
#include "common/profiles/profiles.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::cli {
namespace {

struct Described {
  std::string name;
  std::string vendor;
  int chips = 0;
  std::vector<int> sizes;
  std::string description;
};

Result<Described> describe_profile(const profiles::Profile& profile) {
  auto imported = codec::import_topology_json(profile.json, {});
  if (!imported) return std::move(imported).error().in("profile " + std::string(profile.name));
  const solver::Machine machine(imported->topology);
  Described out{std::string(profile.name), imported->topology.vendor(),
                imported->topology.chip_count(), machine.legal_sizes(false),
                codec::read_text_key(profile.json, "name")};
  if (out.description.empty()) out.description = imported->topology.model();
  return out;
}

std::string aliases_text() {
  std::string out = painted("OTHER NAMES", Colour::bold, colour_wanted()) + "\n";
  for (const profiles::Profile& profile : profiles::all()) {
    const auto names = profiles::aliases_of(profile.name);
    if (names.empty()) continue;
    out += wrapped(concat(profile.name, ": ", joined(names, ", ")), 2) + "\n";
  }
  return out;
}

Exit list(OutputForm form) {
  std::vector<Described> all;
  for (const profiles::Profile& profile : profiles::all()) {
    Result<Described> described = describe_profile(profile);
    if (!described) return complain(described.error(), Exit::unreadable);
    all.push_back(*std::move(described));
  }
  if (form == OutputForm::json) {
    JsonWriter w;
    w.begin_array();
    for (const Described& one : all) {
      w.begin_object().field("name", one.name).field("vendor", one.vendor);
      w.key("chips").integer(one.chips).key("sizes").integers(one.sizes);
      w.field("description", one.description);
      w.key("aliases").begin_array();
      for (const std::string_view alias : profiles::aliases_of(one.name)) w.string(alias);
      w.end_array().end_object();
    }
    w.end_array();
    return printed(w.take() + "\n");
  }
  Table table({{"NAME"}, {"VENDOR"}, {"CHIPS", Table::Align::right}, {"SIZES"}, {"MACHINE"}}, 4);
  for (const Described& one : all) {
    table.add(
        {one.name, one.vendor, std::to_string(one.chips), chip_list(one.sizes), one.description});
  }
  return printed(table.text(colour_wanted()) + "\n" + aliases_text());
}

}  // namespace

void register_profiles(CLI::App& app, Exit& exit_code) {
  auto form = std::make_shared<OutputForm>(OutputForm::text);
  CLI::App* command =
      app.add_subcommand("profiles", "list the machines that chipweave knows by name");
  add_output_option(*command, *form);
  add_examples(*command, "  chipweave profiles\n  chipweave profiles -o json");
  command->callback([form, &exit_code] { exit_code = list(*form); });
}

}  // namespace chipweave::cli
