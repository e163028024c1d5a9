// Holds every #include of the programs and their library against the dependency table
// (include_rules.cpp).
#include <gtest/gtest.h>

#include <string>

#include "tests/architecture/include_rules.hpp"
#include "tests/architecture/source_tree.hpp"

namespace chipweave::architecture {
namespace {

std::string all(const std::vector<Breach>& breaches) {
  std::string text;
  for (const Breach& breach : breaches) text += breach.text() + "\n";
  return text;
}

TEST(IncludeDirection, TheTreeObeysTheTable) {
  const Tree tree = read_sources({"common", "scheduler-plugin", "node-agent", "cli"});
  ASSERT_TRUE(tree.contains("common/base/result.hpp")) << "the scan does not find the sources";
  EXPECT_EQ(all(check_includes(tree)), "");
}

TEST(IncludeDirection, TheDocumentShowsTheTable) {
  const std::string document = read_source("docs/develop/architecture.md");
  for (const Layer& layer : layers()) {
    EXPECT_NE(document.find(table_row(layer)), std::string::npos)
        << "docs/develop/architecture.md lacks the row\n"
        << table_row(layer);
  }
}

TEST(IncludeDirection, EveryFolderIsInTheTableOnce) {
  for (const Layer& a : layers()) {
    int same = 0;
    for (const Layer& b : layers()) same += a.folder == b.folder ? 1 : 0;
    EXPECT_EQ(same, 1) << a.folder;
  }
}

TEST(IncludeDirection, AllowsWhatTheTableSays) {
  EXPECT_EQ(
      all(check_includes({
          {"common/base/result.hpp", "#include <string>\n"},
          {"common/solver/machine.hpp", "#include \"common/base/result.hpp\"\n"},
          {"scheduler-plugin/app/placement_api.cpp", "#include \"common/solver/machine.hpp\"\n"},
          {"scheduler-plugin/main.cpp",
           "#include <CLI/CLI.hpp>\n#include \"common/base/result.hpp\"\n"},
      })),
      "");
}

TEST(IncludeDirection, ReportsAnUpwardIncludeWithFileAndLine) {
  EXPECT_EQ(
      all(check_includes({
          {"common/domain/link.hpp", "#pragma once\n\n#  include \"common/solver/machine.hpp\"\n"},
          {"common/solver/machine.hpp", ""},
      })),
      "common/domain/link.hpp:3: common/domain may not include common/solver/machine.hpp\n");
}

TEST(IncludeDirection, ReportsOneProgramThatIncludesTheOther) {
  EXPECT_EQ(
      all(check_includes({
          {"node-agent/main.cpp", "#include \"scheduler-plugin/app/placement_api.hpp\"\n"},
          {"scheduler-plugin/app/placement_api.hpp", ""},
      })),
      "node-agent/main.cpp:1: node-agent may not include scheduler-plugin/app/placement_api.hpp\n");
}

TEST(IncludeDirection, ReportsTheAgentAndItsProbeProcessIncludingEachOther) {
  EXPECT_EQ(all(check_includes({
                {"node-agent/app/agent.hpp", ""},
                {"node-agent/main.cpp", "#include \"node-agent/probes/amd/amd_probe.hpp\"\n"},
                {"node-agent/probe_process/main.cpp",
                 "#include \"node-agent/app/agent.hpp\"\n"
                 "#include \"node-agent/probes/amd/amd_probe.hpp\"\n"},
                {"node-agent/probes/amd/amd_probe.hpp", ""},
            })),
            "node-agent/main.cpp:1: node-agent may not include "
            "node-agent/probes/amd/amd_probe.hpp\n"
            "node-agent/probe_process/main.cpp:1: node-agent/probe_process may not include "
            "node-agent/app/agent.hpp\n");
}

TEST(IncludeDirection, ReportsClocksThreadsAndLibrariesInTheSolver) {
  EXPECT_EQ(
      all(check_includes(
          {{"common/solver/a.cpp", "#include <chrono>\n#include <nlohmann/json.hpp>\n"},
           {"common/solver/b.cpp", "#include <thread>\n#include <unheard/of.hpp>\n"}})),
      "common/solver/a.cpp:1: common/solver may not use <chrono>\n"
      "common/solver/a.cpp:2: common/solver may not use nlohmann\n"
      "common/solver/b.cpp:1: common/solver may not use <thread>\n"
      "common/solver/b.cpp:2: <unheard/of.hpp> is of a library that the table does not know\n");
}

TEST(IncludeDirection, ReportsALibraryThatLeaksThroughHeaders) {
  EXPECT_EQ(all(check_includes({
                {"common/codec/inner.hpp", "#include <nlohmann/json.hpp>\n"},
                {"common/codec/outer.hpp", "#include \"common/codec/inner.hpp\"\n"},
                {"common/codec/own.cpp", "#include \"common/codec/outer.hpp\"\n"},
                {"common/io/files.cpp", "#include \"common/codec/outer.hpp\"\n"},
            })),
            "common/io/files.cpp:1: common/codec/outer.hpp brings nlohmann along, which common/io "
            "may not use\n");
}

TEST(IncludeDirection, ReportsUnknownFoldersAndPathsThatDoNotStartAtTheRoot) {
  EXPECT_EQ(all(check_includes({
                {"common/kitchen/sink.hpp", ""},
                {"common/io/files.cpp", "#include \"files.hpp\"\n"},
                {"common/io/files.hpp", ""},
                {"scheduler-plugin/attic/old.cpp", ""},
            })),
            "common/io/files.cpp:1: \"files.hpp\" is no path from the repository root\n"
            "common/kitchen/sink.hpp:1: this folder is not in the table of "
            "tests/architecture/include_rules.cpp\n"
            "scheduler-plugin/attic/old.cpp:1: this folder is not in the table of "
            "tests/architecture/include_rules.cpp\n");
}

}  // namespace
}  // namespace chipweave::architecture
