// Rules of the dialects other than HCCL 1.x.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/codec/ranktable/lint/topology_file.hpp"
#include "common/domain/ranktable/lint/lint.hpp"
#include "tests/unit/ranktable/lint_lines.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Profile;

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
  EXPECT_EQ(lines(replaced(make(entry("10.0.0.2", 0, "10.2.0.1", 0), 1), R"("device":)",
                           R"("predict_port":"80","device":)")),
            Lines{"error RT050 /server_group_list/2/server_list/0/predict_port"});
  const std::string wrong_count = make(entry("10.0.0.2", 0, "10.2.0.1", 0), 5);
  EXPECT_EQ(lines(wrong_count), Lines{"error RT011 /server_group_list/2/server_count"});
  EXPECT_EQ(lines(wrong_count, Profile::mindie_motor),
            Lines{"warning RT011 /server_group_list/2/server_count"});
}

// Server groups of MindIE: one device per server, of the given server_id, server_ip and SDID.
std::string mindie_servers(const std::vector<std::array<std::string, 3>>& servers,
                           const std::string& super_pods) {
  std::string entries;
  int rank = 0;
  for (const auto& [id, ip, sdid] : servers) {
    entries += (rank == 0 ? "" : ",") + std::string(R"({"server_id":")") + id +
               R"(","server_ip":")" + ip + R"(","device":[{"device_id":"0","device_ip":"10.2.0.)" +
               std::to_string(rank + 1) + R"(","device_logical_id":"0","rank_id":")" +
               std::to_string(rank) + "\"" +
               (sdid.empty() ? "" : R"(,"super_device_id":")" + sdid + "\"") + "}]}";
    ++rank;
  }
  return R"({"version":"1.2","status":"completed","server_group_list":[{"group_id":"0","server_count":"1","server_list":[{"server_id":"coordinator","server_ip":"10.0.0.1"}]},{"group_id":"1","server_count":"1","server_list":[{"server_id":"controller","server_ip":"10.0.0.1"}]},{"group_id":"2","server_count":")" +
         std::to_string(servers.size()) + R"(","server_list":[)" + entries + "]" + super_pods +
         "}]}";
}

TEST(Lint, ServersOfMindieWithSdidsAreInASuperPod) {
  const std::vector<std::array<std::string, 3>> servers = {{"10.0.0.2", "10.9.0.2", "4194304"},
                                                           {"10.0.0.3", "10.9.0.3", "8388608"}};
  const auto pods = [](const std::string& names) {
    return R"(,"super_pod_list":[{"super_pod_id":"0","server_list":[)" + names + "]}]";
  };
  const std::string first = R"({"server_id":"10.0.0.2"})";
  const std::string both = first + R"(,{"server_id":"10.0.0.3"})";
  EXPECT_EQ(lines(mindie_servers(servers, pods(both))), Lines{});
  EXPECT_EQ(lines(mindie_servers(servers, pods(first))),
            Lines{"error RT060 /server_group_list/2/server_list/1/server_id"});
  EXPECT_EQ(lines(mindie_servers(servers, "")), Lines{"warning RT060 /server_group_list/2"});
  auto plain = servers;
  plain[1][2].clear();  // no SDID
  EXPECT_EQ(lines(mindie_servers(plain, pods(first))),
            Lines{"warning RT060 /server_group_list/2/server_list/1/server_id"});
}

TEST(Lint, HostsOfMindieUnderOneServerIdAreOneWarning) {
  std::vector<std::array<std::string, 3>> servers;
  for (int i = 2; i < 98; ++i) servers.push_back({"127.0.0.1", "10.9.0." + std::to_string(i), ""});
  EXPECT_EQ(lines(mindie_servers(servers, "")),
            Lines{"warning RT012 /server_group_list/2/server_list/1/server_id"});
  // One pod twice: its devices do collide.
  servers = {{"10.0.0.2", "10.9.0.2", ""}, {"10.0.0.2", "10.9.0.2", ""}};
  EXPECT_EQ(lines(mindie_servers(servers, "")),
            (Lines{"warning RT012 /server_group_list/2/server_list/1/server_id",
                   "error RT030 /server_group_list/2/server_list/1/device/0/device_id"}));
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

}  // namespace
}  // namespace chipweave::codec::ranktable
