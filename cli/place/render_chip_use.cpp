#include "cli/place/render_chip_use.hpp"

#include <algorithm>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

// In single quotes a shell changes nothing.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string quoted_where_needed(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-,=";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(text) : single_quoted(text);
}

std::string nics_text(const std::vector<NearNic>& nics) {
  if (nics.empty()) return "-";
  std::vector<std::string> names;
  names.reserve(nics.size());
  for (const NearNic& nic : nics) names.push_back(nic.name);
  return concat(joined(names, ", "), " (", to_string(nics.front().path), ")");
}

template <class Known>
bool any(const std::vector<UsedChip>& chips, const Known& known) {
  return std::any_of(chips.begin(), chips.end(), known);
}

std::string chip_table(const std::vector<UsedChip>& chips) {
  const bool pci = any(chips, [](const UsedChip& chip) { return !chip.pci.empty(); });
  const bool cpus = any(chips, [](const UsedChip& chip) { return !chip.cpus.empty(); });
  std::vector<Table::Column> columns{{"CHIP"}};
  if (pci) columns.push_back({"PCI"});
  columns.push_back({"NUMA"});
  if (cpus) columns.push_back({"CPUS"});
  columns.push_back({"NEAREST NICS"});
  const std::size_t last = columns.size() - 1;
  Table table(std::move(columns), last);
  for (const UsedChip& chip : chips) {
    std::vector<std::string> cells{std::to_string(chip.index)};
    if (pci) cells.push_back(or_dash(chip.pci));
    cells.push_back(chip.numa < 0 ? "-" : std::to_string(chip.numa));
    if (cpus) cells.push_back(or_dash(chip.cpus));
    cells.push_back(nics_text(chip.nics));
    table.add(std::move(cells));
  }
  return table.text(colour_wanted());
}

void append_device(JsonWriter& json, const UsedChip& chip) {
  json.begin_object().field("chip", chip.index);
  if (!chip.id.empty()) json.field("id", chip.id);
  if (!chip.pci.empty()) json.field("pci", chip.pci);
  if (chip.numa >= 0) json.field("numa", chip.numa);
  if (!chip.cpus.empty()) json.field("cpus", chip.cpus);
  json.key("nics").begin_array();
  for (const NearNic& nic : chip.nics) {
    json.begin_object().field("name", nic.name).field("path", to_string(nic.path));
    if (!nic.pci.empty()) json.field("pci", nic.pci);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string render_chip_use(const ChipUse& use) {
  std::string out;
  if (use.ring.size() > 1) out += wrapped("Ring order: " + comma_list(use.ring), 2) + "\n";
  std::vector<std::string> variables;
  for (const auto& [name, value] : use.environment)
    variables.push_back(name + "=" + quoted_where_needed(value));
  if (!variables.empty()) out += wrapped("Environment: " + joined(variables, " "), 2) + "\n";
  if (!use.numactl.empty())
    out += wrapped("CPU binding: numactl " + joined(use.numactl, " "), 2) + "\n";
  out += chip_table(use.chips);
  for (const std::string& note : use.notes) out += wrapped("note: " + note, 2) + "\n";
  return out;
}

std::string export_lines(const ChipUse& use) {
  std::string out;
  for (const auto& [name, value] : use.environment)
    out += concat("export ", name, "=", single_quoted(value), "\n");
  return out;
}

std::string docker_line(const ChipUse& use) {
  std::vector<std::string> words;
  words.reserve(use.docker.size());
  for (const std::string& word : use.docker) words.push_back(quoted_where_needed(word));
  return joined(words, " ") + "\n";
}

std::string chip_use_members(const ChipUse& use) {
  JsonWriter json;
  json.begin_object();
  json.key("ring").integers(use.ring);
  json.key("environment").string_map(use.environment);
  json.key("numactl").strings(use.numactl);
  json.key("docker").strings(use.docker);
  json.key("devices").begin_array();
  for (const UsedChip& chip : use.chips) append_device(json, chip);
  json.end_array();
  if (!use.notes.empty()) json.key("notes").strings(use.notes);
  if (!use.docker_notes.empty()) json.key("docker_notes").strings(use.docker_notes);
  const std::string object = json.end_object().take();
  return object.substr(1, object.size() - 2);
}

}  // namespace chipweave::cli
