#include "cli/reference/man_page.hpp"

#include <algorithm>
#include <string_view>

#include "cli/reference/help_topics.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

// A character of UTF-8 as roff names it, "\\[u2026]"; `at` moves behind it.
std::string named_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t more = byte(at) >= 0xF0U ? 3 : byte(at) >= 0xE0U ? 2 : 1;
  unsigned code = byte(at) & (0x3FU >> more);
  for (std::size_t i = 1; i <= more && at + 1 < text.size(); ++i)
    code = code << 6U | (byte(++at) & 0x3FU);
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string digits;
  for (; code > 0 || digits.size() < 4; code >>= 4U)
    digits.insert(digits.begin(), kDigits[code & 0xFU]);
  return "\\[u" + digits + "]";
}

// Text that roff prints as it is.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts_line = out.empty() || out.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (static_cast<unsigned char>(c) >= 0xC0U)
      out += named_character(text, i);
    else
      out += c;
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) {
  return text.empty() ? "" : "\\fI" + plain(text) + "\\fR";
}

std::string entries(const std::vector<OptionEntry>& all) {
  std::string out;
  for (const OptionEntry& entry : all) {
    out += ".TP\n";
    for (std::size_t i = 0; i < entry.names.size(); ++i)
      out +=
          (i == 0 ? "" : ", ") + (entry.positional ? italic(entry.names[i]) : bold(entry.names[i]));
    if (!entry.value.empty()) out += " " + italic(entry.value);
    out += "\n" + plain(entry.help.empty() ? "see above" : entry.help) + "\n";
    if (!entry.environment.empty()) out += "Environment: " + bold(entry.environment) + ".\n";
  }
  return out;
}

}  // namespace

std::string man_name(const std::string& words) {
  std::string out = words;
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

std::string man_page(const CommandPage& page, const std::vector<CommandPage>& pages,
                     const std::string& version) {
  const bool whole_program = page.words == pages.front().words;
  std::string out = concat(".TH ", upper_case(man_name(page.words)), " 1 \"\" \"chipweave ",
                           version, "\" \"chipweave\"\n");
  out += concat(".SH NAME\n", plain(man_name(page.words)), " \\- ", plain(page.about), "\n");
  out +=
      concat(".SH SYNOPSIS\n", bold(page.words), plain(page.usage.substr(page.words.size())), "\n");
  if (!page.notes.empty())
    out += ".SH DESCRIPTION\n" + plain(page.notes) + (page.notes.ends_with('\n') ? "" : "\n");
  if (!page.positionals.empty()) out += ".SH ARGUMENTS\n" + entries(page.positionals);
  if (!page.flags.empty()) out += ".SH OPTIONS\n" + entries(page.flags);
  if (!page.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const auto& [name, about] : page.commands)
      out += concat(".TP\n", bold(name), "\n", plain(about), "\n");
  }
  if (!page.examples.empty()) out += concat(".SH EXAMPLES\n.nf\n", plain(page.examples), ".fi\n");
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& one : exit_codes())
    out += concat(".TP\n", bold(std::to_string(static_cast<int>(one.code))), "\n",
                  plain(one.meaning), "\n");
  if (whole_program) {
    out += ".SH ENVIRONMENT\n";
    for (const Variable& one : environment_variables(pages))
      out += concat(".TP\n", bold(one.name), "\n", plain(one.meaning), "\n");
  }
  std::vector<std::string> others;
  for (const CommandPage& other : pages) {
    const bool near = whole_program || other.words.starts_with(page.words + " ") ||
                      page.words.starts_with(other.words + " ");
    if (near && other.words != page.words) others.push_back(bold(man_name(other.words)) + "(1)");
  }
  return out + ".SH SEE ALSO\n" + joined(others, ", ") + "\n";
}

}  // namespace chipweave::cli
