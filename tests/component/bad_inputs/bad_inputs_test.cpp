#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/component/bad_inputs/bad_input.hpp"
#include "tests/component/kube_api/scripted_server.hpp"
#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<BadInput> all_rows() {
  std::vector<BadInput> out;
  for (const auto& rows : {bad_command_lines(), bad_machine_files(), bad_network_files(),
                           bad_table_files(), bad_server_answers()})
    out.insert(out.end(), rows.begin(), rows.end());
  return out;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Words of the libraries and of C++ that no user should have to read.
void expect_for_people(const std::string& text) {
  for (const char* word : {"exception", "terminate", "std::", "bad_alloc", "basic_string",
                           "vector::", "what()", "CLI::", "nlohmann", "simdjson", "YAML::", "boost",
                           "Sanitizer", "runtime error", "Traceback"})
    EXPECT_THAT(text, Not(HasSubstr(word)));
  for (const char c : text)
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
}

// Lines of standard error that are neither notes nor warnings.
std::vector<std::string> error_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    EXPECT_THAT(line, ::testing::StartsWith("chipweave")) << text;
    if (!line.starts_with("chipweave: note: ") && !line.starts_with("chipweave: warning: "))
      out.push_back(line);
  }
  return out;
}

struct BadInputs : ::testing::TestWithParam<BadInput> {
  struct Ended {
    int code = -1;
    std::string out;
    std::string err;
  };

  static Ended start(std::string arguments, const BadInput& row) {
    const io::TempFolder folder;
    for (const auto* files : {&common_files(), &row.files})
      for (const auto& [name, text] : *files) folder.put(name, text);
    std::optional<test::ScriptedServer> server;
    if (const std::size_t at = arguments.find("%S"); at != std::string::npos) {
      server.emplace(std::nullopt, [&row](test::ScriptedServer::Talk& talk) {
        while (talk.request()) {
          if (!talk.reply(row.server->status, row.server->body)) return;
        }
      });
      arguments.replace(at, 2, "127.0.0.1:" + std::to_string(server->port()));
    }
    // An empty environment: no variable of the developer stands for a flag.
    const Outcome ended = run("cd " + folder.path() +
                              " && timeout 20 env -i PATH=/usr/bin:/bin HOME=" + folder.path() +
                              " %B/chipweave " + arguments + " </dev/null >.out 2>.err");
    return {ended.code, content_of(folder.path() + "/.out"), content_of(folder.path() + "/.err")};
  }
};

TEST_P(BadInputs, EndWithAMessageThatNamesThem) {
  const BadInput& row = GetParam();
  const Ended ended = start(row.arguments, row);
  SCOPED_TRACE("chipweave " + row.arguments.substr(0, 200) + "\n" + ended.err +
               ended.out.substr(0, 1000));
  EXPECT_EQ(ended.code, row.exit_code);
  expect_for_people(ended.err);
  if (row.shown == Shown::error) {
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(error_lines(ended.err).size(), 1U);
  } else {
    EXPECT_THAT(error_lines(ended.err), ::testing::IsEmpty());
    expect_for_people(ended.out);
  }
  if (row.shown == Shown::lines) {
    EXPECT_THAT(ended.out, ::testing::StartsWith(R"({"id":)"));
  }
  const std::string& message = row.shown == Shown::error ? ended.err : ended.out;
  for (const std::string& word : row.words) EXPECT_THAT(message, HasSubstr(word));
  EXPECT_FALSE(row.words.empty());
}

INSTANTIATE_TEST_SUITE_P(Of, BadInputs, ::testing::ValuesIn(all_rows()),
                         [](const ::testing::TestParamInfo<BadInput>& row) {
                           return row.param.name;
                         });

TEST(BadInputTable, HasAtLeastAHundredAndThirtyDifferentRows) {
  std::set<std::string> different;
  for (const BadInput& row : all_rows()) {
    std::string key = row.arguments;
    for (const auto& [name, text] : row.files) key += "\n" + name + "\n" + text;
    if (row.server) key += "\n" + std::to_string(row.server->status) + row.server->body;
    EXPECT_TRUE(different.insert(key).second) << row.name;
  }
  EXPECT_GE(different.size(), 130U);
}

}  // namespace
}  // namespace chipweave
