// Every usage error of the three programs has one of a few forms. They are found by trying each
// flag of each command without a value and with one that makes no sense, each key of the settings
// files likewise, and command lines whose flags contradict each other or the files they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using Files = std::map<std::string, std::string>;

// What the complete command lines below read, in the folder in which each of them runs.
const Files kInputs = {
    {"net.csv", "name,rack\nn1,r1\nn2,r1\nn3,r2\n"},
    {"hosts", "n1\nn2\n"},
    {"slots", "n1 slots=4\nn2 slots=2\n"},
    {"other", "x1\nx2\n"},
    {"gang.json", R"({"pods":2,"chips_per_pod":2})"},
    {"pods.json", R"([{"name":"a","node":"n1","chips":2,"movable":true}])"},
    {"pod.yaml",
     "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"},
    {"table.json",
     R"({"version":"1.0","server_count":"2","status":"completed","server_list":[)"
     R"({"server_id":"a","device":[{"device_id":"0","device_ip":"10.1.0.1","rank_id":"0"}]},)"
     R"({"server_id":"b","device":[{"device_id":"0","device_ip":"10.1.0.2","rank_id":"1"}]}]})"},
};

// With an empty environment, so that no variable of the user replaces a flag, and in a folder of
// its own, because some of the command lines are complete and write files.
Outcome start(const std::string& line, const Files& more = {}) {
  const io::TempFolder folder;
  for (const Files* files : {&kInputs, &more}) {
    for (const auto& [name, text] : *files) folder.put(name, text);
  }
  return run("cd " + folder.path() + " && timeout 10 env -i PATH=/usr/bin:/bin %B/" + line);
}

// What makes a command's line complete, so that a flag's value is also checked after parsing.
const std::map<std::string, std::string> kComplete = {
    {"chipweave topo show", " hgx-v100-8"},
    {"chipweave topo convert", " hgx-v100-8 --to json"},
    {"chipweave network import", " net.csv"},
    {"chipweave network show", " net.csv"},
    {"chipweave network export", " net.csv --to json"},
    {"chipweave place", " --machine hgx-v100-8 --size 2"},
    {"chipweave plan", " --network net.csv --free 8 --pods 2 --chips 2"},
    {"chipweave defrag", " --network net.csv --free 8 --pods pods.json"},
    {"chipweave simulate", " --network net.csv --free 8 --count 9"},
    {"chipweave rank", " --network net.csv --hosts hosts"},
    {"chipweave submit", " pod.yaml --scheduler http://127.0.0.1:1"},
    {"chipweave nodes", " --scheduler http://127.0.0.1:1"},
    {"chipweave pods", " --scheduler http://127.0.0.1:1"},
    {"chipweave explain", " p --scheduler http://127.0.0.1:1"},
    {"chipweave ranktable lint", " table.json"},
    {"chipweave ranktable show", " table.json"},
    {"chipweave ranktable order", " table.json --network net.csv"},
    {"chipweave ranktable convert", " table.json --to hccl-1.2 --super-pod s"},
    {"chipweave ranktable diff", " table.json table.json"},
    {"chipweave ranktable hash", " table.json"},
    {"chipweave route plan", " --hosts hosts --network net.csv"},
    {"chipweave route init", " --index 0 --wait 0 --config . --dir ."},
    {"chipweave-scheduler", " --standalone --print-config"},
    {"chipweave-agent", " --node n1 --print-config"},
};

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

// Whether it was a usage error.
bool note(const std::string& words, Messages& messages, const Files& more = {}) {
  const Outcome outcome = start(words + " 2>&1 >/dev/null </dev/null", more);
  if (outcome.code == kWrongUsage) messages.emplace(outcome.text, words);
  return outcome.code == kWrongUsage;
}

// Each of them must be a usage error of the program.
void note_all(const std::string& program, std::initializer_list<const char*> arguments,
              Messages& messages) {
  for (const char* one : arguments) {
    const std::string line = program + " " + one;
    EXPECT_TRUE(note(line, messages)) << line;
  }
}

void collect(const std::string& words, Messages& messages) {
  const Help help = help_of(words);
  const auto complete = kComplete.find(words);
  const std::string tail = complete == kComplete.end() ? "" : complete->second;
  note(words + " --no-such-flag", messages);
  note(words + " no-such-word", messages);
  for (const std::string& flag : help.flags) {
    note(words + " " + flag, messages);
    note(words + " " + flag + " '?bad value?'" + tail, messages);
    note(words + " " + flag + " -1" + tail, messages);
  }
  for (const std::string& command : help.commands) {
    note(words + " " + command, messages);
    collect(words + " " + command, messages);
  }
}

// PROGRAM: [--flag: |file FILE: |line N: |KEY: ]WHAT[; see 'PROGRAM --help']
constexpr const char* kForms =
    "^chipweave(-agent|-scheduler| ranktable [a-z-]+: error)?: (file [^ ]+: |line [0-9]+: |[^ ]+: "
    ")*("
    "unknown (flag|command) .+|"
    "unexpected argument .+|"
    "(a command|a kubeconfig|-[^ ]+|[A-Z][A-Z.]*|one of .+) is required.*|"
    "-[^ ]+( [^ ]+)? requires .+|"
    ".+ cannot be combined with .+|"
    "expected .+, got .+|"
    "(\"[^\"]+\" |a key |the file )?must (be|divide) .+|"
    "unknown .+; (known: .+|did you mean .+)"
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
  collect("chipweave", messages);
  expect_forms(messages, 150);
}

// Checks that need several flags, or what a file contains.
TEST(UsageForms, OfCompleteCommandLines) {
  Messages messages;
  note_all(
      "chipweave",
      {
          "place --machine hgx-v100-8 --size 2 --chips 0,1",
          "place --machine hgx-v100-8 --size 2 --free 0,0",
          "place --machine hgx-v100-8 --size 2 --down 0-0",
          "place --machine hgx-v100-8 --chips 0,99",
          "place --machine hgx-v100-8 --size 2 --free ''",
          "plan --network net.csv --pods 2 --chips 2",
          "plan --network - --gang -",
          "plan --network net.csv --free 8 --gang gang.json --pods 2",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --required r",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --policy tight",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --slice rack=0",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --existing r/n=1 --existing r/n=2",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --existing r1/n1=1 --failed r2",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --keep-spare rak=1",
          "plan --network net.csv --free 8 --pods 2 --chips 2 --levels x",
          "simulate",
          "simulate --network - --jobs -",
          "simulate --network net.csv",
          "simulate --network net.csv --free 8 --pods pods.json",
          "simulate --network net.csv --free 8 --jobs hosts --largest 4",
          "simulate --network net.csv --free 8 --load 50 --arrival-rate 5",
          "simulate --network net.csv --free 8 --preferred rak",
          "simulate --network net.csv --free 8 --sizes even",
          "simulate --network net.csv --free 8 --smallest 5 --largest 4",
          "simulate --network net.csv --free 8 --smallest 5 --largest 7",
          "rank --network - --hosts -",
          "rank --network net.csv --hosts other",
          "rank --network net.csv --hosts hosts --levels x",
          "rank --network net.csv --hosts hosts --tensor 0",
          "rank --network net.csv --hosts hosts --tensor 3",
          "rank --network net.csv --hosts slots --data 2",
          "rank --network net.csv --hosts slots --ranks-per-pod 4",
          "network export net.csv --to nothing",
          "network import net.csv --levels x",
          "topo show hgx-v100-8 --index 1",
          "submit pod.yaml",
          "submit pod.yaml -n A.B --print",
          "submit pod.yaml --dry-run --print",
          "submit pod.yaml --dry-run --compare --scheduler http://127.0.0.1:1",
          "where --chips 0 --scheduler http://127.0.0.1:1",
          "where --chips 1",
          "what-if --scheduler http://127.0.0.1:1",
          "what-if --fail a --drain b --scheduler http://127.0.0.1:1",
          "nodes 'a b' --scheduler http://127.0.0.1:1",
          "pods a/b/c --scheduler http://127.0.0.1:1",
          "explain 'a b' --scheduler http://127.0.0.1:1",
          "nodes --scheduler http://127.0.0.1:1 --cert c",
          "nodes --scheduler ftp://x",
          "pods --scheduler 127.0.0.1:x",
          "submit pod.yaml --scheduler http://127.0.0.1:1/api",
          "ranktable lint table.json --live z",
          "ranktable lint table.json --hccn-conf z=hosts",
          "ranktable lint table.json --hccn-conf hosts",
          "ranktable lint table.json --live a --hccn-tool /nowhere",
          "ranktable convert table.json --to hccl-1.2 --save-dir x",
          "ranktable convert table.json --to hccl-1.2 --super-pod s --server-index a=x",
          "ranktable convert table.json --to vllm-ascend --prefill-devices 9",
          "ranktable order table.json --network net.csv --write --to hostfile",
          "route plan",
          "route plan --pods p --hosts hosts",
          "route plan --hosts hosts",
          "route plan --hosts hosts --network net.csv --nodes n",
          "route plan --hosts hosts --network net.csv --out o --previous p",
          "route plan --pods - --network -",
          "route plan --hosts hosts --network net.csv --hyperjob",
          "route init --index 9 --hosts hosts --network net.csv --dir .",
          "route init --index 0 --hosts hosts --dir .",
          "route init --index 0 --wait soon --dir .",
      },
      messages);
  expect_forms(messages, 40);
}

TEST(UsageForms, OfTheScheduler) {
  Messages messages;
  collect("chipweave-scheduler", messages);
  note_all("chipweave-scheduler",
           {
               "--standalone --leader-elect",
               "--standalone --kubeconfig k",
               "--standalone --kubeconfig k --print-config",
               "--tls-cert c --print-config",
               "--standalone --publish-cluster-info",
               "--standalone --grpc-auth token",
               "--standalone --grpc-auth mtls",
               "--standalone --grpc-users a",
               "--standalone --tls-cert c",
               "--standalone --tls-key k",
               "--standalone --tls-client-ca c",
               "--standalone --client-names a",
               "--standalone --caller-secrets f --http 0.0.0.0:1",
               "--standalone --grpc 0.0.0.0:1",
               "--standalone --http 127.0.0.1:5 --grpc 127.0.0.1:5",
               "--leader-elect --lease-duration 11m",
               "--leader-elect --lease-duration 5s",
               "--leader-elect --retry-period 10s",
               "--leader-identity a",
               "--pod-name p",
               "--inventory-stale-after 1s",
               "--grpc-auth token --grpc 0.0.0.0:1",
           },
           messages);
  expect_forms(messages, 50);
}

TEST(UsageForms, OfTheAgent) {
  Messages messages;
  collect("chipweave-agent", messages);
  note_all("chipweave-agent",
           {
               "",
               "--node n1",
               "--node n1 --scheduler 127.0.0.1:1 --kubernetes",
               "--node n1 --scheduler 127.0.0.1:1 --kubernetes --print-config",
               "--node n1 --kubernetes --kubeconfig k",
               "--node n1 --scheduler 127.0.0.1:1 --publish ack",
               "--node n1 --scheduler 127.0.0.1:1 --lease-namespace a",
               "--node n1 --scheduler h:1 --pod-resources /s",
               "--node n1 --scheduler h:1 --dra-driver gpu.chipweave.dev",
               "--node n1 --kubeconfig k --dra-driver gpu",
               "--node n1 --kubeconfig k --dra-driver gpu.nvidia.com",
               "--node n1 --kubeconfig k --dra-managed",
               "--node n1 --kubeconfig k --dra-driver a.b --dra-managed=maybe",
               "--node n1 --kubeconfig k --dra-driver a.b --dra-device-nodes /etc/x",
               "--node n1 --kubeconfig k --dra-driver a.b --dra-toolkit-kind gpu",
               "--node n1 --kubeconfig k --dra-driver a.b --dra-cdi-folder run",
               "--node n1 --kubeconfig k --dra-driver a.b --dra-state-folder run/",
               "--node N_1 --kubeconfig k",
               "--node n1 --kubeconfig k --tls-ca c",
               "--node n1 --scheduler 127.0.0.1:1 --tls-cert c",
               "--node n1 --kubeconfig k --port-file f",
               "--node n1 --kubeconfig k --metrics-tls-cert c",
               "--node n1 --kubeconfig k --probe profile:a --dcmi-library l",
           },
           messages);
  expect_forms(messages, 39);
}

// The same values as keys of a settings file, and files that do not hold settings at all.
void expect_settings_forms(const std::string& program, std::size_t at_least) {
  Messages messages;
  const std::string line = program + kComplete.at(program) + " --config settings.yaml";
  const auto refused = [&](const std::string& text) {
    return note(line, messages, {{"settings.yaml", text}});
  };
  for (const std::string& flag : help_of(program).flags) {
    const std::string key = flag.substr(2);
    for (const char* value : {"'?bad value?'", "-1", "['?bad value?', b]"})
      refused(key + ": " + value + "\n");
  }
  for (const char* text :
       {"no-such-key: 1\n", "- a\n", "[a]: b\n", "log-level: {a: b}\n", "log-level: &x info\n",
        "log-level: info\nlog-level: info\n", "log-level: info\n---\nlog-level: info\n"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
  expect_forms(messages, at_least);
}

TEST(UsageForms, OfTheSchedulersSettings) { expect_settings_forms("chipweave-scheduler", 40); }
TEST(UsageForms, OfTheAgentsSettings) { expect_settings_forms("chipweave-agent", 15); }

}  // namespace
}  // namespace chipweave
