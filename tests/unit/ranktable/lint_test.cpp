// Every rule of the linter: what it says, where, and to whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "common/codec/ranktable/lint_text.hpp"
#include "common/domain/ranktable/lint.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Dialect;
using domain::ranktable::Profile;
using Lines = std::vector<std::string>;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// "error RT012 /server_list/1/server_id", … in the order of the text.
Lines lines(const std::string& text, Profile profile = Profile::structural) {
  LintOptions options;
  options.profile = profile;
  Lines out;
  for (const Located& each : lint_text(text, options).findings) {
    out.push_back(std::string(to_string(each.severity)) + " " + each.code + " " + each.pointer);
    EXPECT_FALSE(domain::ranktable::rule_of(each.code).title.empty()) << each.code;
    EXPECT_GT(each.message().size(), each.fact.size()) << each.code;
  }
  return out;
}

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
  options.read.dialect = Dialect::modelarts_global;
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

const std::string kGlobal =
    R"({"version":"1.0","status":"completed","server_group_list":[{"group_id":"0","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1"}]},{"group_id":"1","server_count":"2","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1","device":[{"device_id":"0","device_ip":"10.2.0.1","rank_id":"0"}]},{"server_id":"10.0.0.2","server_ip":"10.0.0.2","device":[{"device_id":"0","device_ip":"10.2.0.2","rank_id":"0"}]}]},{"group_id":"2","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1","device":[{"device_id":"1","device_ip":"10.2.0.3","rank_id":"0"}]}]}]})";

TEST(Lint, ModelArtsGlobal) {
  EXPECT_EQ(lines(kGlobal), Lines{});
  EXPECT_EQ(lines(kGlobal, Profile::modelarts), Lines{});
  EXPECT_EQ(lines(replaced(kGlobal, R"("device_id":"1")", R"("device_id":"0")")),
            Lines{"error RT030 /server_group_list/2/server_list/0/device/0/device_id"});
  EXPECT_EQ(lines(replaced(kGlobal, "10.2.0.3", "10.2.0.1")),
            Lines{"error RT041 /server_group_list/2/server_list/0/device/0/device_ip"});
  EXPECT_EQ(lines(replaced(kGlobal, R"("server_count":"2")", R"("server_count":"1")")),
            Lines{"error RT011 /server_group_list/1/server_count"});
  EXPECT_EQ(lines(replaced(kGlobal, R"("rank_id":"0"}]},)", R"("rank_id":"1"}]},)")),
            Lines{"error RT020 /server_group_list/1/server_list/0/device/0/rank_id"});
  const std::string partial = replaced(
      kGlobal,
      R"({"group_id":"0","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1"}]},)",
      "");
  EXPECT_EQ(lines(partial), Lines{"warning RT070 /server_group_list"});
  EXPECT_EQ(lines(partial, Profile::modelarts), Lines{"error RT070 /server_group_list"});
  EXPECT_EQ(
      lines(replaced(
          kGlobal, R"({"device_id":"0","device_ip":"10.2.0.2","rank_id":"0"})",
          R"({"device_id":"0","device_ip":"10.2.0.2","rank_id":"0"},{"device_id":"1","device_ip":"10.2.0.9","rank_id":"1"})")),
      Lines{"error RT070 /server_group_list/1/server_list/1/device"});
  EXPECT_EQ(lines(replaced(kGlobal, R"("server_id":"10.0.0.2")", R"("server_id":"10.0.0.1")")),
            Lines{});
  EXPECT_EQ(lines(replaced(kGlobal, R"("server_ip":"10.0.0.2")", R"("server_ip":"localhost")")),
            Lines{"error RT070 /server_group_list/1/server_list/1/server_ip"});
}

TEST(Lint, ALocalTableIsHeldAgainstTheGlobalOne) {
  const std::string local =
      R"({"version":"1.0","status":"completed","group_id":"0","server_count":"1","server_list":[{"server_id":"10.0.0.2","server_ip":"10.0.0.2","device":[{"device_id":"0","device_ip":"10.2.0.2","rank_id":"0"}]}]})";
  EXPECT_EQ(lines(local, Profile::modelarts), Lines{});
  const auto against = [](const std::string& a, const std::string& b) {
    return domain::ranktable::lint_local_against_global(parse_table(a).value(),
                                                        parse_table(b).value());
  };
  EXPECT_TRUE(against(local, kGlobal).empty());
  EXPECT_EQ(against(replaced(local, "10.2.0.2", "10.2.0.9"), kGlobal).size(), 1U);
  EXPECT_EQ(
      against(replaced(local, R"("server_ip":"10.0.0.2")", R"("server_ip":"10.0.0.7")"), kGlobal)
          .size(),
      1U);
  EXPECT_EQ(lines(replaced(local, R"("group_id":"0")", R"("group_id":"1")")),
            Lines{"error RT070 /group_id"});
}

TEST(Lint, MindieGlobal) {
  const auto entry = [](const std::string& id, int device, const std::string& ip, int rank) {
    return R"({"server_id":")" + id + R"(","server_ip":")" + id + R"(","device":[{"device_id":")" +
           std::to_string(device) + R"(","device_ip":")" + ip +
           R"(","device_logical_id":"0","rank_id":")" + std::to_string(rank) + R"("}]})";
  };
  const auto make = [&](const std::string& entries, int count) {
    return R"({"version":"1.0","status":"completed","server_group_list":[{"group_id":"0","server_count":"1","server_list":[{"server_id":"coordinator","server_ip":"10.0.0.1"}]},{"group_id":"1","server_count":"1","server_list":[{"server_id":"controller","server_ip":"10.0.0.1"}]},{"group_id":"2","server_count":")" +
           std::to_string(count) + R"(","server_list":[)" + entries + "]}]}";
  };
  EXPECT_EQ(lines(make(entry("10.0.0.2", 0, "10.2.0.1", 0), 1), Profile::mindie_motor), Lines{});
  EXPECT_EQ(
      lines(
          make(entry("10.0.0.2", 0, "10.2.0.1", 0) + "," + entry("10.0.0.2", 1, "10.2.0.2", 0), 2)),
      (Lines{"warning RT012 /server_group_list/2/server_list/1/server_id",
             "warning RT020 /server_group_list/2/server_list/1/device/0/rank_id"}));
  EXPECT_EQ(
      lines(
          make(entry("10.0.0.2", 0, "10.2.0.1", 0) + "," + entry("10.0.0.3", 0, "10.2.0.1", 1), 2)),
      Lines{"error RT041 /server_group_list/2/server_list/1/device/0/device_ip"});
  const std::string wrong_count = make(entry("10.0.0.2", 0, "10.2.0.1", 0), 5);
  EXPECT_EQ(lines(wrong_count), Lines{"error RT011 /server_group_list/2/server_count"});
  EXPECT_EQ(lines(wrong_count, Profile::mindie_motor),
            Lines{"warning RT011 /server_group_list/2/server_count"});
}

TEST(Lint, VllmAscend) {
  const std::string good =
      R"({"version":"1.2","server_count":"1","prefill_device_list":[{"server_id":"10.0.0.1","device_id":"0","device_ip":"10.2.0.1","cluster_id":"1"}],"decode_device_list":[{"server_id":"10.0.0.1","device_id":"1","device_ip":"10.2.0.2","cluster_id":"2"}],"status":"completed"})";
  EXPECT_EQ(lines(good, Profile::vllm_ascend), Lines{});
  EXPECT_EQ(lines(replaced(good, R"("cluster_id":"2")", R"("cluster_id":"1")")),
            Lines{"error RT020 /decode_device_list/0/cluster_id"});
  EXPECT_EQ(lines(replaced(good, R"("device_id":"1")", R"("device_id":"0")")),
            Lines{"error RT030 /decode_device_list/0/device_id"});
  EXPECT_EQ(lines(replaced(good, R"("server_count":"1")", R"("server_count":"2")")),
            Lines{"warning RT011 /server_count"});
}

std::string layered_rank(int rank, int local, const std::string& address,
                         const std::string& more = "") {
  return R"({"rank_id":)" + std::to_string(rank) + R"(,"local_id":)" + std::to_string(local) +
         R"(,"device_id":)" + std::to_string(local) + more +
         R"(,"level_list":[{"net_layer":0,"net_instance_id":"r0","net_type":"TOPO_FILE_DESC","net_attr":"","rank_addr_list":[{"addr_type":"IPV4","addr":")" +
         address + R"(","ports":["0/)" + std::to_string(local) + R"("]}]}]})";
}

std::string layered(const std::string& ranks, int count) {
  return R"({"version":"2.0","status":"completed","rank_count":)" + std::to_string(count) +
         R"(,"rank_list":[)" + ranks + "]}";
}

TEST(Lint, Layered) {
  const std::string good =
      layered(layered_rank(0, 0, "10.1.0.1") + "," + layered_rank(1, 1, "10.1.0.2"), 2);
  EXPECT_EQ(lines(good), Lines{});
  EXPECT_EQ(lines(good, Profile::hccl_950), Lines{});
  const auto with = [&](const std::string& from, const std::string& to) {
    return lines(replaced(good, from, to));
  };
  EXPECT_EQ(with(R"("rank_count":2)", R"("rank_count":3)"), Lines{"error RT101 /rank_count"});
  EXPECT_EQ(with(R"("rank_count":2)", R"("rank_count":"2")"), Lines{"error RT004 /rank_count"});
  EXPECT_EQ(with(R"("rank_id":1)", R"("rank_id":0)"), Lines{"error RT020 /rank_list/1/rank_id"});
  EXPECT_EQ(with(R"("local_id":1)", R"("local_id":0)"), Lines{"error RT102 /rank_list/1/local_id"});
  EXPECT_EQ(with(R"("local_id":1)", R"("local_id":65)"),
            Lines{"error RT102 /rank_list/1/local_id"});
  EXPECT_EQ(with(R"("local_id":1)", R"("local_id":64)"),
            Lines{"error RT102 /rank_list/1/local_id"});
  EXPECT_EQ(with(R"("net_layer":0)", R"("net_layer":8)"),
            Lines{"error RT103 /rank_list/0/level_list/0/net_layer"});
  EXPECT_EQ(with("TOPO_FILE_DESC", "CLOS"),
            Lines{"warning RT103 /rank_list/0/level_list/0/net_type"});
  EXPECT_EQ(with("TOPO_FILE_DESC", "RING"),
            Lines{"error RT104 /rank_list/0/level_list/0/net_type"});
  EXPECT_EQ(with(R"("ports":["0/1"]})",
                 R"("ports":["0/1"]},{"addr_type":"IPV4","addr":"10.1.0.3","ports":["0/2"]})"),
            Lines{"error RT105 /rank_list/1/level_list/0/rank_addr_list"});
  EXPECT_EQ(with("IPV4", "ipv4"),
            Lines{"error RT106 /rank_list/0/level_list/0/rank_addr_list/0/addr_type"});
  EXPECT_EQ(with("IPV4", "EID"),
            Lines{"error RT106 /rank_list/0/level_list/0/rank_addr_list/0/addr"});
  EXPECT_EQ(with("\"0/1\"", "\"x\""),
            Lines{"error RT107 /rank_list/1/level_list/0/rank_addr_list/0/ports"});
  EXPECT_EQ(with("10.1.0.2", "10.1.0.1"),
            Lines{"error RT108 /rank_list/1/level_list/0/rank_addr_list/0/addr"});
  const std::string change =
      layered(layered_rank(1, 64, "10.1.0.9", R"(,"replaced_local_id":1)"), 1);
  EXPECT_EQ(lines(change), Lines{"error RT020 /rank_list"});
  const std::string old =
      R"({"version":"2.0","rank_count":1,"rank_list":[{"rank_id":0,"level_list":[{"level":0,"id":"r0","fabric_type":"CLOS","rank_addrs":[]}]}]})";
  EXPECT_EQ(lines(old), Lines{"error RT100 "});
}

TEST(Lint, TopologyFile) {
  const auto table = parse_table(layered(layered_rank(0, 0, "10.1.0.1"), 1));
  const std::string topology =
      R"({"version":"2.0","peer_count":1,"peer_list":[{"local_id":0}],"edge_count":1,"edge_list":[{"net_layer":0,"local_a":0,"local_a_ports":["0/0"]}]})";
  const auto codes = [&](const std::string& text) {
    return check_topology_file(*table, text).value().size();
  };
  EXPECT_EQ(codes(topology), 0U);
  EXPECT_EQ(codes(replaced(topology, "\"0/0\"", "\"0/1\"")), 1U);
  EXPECT_EQ(codes(replaced(topology, R"("local_id":0)", R"("local_id":1)")), 1U);
  EXPECT_FALSE(
      check_topology_file(*table, replaced(topology, R"("peer_count":1)", R"("peer_count":2)"))
          .ok());
  EXPECT_FALSE(check_topology_file(*table, "[]").ok());
  EXPECT_FALSE(check_topology_file(*table, "{,").ok());
}

TEST(Lint, VersionAndStatusInTheGroupsAreReadAndWrittenAtTheTop) {
  std::string text = replaced(kGlobal, R"("version":"1.0","status":"completed",)", "");
  for (const char* id : {"0", "1", "2"}) {
    text =
        replaced(text, std::string(R"({"group_id":")") + id + "\"",
                 std::string(R"({"version":"1.0","status":"completed","group_id":")") + id + "\"");
  }
  EXPECT_EQ(lines(text), Lines{"warning RT007 "});
  const LintedText linted = lint_text(text, {});
  EXPECT_EQ(write_table(linted.table), write_table(parse_table(kGlobal).value()));
}

TEST(Rules, AreAllOnThePage) {
  std::ifstream in(std::string(CHIPWEAVE_SOURCE_DIR) + "/docs/ranktables.md");
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
