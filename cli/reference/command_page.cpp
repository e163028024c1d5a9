#include "cli/reference/command_page.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

constexpr std::string_view kExamples = "Examples:\n";

// "TEXT:{json,nccl-xml}": the set of CLI::IsMember, or of known_values().
std::vector<std::string> fixed_values(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> out;
  for (const std::string_view value :
       split(std::string_view(type).substr(begin + 1, end - begin - 1), ','))
    out.emplace_back(value);
  return out;
}

std::string value_text(const CLI::Option& option, const std::vector<std::string>& values) {
  constexpr std::size_t kMaxNamed = 4;
  std::string text = option.get_option_text();
  if (text.find_first_not_of(' ') != std::string::npos) return text;
  if (!text.empty() || option.get_items_expected_max() == 0) return "";
  if (!values.empty() && values.size() <= kMaxNamed) return joined(values, "|");
  const std::string type = option.get_type_name();
  return type.starts_with("INT") || type.starts_with("UINT") ? "N"
         : type.starts_with("FLOAT")                         ? "NUMBER"
                                                             : "VALUE";
}

// Whether one of the words of "FILE|PROFILE" or "[SERVER=]FILE" is among those; none of
// "MODEL=PROFILE", whose value does not begin with it.
bool has_word(std::string_view text, std::initializer_list<std::string_view> words) {
  if (text.starts_with('[') && text.find("=]") != std::string_view::npos)
    text.remove_prefix(text.find("=]") + 2);
  if (text.find('=') != std::string_view::npos) return false;
  const auto is_letter = [](char c) { return c >= 'A' && c <= 'Z'; };
  while (!text.empty()) {
    const auto* const begin = std::find_if(text.begin(), text.end(), is_letter);
    const auto* const end = std::find_if_not(begin, text.end(), is_letter);
    const std::string_view word(begin, static_cast<std::size_t>(end - begin));
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
  return false;
}

ValueKind kind_of(const OptionEntry& entry) {
  const std::string text =
      entry.positional && entry.value.empty() ? entry.names.front() : entry.value;
  if (has_word(text, {"PROFILE", "MACHINE"})) return ValueKind::machine;
  if (has_word(text, {"FILE", "PATH", "TABLE", "OTHER", "MORE"})) return ValueKind::file;
  if (has_word(text, {"FOLDER", "DIR"})) return ValueKind::folder;
  return ValueKind::other;
}

void add_pages(const CLI::App& command, const std::string& words, std::vector<CommandPage>& out) {
  out.push_back(page_of(command, words));
  for (const CLI::App* below : command.get_subcommands(nullptr))
    if (!below->get_name().empty()) add_pages(*below, words + " " + below->get_name(), out);
}

}  // namespace

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry out;
  out.positional = !option.nonpositional();
  if (out.positional) {
    out.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  }
  out.required = option.get_required();
  out.takes_value = option.get_items_expected_max() > 0;
  out.repeatable = option.get_items_expected_max() > 1;
  out.values = fixed_values(option);
  out.list = option.get_delimiter() != '\0';
  out.value = value_text(option, out.values);
  out.help = option.get_description();
  out.environment = option.get_envname();
  out.kind = kind_of(out);
  return out;
}

CommandPage page_of(const CLI::App& command, const std::string& words) {
  CommandPage out;
  out.words = words;
  out.about = command.get_description();
  for (const CLI::Option* option : command.get_options()) {
    OptionEntry entry = entry_of(*option);
    (entry.positional ? out.positionals : out.flags).push_back(std::move(entry));
  }
  for (const CLI::App* below : command.get_subcommands(nullptr))
    if (!below->get_name().empty())
      out.commands.emplace_back(below->get_name(), below->get_description());
  out.usage = words + " [OPTIONS]";
  for (const OptionEntry& entry : out.positionals) {
    std::string name = entry.names.front() + (entry.repeatable ? "..." : "");
    out.usage += entry.required ? " " + name : " [" + name + "]";
  }
  if (!out.commands.empty()) out.usage += " COMMAND";
  const std::string footer = command.get_footer();
  if (!footer.starts_with(kExamples)) {
    out.notes = footer;
    return out;
  }
  for (const std::string_view line :
       split(std::string_view(footer).substr(kExamples.size()), '\n')) {
    const bool example = line.starts_with("  ") && out.notes.empty();
    (example ? out.examples : out.notes) += std::string(line) + "\n";
  }
  return out;
}

FoundCommand find_command(const CLI::App& program, const std::vector<std::string>& words) {
  FoundCommand out{&program, program.get_name(), ""};
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below = out.app->get_subcommands(nullptr);
    const auto next = std::find_if(below.begin(), below.end(),
                                   [&](const CLI::App* one) { return one->get_name() == word; });
    if (next == below.end()) {
      out.unknown = word;
      return out;
    }
    out.app = *next;
    out.words += " " + word;
  }
  return out;
}

std::vector<CommandPage> all_pages(const CLI::App& program) {
  std::vector<CommandPage> out;
  add_pages(program, program.get_name(), out);
  return out;
}

}  // namespace chipweave::cli
