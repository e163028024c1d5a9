// BadInput — a command line that chipweave cannot carry out, with its files and what must come of
// it.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chipweave {

// Where the message is.
enum class Shown {
  error,   // one line on standard error, nothing on standard output
  answer,  // "does not fit" and findings are answers, on standard output
  lines,   // a batch: a JSON object for each line of input, on standard output
};

// What a scheduler answers to every call.
struct ServerAnswer {
  int status = 200;
  std::string body;
};

struct BadInput {
  std::string name;
  std::string arguments;  // for a shell, in a folder with `files`; %S: the scheduler's address
  int exit_code = 2;
  std::vector<std::string> words;  // of the message: the flag, file or field, and what is wrong
  std::map<std::string, std::string> files = {};  // besides those of common_files()
  Shown shown = Shown::error;
  std::optional<ServerAnswer> server = {};
};
// For names of tests.
void PrintTo(const BadInput& row, std::ostream* out);

// net.csv, pod.yaml, table.json, gang.json, hosts, empty, binary, deep.json, list.json, cut.json,
// words.txt
const std::map<std::string, std::string>& common_files();

std::vector<BadInput> bad_command_lines();
std::vector<BadInput> bad_machine_files();  // of topo, place and calibrate
std::vector<BadInput> bad_network_files();  // of network, plan, defrag, rank and simulate
std::vector<BadInput> bad_table_files();    // of ranktable, route and submit
std::vector<BadInput> bad_server_answers();

}  // namespace chipweave
