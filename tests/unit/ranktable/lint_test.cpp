// Every rule of the linter: its finding, place, and the consumers it applies to.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/domain/ranktable/lint/lint.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/ranktable/lint_lines.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Dialect;
using domain::ranktable::Profile;

std::string device(int id, const std::string& ip, int rank, const std::string& more = "") {
  return R"({"device_id":")" + std::to_string(id) + R"(","device_ip":")" + ip + R"(","rank_id":")" +
         std::to_string(rank) + "\"" + more + "}";
}

std::string server(const std::string& id, const std::string& devices,
                   const std::string& more = "") {
  return R"({"server_id":")" + id + R"(",)" + more + R"("device":[)" + devices + "]}";
}

std::string table(const std::string& servers, int count, const std::string& version = "1.0",
                  const std::string& more = "") {
  return R"({"version":")" + version + R"(","server_count":")" + std::to_string(count) +
         R"(","server_list":[)" + servers + R"(],)" + more + R"("status":"completed"})";
}

// Two servers of two devices.
const std::string kGood =
    table(server("n0", device(0, "10.1.0.1", 0) + "," + device(1, "10.1.1.1", 1)) + "," +
              server("n1", device(0, "10.1.0.2", 2) + "," + device(1, "10.1.1.2", 3)),
          2);

TEST(Lint, AGoodTableIsGoodForEveryoneWhoReadsIt) {
  for (const Profile profile : {Profile::structural, Profile::hccl_910a, Profile::hccl_a2,
                                Profile::hccl_a3, Profile::mindspore, Profile::torch_npu}) {
    EXPECT_EQ(lines(kGood, profile), Lines{}) << to_string(profile);
  }
}

TEST(Lint, WhatIsNoTable) {
  EXPECT_EQ(lines("{\"a\": 1,}"), Lines{"error RT001 "});
  EXPECT_EQ(lines("{}"), Lines{"error RT002 "});
  EXPECT_EQ(lines("[]"), Lines{"error RT002 "});
  EXPECT_EQ(lines(R"({"status":"initializing"})"), Lines{"info RT010 "});
  EXPECT_EQ(lines(replaced(kGood, "\"1.0\"", "\"1.7\"")), Lines{"error RT002 "});
  EXPECT_EQ(lines(kGood, Profile::mindie_motor).front(), "error RT002 ");
  const std::string ambiguous =
      R"({"version":"1.0","status":"completed","server_group_list":[{"group_id":"0","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1"}]},{"group_id":"2","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1","device":[{"device_id":"0","device_ip":"10.2.0.1","rank_id":"0"}]}]}]})";
  EXPECT_EQ(lines(ambiguous), Lines{"error RT002 "});
  LintOptions options;
  options.dialect = Dialect::modelarts_global;
  EXPECT_EQ(lint_text(ambiguous, options).findings.size(), 1U);  // no prefill group
}

TEST(Lint, AWrappedTableIsPointedTo) {
  const std::string inner = R"({"ranktable":)" + kGood + "}";
  LintOptions options;
  const LintedText outer = lint_text(inner, options);
  ASSERT_EQ(outer.findings.size(), 1U);
  EXPECT_NE(outer.findings[0].fact.find("/ranktable"), std::string::npos);
  options.pointer = "/ranktable";
  EXPECT_TRUE(lint_text(inner, options).findings.empty());
  std::string escaped;
  for (const char c : replaced(kGood, "10.1.0.1", "10.1.0.x")) {
    escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  }
  const std::string map = "{\n\"data\":{\"hccl.json\":\"" + escaped + "\"}}";
  options.pointer.clear();
  EXPECT_NE(lint_text(map, options).findings[0].fact.find("/data/hccl.json"), std::string::npos);
  options.pointer = "/data/hccl.json";
  const LintedText linted = lint_text(map, options);
  ASSERT_EQ(linted.findings.size(), 1U);
  EXPECT_EQ(linted.dialect, Dialect::hccl_1_0);
  EXPECT_EQ(linted.findings[0].pointer, "/data/hccl.json/server_list/0/device/0/device_ip");
  EXPECT_EQ(linted.findings[0].position.line, 2U);
  options.pointer = "/nothing";
  EXPECT_EQ(lint_text(map, options).findings[0].code, "RT002");
}

TEST(Lint, MembersAndTypes) {
  EXPECT_EQ(lines(replaced(kGood, R"("status":)", R"("status":"x","status":)")),
            (Lines{"error RT010 /status", "error RT003 /status"}));
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"0")", R"("rank_id":0)")),
            Lines{"error RT004 /server_list/0/device/0/rank_id"});
  EXPECT_EQ(lines(replaced(kGood, R"("server_count":"2")", R"("server_count":2)")),
            Lines{"error RT004 /server_count"});
  EXPECT_EQ(lines(replaced(kGood, R"("server_id":"n0",)", "")),
            Lines{"error RT005 /server_list/0"});
  EXPECT_EQ(lines(replaced(kGood, R"("device_ip":"10.1.0.1")", R"("devce_ip":"10.1.0.1")")),
            Lines{"warning RT006 /server_list/0/device/0/devce_ip"});
  EXPECT_EQ(lines(replaced(kGood, R"("server_count":"2",)", "")), Lines{});
  EXPECT_EQ(lines(replaced(kGood, R"("server_list":[)", R"("server_list":[7,)")),
            Lines{"error RT004 /server_list/0"});
}

TEST(Lint, StatusCountsAndVersions) {
  EXPECT_EQ(lines(replaced(kGood, "completed", "initializing")), Lines{"error RT010 /status"});
  EXPECT_EQ(lines(replaced(kGood, R"("server_count":"2")", R"("server_count":"3")")),
            Lines{"error RT011 /server_count"});
  EXPECT_EQ(lines(replaced(kGood, R"("server_count":"2")", R"("server_count":"02")")),
            Lines{"warning RT011 /server_count"});
  EXPECT_EQ(lines(replaced(kGood, R"("server_count":"2")", R"("server_count":"2x")")),
            Lines{"error RT011 /server_count"});
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"0")", R"("rank_id":"0","super_device_id":"0")")),
            (Lines{"warning RT007 /server_list/0/device/0/super_device_id"}));
  EXPECT_EQ(lines(replaced(kGood, "\"1.0\"", "\"1.2\"")), Lines{"warning RT007 /version"});
}

TEST(Lint, Servers) {
  EXPECT_EQ(lines(replaced(kGood, "\"n1\"", "\"n0\"")),
            Lines{"error RT012 /server_list/1/server_id"});
  EXPECT_EQ(lines(replaced(kGood, "\"n1\"", "\"\"")),
            Lines{"error RT012 /server_list/1/server_id"});
  EXPECT_EQ(lines(replaced(kGood, "\"n1\"", '"' + std::string(65, 'n') + '"')),
            Lines{"error RT012 /server_list/1/server_id"});
  const Lines llm = lines(kGood, Profile::mindie_llm);
  EXPECT_EQ(std::count(llm.begin(), llm.end(), "error RT013 /server_list/0/server_id"), 1);
  EXPECT_EQ(std::count(llm.begin(), llm.end(), "error RT005 /server_list/0"), 1);
  std::string shared =
      replaced(kGood, R"("server_id":"n0",)", R"("server_id":"n0","host_ip":"10.9.0.1",)");
  shared = replaced(shared, R"("server_id":"n1",)", R"("server_id":"n1","host_ip":"10.9.0.1",)");
  EXPECT_EQ(lines(shared), Lines{"warning RT071 /server_list/1/host_ip"});
  EXPECT_EQ(lines(replaced(shared, "10.9.0.1", "")).front(), "error RT040 /server_list/0/host_ip");
  const std::string bridge = replaced(replaced(kGood, "n0", "172.17.0.2"), "n1", "172.17.0.3");
  EXPECT_EQ(lines(bridge), Lines{"warning RT071 /server_list/1/server_id"});
}

TEST(Lint, Ranks) {
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"3")", R"("rank_id":"2")")),
            Lines{"error RT020 /server_list/1/device/1/rank_id"});
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"3")", R"("rank_id":"4")")),
            Lines{"error RT020 /server_list/1/device/1/rank_id"});
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"3")", R"("rank_id":"3abc")")),
            Lines{"error RT020 /server_list/1/device/1/rank_id"});
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"3")", R"("rank_id":" 3")")),
            Lines{"error RT020 /server_list/1/device/1/rank_id"});
  EXPECT_EQ(lines(replaced(kGood, R"("rank_id":"3")", R"("rank_id":"03")")),
            Lines{"warning RT020 /server_list/1/device/1/rank_id"});
  std::string mixed = replaced(kGood, R"("rank_id":"1")", R"("rank_id":"X")");
  mixed = replaced(mixed, R"("rank_id":"2")", R"("rank_id":"1")");
  mixed = replaced(mixed, "\"X\"", "\"2\"");
  EXPECT_EQ(lines(mixed), (Lines{"warning RT021 /server_list/0", "warning RT021 /server_list/1"}));
  std::string turned = replaced(kGood, R"("rank_id":"0")", R"("rank_id":"X")");
  turned = replaced(turned, R"("rank_id":"1")", R"("rank_id":"0")");
  turned = replaced(turned, "\"X\"", "\"1\"");
  EXPECT_EQ(lines(turned), Lines{"warning RT022 /server_list/0/device"});
  const std::string swapped = table(
      server("n1", device(0, "10.1.0.2", 1)) + "," + server("n0", device(0, "10.1.0.1", 0)), 2);
  EXPECT_EQ(lines(swapped), Lines{"warning RT022 /server_list"});
  const std::string text_order = table(
      server("n10", device(0, "10.1.0.1", 0)) + "," + server("n1", device(0, "10.1.0.2", 1)), 2);
  EXPECT_EQ(lines(text_order), Lines{});
  EXPECT_EQ(lines(text_order, Profile::mindspore), Lines{"warning RT023 /server_list/1/server_id"});
}

TEST(Lint, Devices) {
  EXPECT_EQ(lines(replaced(kGood, R"("device_id":"1")", R"("device_id":"0")")),
            Lines{"error RT030 /server_list/0/device/1/device_id"});
  EXPECT_EQ(lines(replaced(kGood, R"("device_id":"1")", R"("device_id":"x1")")),
            Lines{"error RT030 /server_list/0/device/1/device_id"});
  const std::string high = replaced(kGood, R"("device_id":"1")", R"("device_id":"16")");
  EXPECT_EQ(lines(high), Lines{});
  EXPECT_EQ(lines(high, Profile::hccl_a2), Lines{"error RT031 /server_list/0/device/1/device_id"});
  EXPECT_EQ(lines(high, Profile::hccl_310p), Lines{"warning RT032 /server_list"});
  const auto one = [](const std::vector<int>& ids) {
    std::string devices;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      devices += (i == 0 ? "" : ",") +
                 device(ids[i], "10.1.0." + std::to_string(i + 1), static_cast<int>(i));
    }
    return table(server("n0", devices), 1);
  };
  EXPECT_EQ(lines(one({0, 1, 4, 5}), Profile::hccl_910a), Lines{});
  EXPECT_EQ(lines(one({0, 1, 2, 4}), Profile::hccl_910a),
            Lines{"error RT032 /server_list/0/device"});
  EXPECT_EQ(lines(one({0, 1, 2}), Profile::hccl_910a), Lines{"error RT032 /server_list/0/device"});
  EXPECT_EQ(lines(one({0, 1, 2}), Profile::hccl_a2), Lines{});
  EXPECT_EQ(lines(one({0, 1, 10, 11, 2, 3})), Lines{"warning RT033 /server_list/0/device"});
  EXPECT_EQ(lines(one({0, 2, 1, 3}), Profile::hccl_a3),
            Lines{"warning RT063 /server_list/0/device/2/rank_id"});
  const std::string uneven =
      table(server("n0", device(0, "10.1.0.1", 0)) + "," +
                server("n1", device(0, "10.1.0.2", 1) + "," + device(1, "10.1.0.3", 2)),
            2);
  EXPECT_EQ(lines(uneven), Lines{});
  EXPECT_EQ(lines(uneven, Profile::hccl_910a), Lines{"error RT032 /server_list/1/device"});
}

TEST(Lint, Addresses) {
  for (const std::string wrong :
       {"-.-.-.-", "10.*.*.*", "localhost", "192.168.200.1000", "10.1.0", "10.1.0.1.2", "010.1.0.1",
        "fe80::1%", "10.1.0.1%eth0", "::g", "10.1.0.9,"}) {
    const Lines found = lines(replaced(kGood, "10.1.0.1", wrong));
    EXPECT_EQ(found.front(), "error RT040 /server_list/0/device/0/device_ip") << wrong;
  }
  EXPECT_EQ(lines(replaced(kGood, "10.1.0.2", "10.1.0.1")),
            Lines{"error RT041 /server_list/1/device/0/device_ip"});
  const std::string empty = replaced(kGood, "10.1.0.2", "");
  EXPECT_EQ(lines(empty), Lines{});
  EXPECT_EQ(lines(empty, Profile::hccl_a2), Lines{"error RT042 /server_list/1/device/0/device_ip"});
  EXPECT_EQ(lines(replaced(kGood, "10.1.0.2", "fd00::1")),
            Lines{"error RT043 /server_list/1/device/0/device_ip"});
  EXPECT_EQ(lines(replaced(kGood, "n0", "10.1.0.1")),
            Lines{"warning RT044 /server_list/0/device/0/device_ip"});
  EXPECT_EQ(lines(replaced(kGood, "10.1.0.1", "127.0.0.1")),
            Lines{"warning RT044 /server_list/0/device/0/device_ip"});
  EXPECT_EQ(lines(replaced(kGood, "10.1.0.1", "192.0.2.7")),
            Lines{"warning RT044 /server_list/0/device/0/device_ip"});
  EXPECT_EQ(lines(replaced(kGood, "10.1.0.1", "192.4.2.199")),
            Lines{"warning RT045 /server_list/0/device/0/device_ip"});
  std::string v6 = kGood;
  for (const char* each : {"10.1.0.1", "10.1.1.1", "10.1.0.2", "10.1.1.2"}) {
    v6 = replaced(v6, each, std::string("fe80::") + each + "%eth1");
  }
  EXPECT_EQ(lines(v6), Lines{});
  std::string dual = kGood;
  for (const char* each : {"10.1.0.1", "10.1.1.1", "10.1.0.2"}) {
    dual = replaced(dual, each, std::string(each) + ",10.2" + std::string(each).substr(4));
  }
  EXPECT_EQ(lines(dual), Lines{"error RT040 /server_list/1/device/1/device_ip"});
  EXPECT_EQ(lines(replaced(dual, "10.1.1.2", "10.1.1.2,10.2.1.2")), Lines{});
  EXPECT_EQ(lines(replaced(dual, "10.1.1.2", "10.1.1.2,10.1.1.2")),
            Lines{"error RT041 /server_list/1/device/1/device_ip"});
}

TEST(Lint, PortsAndBackups) {
  const auto with = [](const std::string& first, const std::string& second) {
    return table(
        server("n0", device(0, "10.1.0.1", 0, first) + "," + device(1, "10.1.0.2", 1, second)), 1);
  };
  const std::string place = "/server_list/0/device/0/";
  EXPECT_EQ(lines(with(R"(,"device_port":"0")", "")),
            Lines{"error RT050 " + place + "device_port"});
  EXPECT_EQ(lines(with(R"(,"device_port":"65536")", "")),
            Lines{"error RT050 " + place + "device_port"});
  EXPECT_EQ(lines(with(R"(,"host_port":"80")", "")), Lines{"warning RT050 " + place + "host_port"});
  EXPECT_EQ(lines(with(R"(,"backup_device_ip":"10.1.0.1")", "")),
            Lines{"error RT051 " + place + "backup_device_ip"});
  EXPECT_EQ(lines(with(R"(,"backup_device_ip":"10.1.0.7")", "")),
            Lines{"error RT051 " + place + "backup_device_ip"});
  EXPECT_EQ(lines(with(R"(,"backup_device_ip":"10.1.0.2","backup_device_port":"16666")",
                       R"(,"device_port":"16666")")),
            Lines{"warning RT050 " + place + "backup_device_port"});
  EXPECT_EQ(lines(with(R"(,"backup_device_ip":"10.1.0.2","backup_device_port":"16667")",
                       R"(,"device_port":"16666")")),
            Lines{});
}

std::string super_pod_table(const std::string& pods, const std::string& first = "16777216",
                            const std::string& second = "20971520") {
  return table(
      server("n0", device(0, "10.1.0.1", 0, R"(,"super_device_id":")" + first + "\"")) + "," +
          server("n1", device(0, "10.1.0.2", 1, R"(,"super_device_id":")" + second + "\"")),
      2, "1.2", R"("super_pod_list":[)" + pods + "],");
}

TEST(Lint, SuperPods) {
  const auto pod = [](const std::string& id, const std::string& servers) {
    return R"({"super_pod_id":")" + id + R"(","server_list":[)" + servers + "]}";
  };
  const std::string n0 = R"({"server_id":"n0"})";
  const std::string n1 = R"({"server_id":"n1"})";
  EXPECT_EQ(lines(super_pod_table(pod("0", n0 + "," + n1))), Lines{});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0))), Lines{"error RT060 /server_list/1/server_id"});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0 + "," + n1) + "," + pod("1", n1))),
            Lines{"error RT060 /super_pod_list/1/server_list/0/server_id"});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0) + "," + pod("0", n1))),
            Lines{"error RT060 /super_pod_list/1/super_pod_id"});
  EXPECT_EQ(lines(super_pod_table(pod("", n0 + "," + n1))),
            Lines{"error RT060 /super_pod_list/0/super_pod_id"});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0 + "," + n1 + R"(,{"server_id":"n9"})"))),
            Lines{"error RT060 /super_pod_list/0/server_list/2/server_id"});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0 + "," + n1), "16777216", "16777216")),
            (Lines{"error RT061 /server_list/1/device/0/super_device_id",
                   "warning RT062 /server_list/1/device/0/super_device_id"}));
  EXPECT_EQ(lines(super_pod_table(pod("0", n0) + "," + pod("1", n1), "16777216", "16777216")),
            Lines{});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0 + "," + n1), "38600711")),
            Lines{"warning RT062 /server_list/0/device/0/super_device_id"});
  EXPECT_EQ(lines(super_pod_table(pod("0", n0 + "," + n1), "")),
            (Lines{"error RT005 /server_list/0/device/0",
                   "error RT062 /server_list/0/device/0/super_device_id"}));
}

TEST(Rules, AreAllOnThePage) {
  std::ifstream in(test::source_path("docs/reference/rank-tables.md"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const auto& rule : domain::ranktable::rules()) {
    for (const std::string_view part : {rule.code, rule.title, rule.breaks, rule.remedy}) {
      EXPECT_NE(page.find(part), std::string::npos) << rule.code << ": " << part;
    }
  }
}

TEST(Rules, EveryOneIsWhole) {
  std::set<std::string_view> codes;
  for (const auto& rule : domain::ranktable::rules()) {
    EXPECT_TRUE(codes.insert(rule.code).second) << rule.code;
    EXPECT_FALSE(rule.title.empty() || rule.breaks.empty() || rule.remedy.empty()) << rule.code;
  }
  EXPECT_GE(codes.size(), 45U);
}

}  // namespace
}  // namespace chipweave::codec::ranktable
