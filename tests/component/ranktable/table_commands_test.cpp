// chipweave ranktable convert, diff, hash, order and show as processes.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/component/ranktable/tables.hpp"

namespace chipweave {
namespace {

using Json = nlohmann::json;

class TableCommands : public RankTables {};

TEST_F(TableCommands, OrderSaysWhatIsCrossedAndWritesWhatCrossesLeast) {
  const Ran before = ranktable("order " + file_ + " --network " + network_ + " -o json");
  ASSERT_EQ(before.exit_code, 0) << before.err;
  const Json report = Json::parse(before.out);
  EXPECT_EQ(report["levels"][0]["name"], "leaf");
  EXPECT_EQ(report["levels"][0]["crossings"], 4);
  EXPECT_EQ(report["levels"][0]["least"], 2);
  EXPECT_EQ(report["order"], Json::parse(R"(["a","c","b","d"])"));
  EXPECT_EQ(content("hccl.json"), table());
  ASSERT_EQ(ranktable("order " + file_ + " --network " + network_ + " --write").exit_code, 0);
  const Json after =
      Json::parse(ranktable("order " + file_ + " --network " + network_ + " -o json").out);
  EXPECT_EQ(after["levels"][0]["crossings"], 2);
  // Unknown members came along, and the lists follow the ranks.
  const Json written = Json::parse(content("hccl.json"));
  EXPECT_EQ(written["server_list"][1]["server_id"], "c");
  EXPECT_EQ(written["server_list"][1]["device"][0]["rank_id"], "2");
  EXPECT_EQ(written["server_list"][1]["note"], Json::parse(R"([1,{"x":null}])"));
  EXPECT_EQ(ranktable("lint --strict " + file_ + " --network " + network_).exit_code, 0);
}

TEST_F(TableCommands, OrderForLaunchers) {
  const std::string order = "order " + file_ + " --network " + network_ + " --to ";
  EXPECT_EQ(ranktable(order + "hostfile").out, "a slots=2\nc slots=2\nb slots=2\nd slots=2\n");
  EXPECT_EQ(ranktable(order + "master-addr").out, "a\n");
  EXPECT_EQ(ranktable(order + "nothing").exit_code, 2);
  EXPECT_EQ(ranktable("order " + file_).exit_code, 2);
  EXPECT_EQ(ranktable("order " + file_ + " --network " + folder_.at("missing")).exit_code, 3);
}

TEST_F(TableCommands, HostsThatTheNetworkDoesNotKnowAreSaid) {
  const std::string part = folder_.put("part.csv", "name,leaf\na,s1\nb,s2\n");
  const Ran out = ranktable("order " + file_ + " --network " + part + " -o json");
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_NE(out.err.find("2 of 4 hosts"), std::string::npos) << out.err;
  EXPECT_EQ(Json::parse(out.out)["unknown"], Json::parse(R"(["c","d"])"));
}

TEST_F(TableCommands, OrderNeedsAHostOfTheNetwork) {
  const std::string other = folder_.put("other.csv", "name,leaf\nx,s1\ny,s2\n");
  for (const char* form : {"", " --write", " --to hostfile", " -o json"}) {
    const Ran out = ranktable("order " + file_ + " --network " + other + form);
    EXPECT_EQ(out.exit_code, 3) << form;
    EXPECT_EQ(out.out, "") << form;
    EXPECT_NE(out.err.find("got other hosts only, such as \"a\""), std::string::npos) << out.err;
  }
  EXPECT_EQ(content("hccl.json"), table());
  EXPECT_EQ(ranktable("show " + file_ + " --network " + other).exit_code, 0);
}

TEST_F(TableCommands, ConvertForLaunchers) {
  EXPECT_EQ(ranktable("convert " + file_ + " --to hostfile").out,
            "a slots=2\nb slots=2\nc slots=2\nd slots=2\n");
  EXPECT_EQ(ranktable("convert " + file_ + " --to machinefile").out, "a:2\nb:2\nc:2\nd:2\n");
  EXPECT_EQ(ranktable("convert " + file_ + " --to slurm-hostfile").out, "a\na\nb\nb\nc\nc\nd\nd\n");
  // All cores of a package: slot=0 would be core 0 alone.
  const Ran rankfile = ranktable("convert " + file_ + " --to rankfile");
  EXPECT_EQ(rankfile.out.substr(0, 36), "rank 0=a slot=0:*\nrank 1=a slot=0:*\n");
  EXPECT_NE(rankfile.err.find("--cpu-packages"), std::string::npos) << rankfile.err;
  const Ran sockets = ranktable("convert " + file_ + " --to rankfile --cpu-packages 2");
  EXPECT_EQ(sockets.out.substr(0, 22), "rank 0=a slot=0:*;1:*\n");
  EXPECT_EQ(sockets.err, "");
  EXPECT_EQ(ranktable("convert " + file_ + " --to rankfile --cpu-packages 0").exit_code, 2);
  const std::string torchrun = ranktable("convert " + file_ + " --to torchrun").out;
  EXPECT_EQ(torchrun.substr(0, torchrun.find('\n')),
            "a torchrun --nnodes=4 --node_rank=0 --nproc_per_node=2 --master_addr=a");
}

TEST_F(TableCommands, ConvertSaysWhatIsLostAndRefusesToInvent) {
  const Ran super = ranktable("convert " + file_ + " --to hccl-1.2");
  EXPECT_EQ(super.exit_code, 1);
  EXPECT_NE(super.err.find("--server-index"), std::string::npos) << super.err;
  std::string flags = " --super-pod 7";
  for (const char* index : {"a=0", "b=1", "c=2", "d=3"}) {
    flags += std::string(" --server-index ") + index;
  }
  const Ran made =
      ranktable("convert " + file_ + " --to hccl-1.2" + flags + " --write " + folder_.at("v12"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Json v12 = Json::parse(content("v12"));
  EXPECT_EQ(v12["server_list"][1]["device"][1]["super_device_id"], "4259841");  // 1<<22|1<<16|1
  EXPECT_EQ(v12["super_pod_list"][0]["super_pod_id"], "7");
  const Ran back = ranktable("convert " + folder_.at("v12") + " --to hccl-1.0");
  EXPECT_NE(back.err.find("lost: super_pod_list"), std::string::npos) << back.err;
  EXPECT_EQ(Json::parse(back.out), Json::parse(table()));
  EXPECT_EQ(ranktable("convert " + file_ + " --to hccl-2.0").exit_code, 1);
  EXPECT_EQ(ranktable("convert " + file_ + " --to nothing").exit_code, 2);
  EXPECT_EQ(ranktable("convert " + file_ + " --to hccl-1.2 --server-index a").exit_code, 2);
  EXPECT_EQ(ranktable("convert " + file_ + " --to vllm-ascend --prefill-devices 8").exit_code, 2);
  EXPECT_EQ(ranktable("convert " + file_ + " --to vllm-ascend --prefill-devices 4").exit_code, 0);
}

TEST_F(TableCommands, AGlobalTableBecomesItsLocalOnes) {
  const std::string global = folder_.put(
      "global.json",
      R"({"version":"1.0","status":"completed","server_group_list":[{"group_id":"0","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1"}]},{"group_id":"1","server_count":"1","server_list":[{"server_id":"10.0.0.1","server_ip":"10.0.0.1","device":[{"device_id":"4","device_ip":"10.2.0.1","rank_id":"0"},{"device_id":"5","device_ip":"10.2.0.2","rank_id":"1"}]}]}]})");
  const std::string to_local = "convert " + global + " --to modelarts-local";
  EXPECT_EQ(ranktable(to_local).exit_code, 2);
  ASSERT_EQ(ranktable(to_local + " --save-dir " + folder_.at("")).exit_code, 0);
  EXPECT_EQ(std::filesystem::status(folder_.at("local_ranktable_10.0.0.1_45.json")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(ranktable("convert " + global + " --to hccl-1.0 --save-dir /tmp").exit_code, 2);
  const std::string local = folder_.at("local_ranktable_10.0.0.1_45.json");
  EXPECT_EQ(Json::parse(content("local_ranktable_10.0.0.1_host.json"))["group_id"], "0");
  EXPECT_EQ(ranktable("lint --profile modelarts " + local + " --against " + global).exit_code, 0);
  const Ran one = ranktable("convert " + global + " --to hccl-1.0 --instance 0");
  EXPECT_EQ(Json::parse(one.out)["server_list"][0]["device"].size(), 2U) << one.err;
  EXPECT_EQ(ranktable("convert " + global + " --to hccl-1.0 --instance 1").exit_code, 2);
}

TEST_F(TableCommands, DiffAndHashAgree) {
  const auto differ = [&](const std::string& name, Json changed, const std::string& where,
                          const std::string& what) {
    const std::string both = file_ + " " + folder_.put(name, changed.dump());
    EXPECT_EQ(ranktable("hash " + both).exit_code, 1) << name;
    const Ran out = ranktable("diff " + both + " -o json");
    EXPECT_EQ(out.exit_code, 1) << name;
    const Json report = Json::parse(out.out);
    ASSERT_EQ(report["differences"].size(), 1U) << out.out;
    EXPECT_EQ(report["differences"][0]["where"], where) << out.out;
    EXPECT_EQ(report["differences"][0]["what"], what) << out.out;
  };
  Json table = Json::parse(content("hccl.json"));
  std::swap(table["server_list"][0], table["server_list"][3]);
  differ("servers", table, "/server_list", "order of the list");
  table = Json::parse(content("hccl.json"));
  std::swap(table["server_list"][2]["device"][0], table["server_list"][2]["device"][1]);
  differ("devices", table, "/server_list/2/device", "order of the list");
  table = Json::parse(content("hccl.json"));
  table["server_count"] = "5";
  differ("count", table, "/server_count", "value");
  table = Json::parse(content("hccl.json"));
  table["server_list"][1]["note"] = Json::array();
  differ("note", table, "server b", "note");
}

TEST_F(TableCommands, DiffAndHashGoByMeaning) {
  const std::string compact =
      folder_.put("compact.json", Json::parse(table()).dump());  // members sorted, no blanks
  EXPECT_EQ(ranktable("diff " + file_ + " " + compact).exit_code, 0);
  EXPECT_EQ(ranktable("hash " + file_ + " " + compact).exit_code, 0);
  std::string text = table();
  text.replace(text.find("10.1.0.3"), 8, "10.1.0.7");
  const std::string other = folder_.put("other.json", text);
  const Ran diff = ranktable("diff " + file_ + " " + other + " -o json");
  EXPECT_EQ(diff.exit_code, 1);
  const Json report = Json::parse(diff.out);
  EXPECT_FALSE(report["equal"]);
  ASSERT_EQ(report["differences"].size(), 1U);
  EXPECT_EQ(report["differences"][0]["what"], "device_ip");
  EXPECT_EQ(report["differences"][0]["b"], "10.1.0.7");
  EXPECT_EQ(ranktable("hash " + file_ + " " + other).exit_code, 1);
  EXPECT_EQ(ranktable("diff " + file_ + " " + folder_.at("missing")).exit_code, 3);
  EXPECT_EQ(ranktable("diff " + file_ + " " + folder_.put("bad.json", "{")).exit_code, 1);
}

TEST_F(TableCommands, ShowHasARowARunOfRanks) {
  const Ran out = ranktable("show " + file_ + " --network " + network_);
  ASSERT_EQ(out.exit_code, 0) << out.err;
  EXPECT_NE(out.out.find("hccl-1.0, status completed, 8 ranks"), std::string::npos) << out.out;
  EXPECT_NE(out.out.find("0-1"), std::string::npos);
  EXPECT_NE(out.out.find("leaf: crossed 4 times, 2 is the minimum\n"), std::string::npos)
      << out.out;
  const Json json = Json::parse(ranktable("show " + file_ + " -o json").out);
  EXPECT_EQ(json["ranks"], 8);
  EXPECT_EQ(json["ring"].size(), 4U);
  EXPECT_EQ(ranktable("show " + folder_.put("bad.json", "[]")).exit_code, 1);
}

}  // namespace
}  // namespace chipweave
