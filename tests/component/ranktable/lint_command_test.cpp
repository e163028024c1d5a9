// chipweave ranktable lint as a process: exit codes, output formats, and findings about the file,
// other files and the machine.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/component/ranktable/tables.hpp"

namespace chipweave {
namespace {

using Json = nlohmann::json;

class LintCommand : public RankTables {
 protected:
  Json json(const std::string& arguments, int exit_code) const {
    const Ran out = ranktable("lint " + arguments + " -o json");
    EXPECT_EQ(out.exit_code, exit_code) << arguments << out.out << out.err;
    return Json::parse(out.out, nullptr, false);
  }
  static std::string codes(const Json& report) {
    std::string out;
    for (const Json& each : report["findings"]) {
      out += (out.empty() ? "" : " ") + each["code"].get<std::string>();
    }
    return out;
  }
};

TEST_F(LintCommand, ExitCodes) {
  EXPECT_EQ(ranktable("lint " + file_).exit_code, 0);
  EXPECT_EQ(ranktable("lint " + folder_.put("dup.json", table("1"))).exit_code, 1);
  const std::string dir = folder_.put("warn.json", table("00"));
  EXPECT_EQ(ranktable("lint " + dir).exit_code, 0);
  EXPECT_EQ(ranktable("lint --strict " + dir).exit_code, 1);
  EXPECT_EQ(ranktable("lint " + folder_.put("no.json", "{,}")).exit_code, 1);
  EXPECT_EQ(ranktable("lint " + folder_.at("missing.json")).exit_code, 3);
  EXPECT_EQ(ranktable("lint").exit_code, 2);
  EXPECT_EQ(ranktable("lint " + file_ + " --profile nobody").exit_code, 2);
  EXPECT_EQ(ranktable("lint " + file_ + " --dialect none").exit_code, 2);
  EXPECT_EQ(ranktable("lint " + file_ + " -o xml").exit_code, 2);
}

TEST_F(LintCommand, JsonHasWhatScriptsRead) {
  const Json good = json(file_, 0);
  EXPECT_EQ(good["dialect"], "hccl-1.0");
  EXPECT_TRUE(good["findings"].empty());
  const Json bad = json(folder_.put("dup.json", table("1")), 1);
  ASSERT_EQ(bad["findings"].size(), 1U) << bad;
  const Json& finding = bad["findings"][0];
  EXPECT_EQ(finding["code"], "RT020");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["where"], "/server_list/0/device/1/rank_id");
  EXPECT_EQ(finding["line"], 2);
  EXPECT_NE(finding["message"].get<std::string>().find("repeated"), std::string::npos);
  const Json none = json(folder_.put("no.json", "{\"a\": 1, // b\n}"), 1);
  EXPECT_TRUE(none["dialect"].is_null());
  EXPECT_EQ(codes(none), "RT001");
}

TEST_F(LintCommand, SarifNamesRuleAndPlace) {
  const Ran out = ranktable("lint -o sarif " + folder_.put("dup.json", table("1")));
  const Json sarif = Json::parse(out.out);
  EXPECT_EQ(sarif["version"], "2.1.0");
  const Json& result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "RT020");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
}

TEST_F(LintCommand, FixMendsTheFileAndSaysWhat) {
  std::string text = table();
  text.replace(text.find("\"server_count\": \"4\""), 19, "\"server_count\": 3  ");
  const std::string file = folder_.put("fix.json", text);
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  const Ran out = ranktable("lint --fix " + file);
  EXPECT_EQ(out.exit_code, 0) << out.out << out.err;
  EXPECT_NE(out.err.find("RT004"), std::string::npos);
  EXPECT_NE(out.err.find("RT011"), std::string::npos);
  std::string mended = table();
  mended.replace(mended.find("\"server_count\": \"4\""), 19, "\"server_count\": \"4\"  ");
  EXPECT_EQ(content("fix.json"), mended);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  EXPECT_EQ(ranktable("lint --fix " + file_).exit_code, 0);
  EXPECT_EQ(content("hccl.json"), table());
}

TEST_F(LintCommand, FixKeepsTheFileAsItWas) {
  const std::string shifted = table("9");
  const std::string file = folder_.put("fix.json", shifted);
  const Ran out = ranktable("lint --fix " + file);
  EXPECT_EQ(out.exit_code, 0) << out.out << out.err;
  EXPECT_NE(out.err.find(file + ".bak"), std::string::npos) << out.err;
  EXPECT_EQ(content("fix.json.bak"), shifted);
  const std::string again = table("8");
  folder_.put("fix.json", again);
  ASSERT_EQ(ranktable("lint --fix " + file).exit_code, 0);
  EXPECT_EQ(content("fix.json.bak"), shifted);
  EXPECT_EQ(content("fix.json.bak.1"), again);
  ASSERT_EQ(ranktable("lint --fix " + file_).exit_code, 0);  // nothing to correct
  EXPECT_FALSE(std::filesystem::exists(file_ + ".bak"));
}

TEST_F(LintCommand, FixMakesJsonOfWhatIsAlmostJson) {
  const std::string text = "// made by hand\n" + table();
  const std::string file = folder_.put("fix.json", text);
  EXPECT_EQ(ranktable("lint " + file).exit_code, 1);
  const Ran shown = ranktable("lint --fix --dry-run " + file);
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_NE(shown.out.find("\n-// made by hand\n"), std::string::npos) << shown.out;
  EXPECT_EQ(content("fix.json"), text);
  const Ran out = ranktable("lint --fix " + file);
  EXPECT_EQ(out.exit_code, 0) << out.out << out.err;
  EXPECT_NE(out.err.find("comment at line 1, column 1: mended (RT001)"), std::string::npos);
  EXPECT_EQ(content("fix.json"), table());
  EXPECT_EQ(content("fix.json.bak"), text);
  folder_.put("fix.json", text);
  EXPECT_EQ(run("%B/chipweave ranktable lint --fix - 2>/dev/null <" + file).text, table());
  EXPECT_EQ(content("fix.json"), text);
}

TEST_F(LintCommand, DryRunShowsTheChangeAndWritesNothing) {
  std::string text = table();
  text.replace(text.find("\"4\""), 3, "\"3\"");
  const std::string file = folder_.put("fix.json", text);
  const Ran out = ranktable("lint --fix --dry-run " + file);
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_EQ(out.out, "--- " + file + "\n+++ " + file +
                         "\n@@ -1,1 +1,1 @@\n"
                         "-{\"version\": \"1.0\", \"server_count\": \"3\", \"server_list\": [\n"
                         "+{\"version\": \"1.0\", \"server_count\": \"4\", \"server_list\": [\n");
  EXPECT_EQ(content("fix.json"), text);
  EXPECT_FALSE(std::filesystem::exists(file + ".bak"));
  EXPECT_EQ(ranktable("lint --fix --dry-run " + file_).exit_code, 0);
  EXPECT_EQ(ranktable("lint --dry-run " + file_).exit_code, 2);
}

TEST_F(LintCommand, FixDoesNotHideALostDevice) {
  std::string text = table();  // without device 1 of b, rank 3
  const std::size_t begin = text.find(", {\"device_id\": \"1\"", text.find("\"b\""));
  text.erase(begin, text.find('}', begin) + 1 - begin);
  const std::string file = folder_.put("fix.json", text);
  for (const char* more : {"", "--dry-run "}) {
    const Ran out = ranktable(std::string("lint --fix ") + more + file);
    EXPECT_EQ(out.exit_code, 1);
    EXPECT_NE(out.err.find("rank 3 is missing, and server \"b\" has 1 device, \"a\" has 2"),
              std::string::npos)
        << out.err;
  }
  EXPECT_EQ(content("fix.json"), text);
}

TEST_F(LintCommand, FixDoesNotHideALostServer) {
  std::string text = table();
  const std::size_t begin = text.find("  {\"server_id\": \"b\"");
  text.erase(begin, text.find("]}", begin) + 4 - begin);
  const std::string file = folder_.put("fix.json", text);
  const Ran out = ranktable("lint --fix " + file);
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_NE(out.err.find("ranks 2, 3 are missing, and the table states 4 servers and lists 3"),
            std::string::npos)
      << out.err;
  EXPECT_EQ(content("fix.json"), text);
}

// Runs the command between quotes in the first message of a rule.
TEST_F(LintCommand, AdvisedCommandsWork) {
  std::string interleaved = table();
  interleaved.replace(interleaved.find("\"rank_id\": \"1\""), 14, "\"rank_id\": \"2\"");
  interleaved.replace(interleaved.rfind("\"rank_id\": \"2\""), 14, "\"rank_id\": \"1\"");
  const std::string spaced = folder_.put("my table.json", interleaved);
  const auto run_advice = [&](const std::string& arguments, const std::string& code) {
    const Json report = json(arguments, 0);
    for (const Json& each : report["findings"]) {
      if (each["code"] != code) continue;
      const std::string text = each["message"];
      const std::size_t begin = text.find("'chipweave ranktable ");
      if (begin == std::string::npos) return -1;
      return ranktable(text.substr(begin + 21, text.find('\'', begin + 1) - begin - 21)).exit_code;
    }
    return -2;
  };
  EXPECT_EQ(run_advice("\"" + spaced + "\"", "RT021"), 0);
  EXPECT_EQ(codes(json("\"" + spaced + "\"", 0)), "");
  EXPECT_EQ(run_advice(file_ + " --network " + network_, "RT090"), 0);
  EXPECT_EQ(codes(json(file_ + " --network " + network_, 0)), "");
}

TEST_F(LintCommand, LinksAndModes) {
  const std::string link = folder_.at("link.json");
  std::filesystem::create_symlink(file_, link);
  ASSERT_EQ(::chmod(file_.c_str(), 0640), 0);
  EXPECT_EQ(codes(json(link, 0)), "RT080");
  EXPECT_EQ(codes(json(link + " --profile torch-npu", 1)), "RT080");
  ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  EXPECT_EQ(codes(json(file_, 0)), "");
  EXPECT_EQ(codes(json(file_ + " --profile hccl-a2", 0)), "RT080");
  ASSERT_EQ(::chmod(file_.c_str(), 0666), 0);
  EXPECT_EQ(codes(json(file_, 0)), "RT080");
}

TEST_F(LintCommand, AgainstAnotherRanksTable) {
  EXPECT_EQ(codes(json(file_ + " --against " + file_, 0)), "");
  std::string other = table();
  other.replace(other.find("10.1.0.1"), 8, "10.1.0.9");
  EXPECT_EQ(codes(json(file_ + " --against " + folder_.put("other.json", other), 1)), "RT082");
  EXPECT_EQ(ranktable("lint " + file_ + " --against " + folder_.at("missing")).exit_code, 3);
}

TEST_F(LintCommand, OverANetwork) {
  const Json report = json(file_ + " --network " + network_, 0);
  ASSERT_EQ(codes(report), "RT090");
  const std::string message = report["findings"][0]["message"];
  EXPECT_NE(message.find("4 times, 2 is the minimum"), std::string::npos) << message;
  EXPECT_NE(message.find("1-2"), std::string::npos) << message;
  EXPECT_EQ(ranktable("lint " + file_ + " --network " + folder_.at("missing")).exit_code, 3);
}

TEST_F(LintCommand, AgainstTheConfigurationOfHosts) {
  const std::string of_a = folder_.put("a.conf",
                                       "address_0=10.1.0.1\nnetmask_0=255.255.255.0\n"
                                       "address_1=10.1.1.77\nnetmask_1=255.255.255.0\n");
  const std::string of_b = folder_.put("b.conf",
                                       "address_0=10.1.0.2\nnetmask_0=255.255.255.252\n"
                                       "address_1=10.1.1.2\nnetmask_1=255.255.255.0\n");
  EXPECT_EQ(codes(json(file_ + " --hccn-conf a=" + of_a, 0)), "RT081");
  std::string third = "address_0=10.9.0.3\nnetmask_0=255.255.255.0\n";
  EXPECT_EQ(
      codes(json(
          file_ + " --hccn-conf b=" + of_b + " --hccn-conf c=" + folder_.put("c.conf", third), 0)),
      "RT046 RT081");
  EXPECT_EQ(ranktable("lint " + file_ + " --hccn-conf " + of_a).exit_code, 2);
  EXPECT_EQ(ranktable("lint " + file_ + " --hccn-conf z=" + of_a).exit_code, 2);
  EXPECT_EQ(ranktable("lint " + file_ + " --hccn-conf a=" + folder_.at("missing")).exit_code, 3);
}

TEST_F(LintCommand, AsksTheDevicesOfThisMachine) {
  const std::string tool = folder_.put(
      "hccn_tool",
      "#!/bin/sh\n"
      // Busy the first time, as during the driver's own checks.
      "seen=$0.seen; [ -e $seen ] || { : > $seen; echo 'hccn_tool is busy, please try again.'; "
      "exit; }\n"
      "case \"$3\" in\n-ip) echo \"ipaddr:10.1.$((9 - 8 * $2)).1\"; echo netmask:255.255.255.0;;\n"
      "-link) [ $2 = 0 ] && echo 'link status: UP' || echo 'link status: DOWN';;\n"
      "-net_health) echo 'net health status: Success';;\nesac\n");
  ASSERT_EQ(::chmod(tool.c_str(), 0755), 0);
  const Json report = json(file_ + " --live a --hccn-tool " + tool, 0);
  EXPECT_EQ(codes(report), "RT081 RT081");  // another address, a link that is down
  EXPECT_EQ(report["findings"][0]["where"], "/server_list/0/device/0/device_ip");
  EXPECT_EQ(report["findings"][1]["where"], "/server_list/0/device/1/device_ip");
  EXPECT_EQ(ranktable("lint " + file_ + " --live z --hccn-tool " + tool).exit_code, 2);
  EXPECT_EQ(ranktable("lint " + file_ + " --live a --hccn-tool /nowhere").exit_code, 2);
}

TEST_F(LintCommand, TopologyFileOfHosts) {
  const std::string layered = folder_.put(
      "v2.json",
      R"({"version":"2.0","rank_count":1,"rank_list":[{"rank_id":0,"local_id":0,"device_id":0,"level_list":[{"net_layer":0,"net_instance_id":"r","net_type":"TOPO_FILE_DESC","rank_addr_list":[{"addr_type":"IPV4","addr":"10.0.0.1","ports":["0/1"]}]}]}]})");
  const std::string topology =
      R"({"peer_count":1,"peer_list":[{"local_id":0}],"edge_count":1,"edge_list":[{"local_a":0,"local_a_ports":["0/1"]}]})";
  EXPECT_EQ(codes(json(layered + " --topo-file " + folder_.put("t.json", topology), 0)), "");
  std::string other = topology;
  other.replace(other.find("0/1"), 3, "0/2");
  EXPECT_EQ(codes(json(layered + " --topo-file " + folder_.put("u.json", other), 1)), "RT109");
  EXPECT_EQ(ranktable("lint " + layered + " --topo-file " + folder_.put("v.json", "[]")).exit_code,
            3);
}

}  // namespace
}  // namespace chipweave
