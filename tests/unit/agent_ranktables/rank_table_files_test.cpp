// From the pods of a node and the ConfigMaps of their jobs to files.
#include "node-agent/ranktables/rank_table_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "common/io/files.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using std::chrono::seconds;

const std::string kInitial = R"({"status":"initializing"})";
const std::string kPods = "/api/v1/namespaces/train/pods/";

std::string complete(const std::string& host) {
  return R"({"status":"completed","server_list":[{"server_id":")" + host + R"("}]})";
}

class RankTableFilesTest : public testing::Test {
 protected:
  std::string base() const { return temp_.at("base"); }
  std::string file(const std::string& job, const std::string& name = "hccl.json") const {
    return base() + "/train." + job + "/" + name;
  }
  std::string table(const std::string& job) const { return text(file(job)); }
  static std::string text(const std::string& path) {
    auto out = io::read_file(path, 4U << 20U);
    return out ? *out : "-";
  }

  Json pod(const std::string& name, const std::string& job, const std::string& folder) {
    return {{"metadata",
             {{"name", name},
              {"namespace", "train"},
              {"uid", name + "-" + std::to_string(++uids_)},
              {"labels", {{"volcano.sh/job-name", job}}}}},
            {"spec",
             {{"nodeName", "n1"},
              {"volumes",
               Json::array({Json{{"name", "data"}, {"emptyDir", Json::object()}},
                            Json{{"name", "ranktable"}, {"hostPath", {{"path", folder}}}}})}}},
            {"status", {{"phase", "Pending"}}}};
  }
  void put_pod(const std::string& name, const std::string& job) {
    api_.put(kPods + name, pod(name, job, base() + "/train." + job));
  }
  void end_pod(const std::string& name, const char* phase) {
    Json ended = api_.objects[kPods + name];
    ended["status"]["phase"] = phase;
    api_.put(kPods + name, ended);
  }
  void remove(const std::string& path) {
    const Json& metadata = api_.objects[path]["metadata"];
    const Json options = {
        {"preconditions",
         {{"uid", metadata["uid"]}, {"resourceVersion", metadata["resourceVersion"]}}}};
    EXPECT_EQ(api_.answer(kube::call_of("DELETE", path, options.dump())).status, 200);
  }
  static std::string map_path(const std::string& job) {
    return "/api/v1/namespaces/train/configmaps/rings-config-" + job;
  }
  void put_table(const std::string& job, const std::string& table, const std::string& version) {
    api_.put(map_path(job), {{"metadata", {{"name", "rings-config-" + job}, {"uid", "cm-" + job}}},
                             {"data", {{"hccl.json", table}, {"version", version}}}});
  }
  // A new run of the agent; the one before ends without a word, as with kill -9.
  void start(std::vector<std::string> namespaces = {"train"}) {
    files_.reset();
    files_ = std::make_unique<RankTableFiles>(api_, RankTableOptions{std::move(namespaces), base()},
                                              "n1", ++seed_);
    files_->start();
    pass(seconds(1));
  }
  void pass(std::chrono::milliseconds time) { api_.advance(time); }
  std::size_t requests(const std::string& what) const {
    return static_cast<std::size_t>(std::count(api_.log.begin(), api_.log.end(), what));
  }
  std::vector<std::size_t> counts() const {
    const auto now = files_->counts();
    return {now.initializing, now.completed, now.failed};
  }

  io::TempFolder temp_;
  ManualClock clock_;
  FakeApi api_{clock_};
  std::uint64_t seed_ = 0;
  int uids_ = 0;
  std::unique_ptr<RankTableFiles> files_;
};

using Counts = std::vector<std::size_t>;

TEST_F(RankTableFilesTest, FollowTheConfigMapWhilePodsAreHere) {
  start();
  EXPECT_EQ(counts(), (Counts{0, 0, 0}));
  put_pod("a-0", "a");
  pass(seconds(0));
  EXPECT_EQ(table("a"), kInitial) << "before the ConfigMap is there";
  EXPECT_EQ(text(file("a", "version")), "0");
  EXPECT_EQ(counts(), (Counts{1, 0, 0}));

  put_table("a", complete("h1"), "1767323045");
  pass(seconds(11));
  EXPECT_EQ(table("a"), complete("h1"));
  EXPECT_EQ(text(file("a", "version")), "1767323045");
  EXPECT_EQ(counts(), (Counts{0, 1, 0}));

  put_table("a", kInitial, "1767323046");  // a pod was lost
  pass(seconds(31));
  EXPECT_EQ(table("a"), kInitial);
  put_table("a", complete("h2"), "1767323047");
  pass(seconds(11));
  EXPECT_EQ(table("a"), complete("h2"));

  remove(kPods + "a-0");
  pass(seconds(1));
  EXPECT_EQ(table("a"), kInitial) << "the next pods of this name must not read it";
  EXPECT_EQ(counts(), (Counts{0, 0, 0}));
  pass(seconds(57));
  EXPECT_EQ(table("a"), kInitial);
  pass(seconds(4));
  EXPECT_FALSE(fs::exists(base() + "/train.a"));
  EXPECT_TRUE(fs::is_empty(base() + "/.chipweave"));
}

TEST_F(RankTableFilesTest, ReadTheWholeConfigMapOnlyWhenItHasChanged) {
  put_table("a", complete("h1"), "1");
  put_pod("a-0", "a");
  put_pod("a-1", "a");
  start();
  EXPECT_EQ(table("a"), complete("h1"));
  EXPECT_EQ(requests("GET " + map_path("a")), 1U) << "two pods at once are one request";
  pass(seconds(300));
  EXPECT_EQ(requests("GET " + map_path("a")), 1U);
  const std::size_t checks = requests("GET " + map_path("a") + "?resourceVersion=0");
  EXPECT_GE(checks, 9U);
  EXPECT_LE(checks, 21U);
  put_table("a", complete("h2"), "2");
  pass(seconds(31));
  EXPECT_EQ(requests("GET " + map_path("a")), 2U);
  EXPECT_EQ(table("a"), complete("h2"));
}

TEST_F(RankTableFilesTest, AreKeptForEachJobByItself) {
  put_table("a", complete("ha"), "1");
  put_pod("a-0", "a");
  put_pod("b-0", "b");
  start();
  EXPECT_EQ(table("a"), complete("ha"));
  EXPECT_EQ(table("b"), kInitial);
  EXPECT_EQ(counts(), (Counts{1, 1, 0}));
  remove(kPods + "a-0");
  put_table("b", complete("hb"), "1");
  pass(seconds(62));
  EXPECT_FALSE(fs::exists(base() + "/train.a"));
  EXPECT_EQ(table("b"), complete("hb"));
}

TEST_F(RankTableFilesTest, OfOtherNamespacesNodesAndVolumesAreNotWritten) {
  const std::string other = "/api/v1/namespaces/other/pods/x-0";
  Json foreign = pod("x-0", "x", base() + "/other.x");
  foreign["metadata"]["namespace"] = "other";
  api_.put(other, foreign);
  Json elsewhere = pod("y-0", "y", base() + "/train.y");
  elsewhere["spec"]["nodeName"] = "n2";
  api_.put(kPods + "y-0", elsewhere);
  Json mounts_map = pod("z-0", "z", "");
  mounts_map["spec"]["volumes"] =
      Json::array({Json{{"name", "ranktable"}, {"configMap", {{"name", "m"}}}}});
  api_.put(kPods + "z-0", mounts_map);
  start();
  for (const char* name : {"other.x", "train.x", "train.y", "train.z"})
    EXPECT_FALSE(fs::exists(base() + "/" + name)) << name;
  start({"train", "other"});
  EXPECT_EQ(text(base() + "/other.x/hccl.json"), kInitial);
}

TEST_F(RankTableFilesTest, HostilePathsAndNamesLeadNowhere) {
  const std::string outside = temp_.put("outside/hccl.json", "untouched");
  int number = 0;
  for (const std::string& folder :
       {temp_.at("outside"), base() + "/train.b", base() + "/train.a/..", base(),
        std::string("train.a"), base() + "/train.a/../../outside", std::string()}) {
    const std::string name = "a-" + std::to_string(++number);
    api_.put(kPods + name, pod(name, "a", folder));
  }
  for (const std::string& job : {std::string("../outside"), std::string(".."), std::string("A_b"),
                                 std::string(300, 'x'), std::string("x/y")}) {
    const std::string name = "b-" + std::to_string(++number);
    api_.put(kPods + name, pod(name, job, base() + "/train." + job));
  }
  start();
  EXPECT_EQ(text(outside), "untouched");
  std::vector<std::string> made;
  for (const auto& entry : fs::directory_iterator(base())) made.push_back(entry.path().filename());
  EXPECT_EQ(made, std::vector<std::string>{".chipweave"});
  // The same with a slash at its end is that folder.
  api_.put(kPods + "c-0", pod("c-0", "c", base() + "/train.c/"));
  pass(seconds(1));
  EXPECT_EQ(table("c"), kInitial);
}

TEST_F(RankTableFilesTest, OfAnEarlierJobOfTheNameAreNotBelieved) {
  // By another program, or by a run of which there is no record.
  temp_.put("base/train.a/hccl.json", complete("old"));
  api_.unanswered = "configmaps";
  put_pod("a-0", "a");
  start();
  EXPECT_EQ(table("a"), kInitial);

  // By ours, for pods that are gone since it was killed.
  api_.unanswered.clear();
  put_table("a", complete("h1"), "5");
  pass(seconds(20));
  ASSERT_EQ(table("a"), complete("h1"));
  files_.reset();
  remove(kPods + "a-0");
  put_pod("a-0", "a");  // the same name, another pod
  api_.unanswered = "configmaps";
  start();
  EXPECT_EQ(table("a"), kInitial);
  EXPECT_EQ(text(file("a", "version")), "0");
}

TEST_F(RankTableFilesTest, StayOverARestartWhileAPodOfTheirsIsHere) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  put_pod("a-1", "a");
  start();
  remove(kPods + "a-0");
  api_.unanswered = "configmaps";
  start();
  EXPECT_EQ(table("a"), complete("h1"));
  put_pod("a-0", "a");  // another pod, which the list has before the one that stayed
  start();
  EXPECT_EQ(table("a"), complete("h1"));
  api_.unanswered.clear();
  remove(map_path("a"));
  start();
  EXPECT_EQ(table("a"), complete("h1")) << "without its ConfigMap, too";
}

TEST_F(RankTableFilesTest, AfterAKillAtAnyPointBecomeRight) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  start();
  files_.reset();
  const std::string record = text(base() + "/.chipweave/train.a");
  put_table("a", complete("h2"), "6");
  const TableFolder folder(base());
  for (int writes = 0; writes <= 3; ++writes) {
    SCOPED_TRACE(writes);
    temp_.put("base/train.a/hccl.json", complete("h1"));
    temp_.put("base/train.a/version", "5");
    temp_.put("base/.chipweave/train.a", record);
    temp_.put("base/.chipweave/new", "half");
    // What an update does, as far as it came: start() alone makes the record of the new table.
    start();
    files_.reset();
    EXPECT_EQ(table("a"), complete("h2"));
    const std::string updated = text(base() + "/.chipweave/train.a");
    temp_.put("base/train.a/hccl.json", complete(writes >= 2 ? "h2" : "h1"));
    temp_.put("base/train.a/version", writes >= 3 ? "6" : "5");
    temp_.put("base/.chipweave/train.a", writes >= 1 ? updated : record);
    start();
    EXPECT_EQ(table("a"), complete("h2"));
    EXPECT_EQ(text(file("a", "version")), "6");
    EXPECT_FALSE(fs::exists(base() + "/.chipweave/new"));
  }
}

TEST_F(RankTableFilesTest, OfJobsThatEndedWhileTheAgentWasAwayAreRemoved) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  put_pod("b-0", "b");
  temp_.put("base/train.c/hccl.json", complete("not ours"));
  temp_.put("base/elsewhere.d/hccl.json", complete("not ours"));
  start();
  files_.reset();
  remove(kPods + "a-0");
  start();
  EXPECT_EQ(table("a"), kInitial);
  pass(seconds(61));
  EXPECT_FALSE(fs::exists(base() + "/train.a"));
  EXPECT_EQ(table("b"), kInitial);
  EXPECT_EQ(table("c"), complete("not ours"));
  EXPECT_EQ(text(base() + "/elsewhere.d/hccl.json"), complete("not ours"));
}

TEST_F(RankTableFilesTest, StayWhenAPodComesAgainBeforeTheyAreRemoved) {
  put_pod("a-0", "a");
  start();
  remove(kPods + "a-0");
  pass(seconds(55));
  put_pod("a-1", "a");
  pass(seconds(20));
  EXPECT_EQ(table("a"), kInitial);
  // And when the watch has missed it: the list before the removal has it.
  remove(kPods + "a-1");
  pass(seconds(1));
  api_.objects[kPods + "a-2"] = pod("a-2", "a", base() + "/train.a");
  api_.objects[kPods + "a-2"]["metadata"]["resourceVersion"] = "77";
  pass(seconds(70));
  EXPECT_EQ(table("a"), kInitial);
  api_.objects.erase(kPods + "a-2");
  pass(seconds(61));
  EXPECT_FALSE(fs::exists(base() + "/train.a"));
}

TEST_F(RankTableFilesTest, OfPodsThatEndedDoNotCount) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  put_pod("a-1", "a");
  start();
  end_pod("a-0", "Succeeded");
  pass(seconds(5));
  EXPECT_EQ(table("a"), complete("h1"));
  end_pod("a-1", "Failed");
  pass(seconds(62));
  EXPECT_FALSE(fs::exists(base() + "/train.a"));
}

TEST_F(RankTableFilesTest, ThatAnotherProgramWritesAreLeftToIt) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  start();
  ASSERT_EQ(counts(), (Counts{0, 1, 0}));
  temp_.put("base/train.a/hccl.json", complete("theirs"));
  put_table("a", complete("h2"), "6");
  pass(seconds(65));
  EXPECT_EQ(table("a"), complete("theirs"));
  EXPECT_EQ(counts(), (Counts{0, 0, 1}));
  temp_.put("base/train.a/hccl.json", kInitial);
  pass(seconds(31));
  EXPECT_EQ(table("a"), complete("h2"));
  EXPECT_EQ(counts(), (Counts{0, 1, 0}));
  fs::remove(file("a"));
  pass(seconds(31));
  EXPECT_EQ(table("a"), complete("h2"));
  // Nor removed.
  temp_.put("base/train.a/hccl.json", complete("theirs"));
  remove(kPods + "a-0");
  pass(seconds(70));
  EXPECT_EQ(table("a"), complete("theirs"));
  EXPECT_TRUE(fs::is_empty(base() + "/.chipweave"));
}

TEST_F(RankTableFilesTest, ThatAreNoTablesAreNotWritten) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  start();
  for (const auto& [bad, version] : std::vector<std::pair<std::string, std::string>>{
           {"{\"status\":", "6"},
           {"[]", "6"},
           {R"({"status":"completed","pad":")" + std::string(1U << 20U, 'x') + "\"}", "6"},
           {complete("h2"), "six"},
           {complete("h2"), std::string(21, '9')}}) {
    put_table("a", bad, version);
    pass(seconds(31));
    EXPECT_EQ(table("a"), complete("h1")) << bad.substr(0, 40);
    EXPECT_EQ(text(file("a", "version")), "5");
    EXPECT_EQ(counts(), (Counts{0, 0, 1}));
  }
  put_table("a", complete("h2"), "7");
  pass(seconds(31));
  EXPECT_EQ(table("a"), complete("h2"));
  EXPECT_EQ(counts(), (Counts{0, 1, 0}));
}

TEST_F(RankTableFilesTest, ThatAContainerReplacedByALinkAreNotFollowed) {
  const std::string outside = temp_.put("outside/secret", "untouched");
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  put_pod("b-0", "b");
  start();
  fs::remove(file("a"));
  fs::create_symlink(outside, file("a"));
  put_table("a", complete("h2"), "6");
  put_table("b", complete("hb"), "6");
  pass(seconds(40));
  EXPECT_EQ(text(outside), "untouched");
  EXPECT_EQ(table("b"), complete("hb")) << "other jobs have theirs";
  EXPECT_EQ(counts(), (Counts{0, 1, 1}));
  remove(kPods + "a-0");
  pass(seconds(70));
  EXPECT_EQ(text(outside), "untouched");
  EXPECT_TRUE(fs::is_symlink(file("a"))) << "what is not ours stays";
}

TEST_F(RankTableFilesTest, SurviveAnApiServerThatIsAway) {
  put_table("a", complete("h1"), "5");
  put_pod("a-0", "a");
  start();
  api_.set_down(true);
  pass(seconds(120));
  EXPECT_EQ(table("a"), complete("h1"));
  EXPECT_EQ(counts(), (Counts{0, 0, 1}));
  api_.set_down(false);
  pass(seconds(60));
  EXPECT_EQ(counts(), (Counts{0, 1, 0}));
}

}  // namespace
}  // namespace chipweave::agent
