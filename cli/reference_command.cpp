// chipweave help, chipweave completion, chipweave man
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/reference/command_page.hpp"
#include "cli/reference/completion.hpp"
#include "cli/reference/help_topics.hpp"
#include "cli/reference/man_page.hpp"
#include "cli/reference/markdown_page.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

constexpr std::string_view kExitCodes = "exit-codes";

using Words = std::vector<std::string>;

Exit unknown_command(const FoundCommand& found) {
  std::vector<std::string> names;
  for (const auto& [name, about] : page_of(*found.app, found.words).commands) names.push_back(name);
  if (names.empty())
    return complain(concat("unexpected argument ", in_quotes(found.unknown), "; ",
                           in_quotes(found.words), " has no commands"),
                    Exit::usage);
  return complain(unknown_name("command", found.unknown, {names.begin(), names.end()}),
                  Exit::usage);
}

// --help with the words that call the command. Not App::help(), which goes down to the command that
// was parsed.
std::string help_text(const FoundCommand& found) {
  return found.app->get_formatter()->make_help(found.app, found.words, CLI::AppFormatMode::Normal);
}

std::string exit_code_text() {
  std::string out;
  for (const ExitCode& one : exit_codes())
    out += wrapped(concat("  ", static_cast<int>(one.code), "  ", one.meaning), 5) + "\n";
  return "Exit codes:\n" + out;
}

Exit help(const CLI::App& program, const Words& words) {
  if (words == Words{std::string(kExitCodes)}) return printed(exit_code_text());
  const FoundCommand found = find_command(program, words);
  return found.unknown.empty() ? printed(help_text(found)) : unknown_command(found);
}

struct ManState {
  Words words;
  std::string form = "man";
  std::string folder;
};

Exit write_file(const std::string& folder, const std::string& name, const std::string& text) {
  const auto written = io::write_file_atomically(folder + "/" + name, text);
  return written ? Exit::fine : complain(written.error(), Exit::unreadable);
}

Exit write_pages(const std::vector<CommandPage>& pages, const ManState& state) {
  std::error_code failed;
  std::filesystem::create_directories(state.folder, failed);
  if (failed)
    return complain(concat("--out: cannot create folder ", state.folder, ": ", failed.message()),
                    Exit::unreadable);
  Exit exit = Exit::fine;
  const auto write = [&](const std::string& name, const std::string& text) {
    if (exit == Exit::fine) exit = write_file(state.folder, name, text);
  };
  if (state.form == "markdown") {
    for (const MarkdownFile& file : markdown_pages(pages)) write(file.name, file.text);
  } else {
    for (const CommandPage& page : pages)
      write(man_name(page.words) + ".1", man_page(page, pages, CHIPWEAVE_VERSION));
  }
  return exit;
}

Exit man(const CLI::App& program, const ManState& state) {
  const std::vector<CommandPage> pages = all_pages(program);
  if (!state.folder.empty()) {
    if (!state.words.empty())
      return complain("--out cannot be combined with a command", Exit::usage);
    return write_pages(pages, state);
  }
  if (state.form != "man") return complain("--to markdown requires --out", Exit::usage);
  const FoundCommand found = find_command(program, state.words);
  if (!found.unknown.empty()) return unknown_command(found);
  return printed(man_page(page_of(*found.app, found.words), pages, CHIPWEAVE_VERSION));
}

}  // namespace

void register_reference(CLI::App& app, Exit& exit_code) {
  const auto words = std::make_shared<Words>();
  CLI::App* help_command = app.add_subcommand("help", "help about a command, or about exit codes");
  add_value(*help_command, "COMMAND", " ", *words, "the words of the command, or exit-codes");
  add_examples(*help_command,
               "  chipweave help\n  chipweave help topo show\n  chipweave help exit-codes");
  help_command->callback([&app, words, &exit_code] { exit_code = help(app, *words); });

  const auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "print the completion script of a shell");
  const std::vector<std::string_view> shells = completion_shells();
  add_value(*completion, "SHELL", joined(shells, "|"), *shell, "the shell")
      ->check(CLI::IsMember(std::vector<std::string>(shells.begin(), shells.end())))
      ->required();
  add_examples(*completion,
               "  source <(chipweave completion bash)\n"
               "  chipweave completion zsh > \"${fpath[1]}/_chipweave\"\n"
               "  chipweave completion fish | source");
  completion->callback([shell, &exit_code] { exit_code = printed(completion_script(*shell)); });

  const auto state = std::make_shared<ManState>();
  CLI::App* manual = app.add_subcommand("man", "print the manual page of a command, or write all");
  add_value(*manual, "COMMAND", " ", state->words, "the words of the command");
  add_value(*manual, "--out", "FOLDER", state->folder,
            "write the pages of all commands to this folder");
  add_value(*manual, "--to", "man|markdown", state->form, "form of the pages; default: man")
      ->check(CLI::IsMember({"man", "markdown"}));
  add_examples(*manual,
               "  chipweave man plan | man -l -\n"
               "  chipweave man --out ~/.local/share/man/man1");
  manual->callback([&app, state, &exit_code] { exit_code = man(app, *state); });
}

}  // namespace chipweave::cli
