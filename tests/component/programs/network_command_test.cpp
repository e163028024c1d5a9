// chipweave network as scripts see it: text, JSON, exit codes, which stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

const std::string kTree = R"(printf 'SwitchName=s Switches=a,b\nSwitchName=a Nodes=n[1-2]\n)"
                          R"(SwitchName=b Nodes=n3\nSwitchName=c\n' | %B/chipweave network )";

TEST(NetworkCommand, ImportPrintsNodesAndJson) {
  const Outcome json = run(kTree + "import - -o json 2>&1");
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.text,
            "{\"levels\":[\"spine\",\"leaf\"],\"nodes\":[\n"
            R"({"name":"n1","path":["s","a"],"rails":[]},)"
            "\n"
            R"({"name":"n2","path":["s","a"],"rails":[]},)"
            "\n"
            R"({"name":"n3","path":["s","b"],"rails":[]})"
            "\n],\"warnings\":[\"switch \\\"c\\\" has no nodes below it and is left out\"]}\n");
  EXPECT_EQ(run(kTree + "import - 2>/dev/null").text,
            "NODE  spine  leaf\nn1    s      a\nn2    s      a\nn3    s      b\n");
  EXPECT_EQ(run(kTree + "import - 2>&1 >/dev/null").text,
            "chipweave: warning: switch \"c\" has no nodes below it and is left out\n");
}

TEST(NetworkCommand, ExportReadsWhatImportPrints) {
  const Outcome out =
      run(kTree + "import - -o json | %B/chipweave network export - --to slurm 2>&1");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("SwitchName=s Switches=a,b\nSwitchName=a Nodes=n[1-2]\n"));
  EXPECT_THAT(run(kTree + "export - --to csv 2>/dev/null").text,
              testing::StartsWith("name,spine,leaf\nn1,s,a\n"));
}

TEST(NetworkCommand, ShowCountsDomains) {
  const Outcome out = run("export LC_ALL=C; " + kTree + "show - 2>/dev/null");
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(out.text,
            "3 nodes, read as slurm\n\n"
            "LEVEL  DOMAINS  SMALLEST  MEDIAN  LARGEST  OUTSIDE\n"
            "spine        1         3       3        3        0\n"
            "leaf         2         1       1        2        0\n"
            "\n"
            "network\n"
            "`- s (spine, 3 nodes)\n"
            "   |- a (leaf, 2 nodes) n[1-2]\n"
            "   `- b (leaf, 1 node) n3\n");
}

TEST(NetworkCommand, ShowDrawsTheTreeInTheCharactersOfTheLocale) {
  const auto show = [](const std::string& environment, const std::string& flags) {
    const std::string shown = "env " + environment + " %B/chipweave network show - " + flags;
    return run(R"(printf 'name,rack\nn1,a\n' | )" + shown).text;
  };
  const std::string none = "-u LC_ALL -u LC_CTYPE -u LANG -u TERM ";
  EXPECT_THAT(show(none + "LANG=en_US.UTF-8", ""), HasSubstr("\n└─ a (rack, 1 node) n1\n"));
  EXPECT_THAT(show(none + "LC_ALL=C LANG=en_US.UTF-8", ""), HasSubstr("\n`- a (rack, "));
  EXPECT_THAT(show(none + "LC_CTYPE=C.utf8", ""), HasSubstr("\n└─ a"));
  EXPECT_THAT(show(none + "LANG=C.UTF-8 TERM=dumb", ""), HasSubstr("\n`- a"));
  EXPECT_THAT(show(none, ""), HasSubstr("\n`- a"));
  EXPECT_THAT(show(none, "-o wide"), HasSubstr("\n`- a (rack, 1 node)\n   `- n1\n"));
}

TEST(NetworkCommand, ErrorsAreOneSentenceAndAnExitCode) {
  constexpr int kWrongUsage = 2;
  constexpr int kUnreadable = 3;
  EXPECT_EQ(complaint("chipweave network show /no/such/file").code, kUnreadable);
  const Outcome unknown = complaint("chipweave network show /dev/null");
  EXPECT_EQ(unknown.code, kUnreadable);
  EXPECT_THAT(unknown.text, HasSubstr("chipweave: file /dev/null: the file is empty"));
  EXPECT_EQ(run(kTree + "show - --format x 2>/dev/null").code, kWrongUsage);
  EXPECT_EQ(run(kTree + "show - --levels x 2>/dev/null").code, kWrongUsage);
  EXPECT_EQ(run(kTree + "export - --to x 2>/dev/null").code, kWrongUsage);
  EXPECT_EQ(run(kTree + "export - 2>/dev/null").code, kWrongUsage);
  EXPECT_EQ(run("echo SwitchName=a Nodes=n[ | %B/chipweave network import - 2>/dev/null").code,
            kUnreadable);
  EXPECT_EQ(run("{ " + kTree + "import - -o json; } 2>/dev/null >/dev/full").code, kUnreadable);
}

}  // namespace
}  // namespace chipweave
