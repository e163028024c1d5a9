// Every usage error of the three programs, found by trying each flag of each command without a
// value and with one that makes no sense, has one of a few forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

// With an empty environment, so that no variable of the user replaces a flag, and in a folder of
// its own, because some of the command lines are complete and write files.
Outcome start(const std::string& line) {
  const io::TempFolder folder;
  return run("cd " + folder.path() + " && timeout 10 env -i PATH=/usr/bin:/bin %B/" + line);
}

// The flags in --help and, for a program with commands, their names.
struct Help {
  std::set<std::string> flags;
  std::set<std::string> commands;
};

std::string first_word(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_first_of(" ,=[", begin) - begin);
}

Help help_of(const std::string& words) {
  Help help;
  std::istringstream text(start(words + " --help").text);
  bool of_commands = false;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.front() != ' ') of_commands = line.starts_with("Subcommands:");
    std::string word = first_word(line);
    // "  -o,--output TEXT"
    if (word.size() == 2 && word.front() == '-') word = first_word(line.substr(line.find(',') + 1));
    if (word.starts_with("--")) help.flags.insert(word);
    const bool is_command = of_commands && line.starts_with("  ") && line[2] != ' ';
    if (is_command) help.commands.insert(word);
  }
  EXPECT_TRUE(help.flags.contains("--help")) << words;
  // These print and exit whatever else is on the line.
  for (const char* printing : {"--help", "--version"}) help.flags.erase(printing);
  return help;
}

// Each message, with the command line that caused it.
using Messages = std::map<std::string, std::string>;

void note(const std::string& words, Messages& messages) {
  const Outcome outcome = start(words + " 2>&1 >/dev/null </dev/null");
  if (outcome.code == kWrongUsage) messages.emplace(outcome.text, words);
}

void collect(const std::string& words, const std::string& tail, Messages& messages) {
  const Help help = help_of(words);
  note(words + " --no-such-flag", messages);
  note(words + " no-such-word", messages);
  for (const std::string& flag : help.flags) {
    note(words + " " + flag, messages);
    note(words + " " + flag + " '?bad value?'" + tail, messages);
    note(words + " " + flag + " -1" + tail, messages);
  }
  for (const std::string& command : help.commands) {
    note(words + " " + command, messages);
    collect(words + " " + command, tail, messages);
  }
}

// PROGRAM: [--flag: ]WHAT[; see 'PROGRAM --help']
constexpr const char* kForms =
    "^chipweave(-agent|-scheduler| ranktable [a-z-]+: error)?: ("
    "unknown (flag|command) .+|"
    "unexpected argument .+|"
    "(a command|a kubeconfig|-[^ ]+|[A-Z][A-Z.]*|one of .+) is required.*|"
    "[^ ]+ requires .+|"
    ".+ cannot be combined with .+|"
    "(--?[^ ]+): (expected .+, got .+|must be .+|unknown .+; known: .+)"
    ")\n$";

void expect_forms(const Messages& messages, std::size_t at_least) {
  EXPECT_GE(messages.size(), at_least);
  for (const auto& [message, words] : messages) {
    EXPECT_THAT(message, ::testing::ContainsRegex(kForms)) << words;
    for (const char* odd : {" is no ", " of no ", " none of ", "not an ", "there is"}) {
      EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr(odd))) << words;
    }
  }
}

TEST(UsageForms, OfTheCommandLine) {
  Messages messages;
  collect("chipweave", "", messages);
  expect_forms(messages, 100);
}

TEST(UsageForms, OfTheScheduler) {
  Messages messages;
  collect("chipweave-scheduler", " --standalone --print-config", messages);
  expect_forms(messages, 30);
}

TEST(UsageForms, OfTheAgent) {
  Messages messages;
  collect("chipweave-agent", " --print-config", messages);
  expect_forms(messages, 20);
}

}  // namespace
}  // namespace chipweave
