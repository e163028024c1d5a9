// chipweave defrag, as scripts see it: table, JSON, exit codes, which stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"
#include "tests/component/programs/run_on_terminal.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kFreesNothing = 1;

// Two racks of two nodes of 8 chips; one pod cannot move.
class DefragCommand : public testing::Test {
 protected:
  DefragCommand() {
    folder_.put("net.json", R"({"levels":["block","rack"],"nodes":[)"
                            R"({"name":"x1","path":["b1","r1"],"free":6},)"
                            R"({"name":"x2","path":["b1","r1"],"free":4},)"
                            R"({"name":"x3","path":["b1","r2"],"free":4},)"
                            R"({"name":"x4","path":["b1","r2"],"free":2}]})");
    folder_.put("pods.json", R"([{"name":"a","node":"x1","chips":2,"movable":true},)"
                             R"({"name":"b","node":"x2","chips":4,"movable":true},)"
                             R"({"name":"c","node":"x3","chips":4,"movable":true,"gang":"j"},)"
                             R"({"name":"d","node":"x4","chips":6}])");
    folder_.put("gang.json", R"({"pods":2,"chips_per_pod":8,"required_level":"rack"})");
  }
  Outcome defrag(const std::string& arguments) const {
    return run("cd " + folder_.path() + " && %B/chipweave defrag " + arguments + " 2>&1");
  }
  static Outcome batch(const std::string& line) {
    return run("echo '" + line + "' | %B/chipweave defrag --batch - 2>&1");
  }

  io::TempFolder folder_;
};

TEST_F(DefragCommand, PrintsTheGainAndTheMoves) {
  const Outcome out = defrag("--network net.json --pods pods.json --level rack --gang gang.json");
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(out.text,
            "frees 1 rack: b1/r1\n"
            "free: 0 before, 1 after\n"
            "largest gang of free nodes with 8 chips in one block 0 -> 2, rack 0 -> 2\n"
            "gang before: does not fit (needs room for 2 pods of 8 chips in one rack; the best, "
            "b1/r1, has room\n"
            "  for 0); after: fits: 2 pods on block 1, rack 1\n"
            "moves 2 pods with 6 chips (proven the best)\n"
            "\n"
            "POD  FROM  TO  CHIPS\n"
            "a    x1    x4  2\n"
            "b    x2    x3  4\n");
}

TEST_F(DefragCommand, JsonIsTheAnswerOfTheBatchForm) {
  const Outcome out = defrag("--network net.json --pods pods.json --domains 1 -o json");
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(out.text,
            R"({"id":null,"frees":true,"freed":[{"path":["b1","r1"],"nodes":["x1"]}],"moves":[)"
            R"({"pod":"a","from":"x1","to":"x4","chips":2,"step":1}],"pods_moved":1,)"
            R"("chips_moved":2,"gangs":[],"optimal":true,"reason":"","gain":{"free_before":0,)"
            R"("free_after":1,"whole_node_chips":8,"whole_nodes_before":{"block":0,"rack":0},)"
            R"("whole_nodes_after":{"block":1,"rack":1}}})"
            "\n");
}

TEST_F(DefragCommand, SaysWhyNothingBecomesFree) {
  const Outcome none = defrag("--network net.json --pods pods.json --level block");
  EXPECT_EQ(none.code, kFreesNothing);
  EXPECT_EQ(none.text, "chipweave: frees nothing: no block in use holds movable pods only\n");
  folder_.put("one.json", R"([{"name":"a","node":"x1","chips":7,"movable":true}])");
  const Outcome full = defrag("--network net.json --pods one.json");
  EXPECT_EQ(full.text, "chipweave: frees nothing: the pods of no node fit on other nodes\n");
  folder_.put("none.json", "[]");
  const Outcome unused = defrag("--network net.json --pods none.json");
  EXPECT_EQ(unused.text, "chipweave: frees nothing: no node is in use\n");
  const Outcome json = defrag("--network net.json --pods none.json -o json");
  EXPECT_EQ(json.code, kFreesNothing);
  EXPECT_THAT(json.text, HasSubstr(R"("frees":false,"freed":[],"moves":[])"));
}

TEST_F(DefragCommand, KeepsToMaxMoves) {
  EXPECT_THAT(
      defrag("--network net.json --pods pods.json --level rack --max-moves 1").text,
      StartsWith("chipweave: frees nothing: no rack in use holds movable pods only, at most "
                 "max_moves"));
  EXPECT_THAT(defrag("--network net.json --pods pods.json --max-moves 1").text,
              StartsWith("frees 1 node: x1\n"));
}

TEST_F(DefragCommand, ReadsAnyNetwork) {
  folder_.put("net.csv", "name,rack\nn1,r1\nn2,r1\nn3,r2\n");
  folder_.put("few.json", R"([{"name":"a","node":"n1","chips":2,"movable":true},)"
                          R"({"name":"b","node":"n3","chips":2,"movable":true}])");
  EXPECT_THAT(defrag("--network net.csv --free 6 --pods few.json").text,
              HasSubstr("a    n1    n3  2\n"));
}

// Chips of moved pods are legal on the new node, which is of the same vendor.
TEST_F(DefragCommand, DealsChipsOnMachines) {
  const Outcome out =
      batch(R"({"id":1,"network":{"levels":["rack"],"nodes":[)"
            R"({"name":"x1","path":["r1"],"machine":"ascend-910a-8"},)"
            R"({"name":"x2","path":["r1"],"machine":"ascend-910a-8","free_chips":[0,1,2,5,6,7]},)"
            R"({"name":"y1","path":["r1"],"machine":"hgx-v100-8"}]},"pods":[)"
            R"({"name":"a","node":"x1","chips":[0,1],"movable":true},)"
            R"({"name":"b","node":"x2","chips":[3],"movable":true},)"
            R"({"name":"c","node":"y1","chips":[0,1],"movable":true}]})");
  EXPECT_EQ(out.code, 0);
  // Chip 4 of x2 belongs to a pod that is not listed, so x2 cannot become free.
  EXPECT_THAT(out.text, HasSubstr(R"("freed":[{"path":["r1"],"nodes":["x1"]}])"));
  EXPECT_THAT(out.text, HasSubstr(R"({"pod":"a","from":"x1","to":"x2","chips":[)"));
  EXPECT_THAT(out.text, HasSubstr(R"("gbps_before":)"));
  EXPECT_THAT(out.text, Not(HasSubstr("y1")));
}

TEST_F(DefragCommand, RefusesChipsThatAreTakenOrUnknown) {
  const auto with = [](const std::string& free, const std::string& pods) {
    return batch(R"({"network":{"levels":["rack"],"nodes":[{"name":"x","machine":"hgx-v100-8")" +
                 free + R"(}]},"pods":[)" + pods + "]}")
        .text;
  };
  EXPECT_THAT(with("", R"({"name":"p","node":"x","chips":[9]})"),
              HasSubstr("pods.p: chips: hgx-v100-8 has no chip 9"));
  EXPECT_THAT(
      with("", R"({"name":"p","node":"x","chips":[1]},{"name":"q","node":"x","chips":[1]})"),
      HasSubstr("pods.q: chips: has chip 1, which is free or held by another pod"));
  EXPECT_THAT(with(R"(,"free_chips":[1,2])", R"({"name":"p","node":"x","chips":[2]})"),
              HasSubstr("pods.p: chips: has chip 2, which is free or held by another pod"));
}

// The pods' chips are not free for the gang before the moves, and those of freed nodes are after.
TEST_F(DefragCommand, PlansTheGangDownToTheChips) {
  const Outcome out = batch(R"({"network":{"levels":["rack"],"nodes":[)"
                            R"({"name":"x1","path":["r1"],"machine":"hgx-h100-8"},)"
                            R"({"name":"x2","path":["r1"],"machine":"hgx-h100-8"}]},"pods":[)"
                            R"({"name":"a","node":"x1","chips":[0,1],"movable":true},)"
                            R"({"name":"b","node":"x2","chips":[4,5,6],"movable":true}],)"
                            R"("gang":{"pods":1,"chips_per_pod":8}})");
  EXPECT_THAT(out.text, HasSubstr(R"("gang_before":{"fits":false)"));
  EXPECT_THAT(out.text,
              HasSubstr(R"("gang_after":{"fits":true,"placed":1,"domains":{"rack":1},"gbps":)"));
}

TEST_F(DefragCommand, NamesTheFileOrFlagOfAnError) {
  EXPECT_EQ(defrag("--network net.json --pods pods.json --level zone").code, kWrongUsage);
  EXPECT_THAT(defrag("--network net.json --pods pods.json --level zone").text,
              StartsWith("chipweave: --level: target.level"));
  folder_.put("bad.json", R"([{"name":"a","node":"x9","chips":2}])");
  const Outcome unknown = defrag("--network net.json --pods bad.json");
  EXPECT_EQ(unknown.code, kUnreadable);
  EXPECT_THAT(unknown.text, AllOf(HasSubstr("bad.json"), HasSubstr(R"(unknown node "x9")")));
  folder_.put("object.json", R"({"pods":[]})");
  EXPECT_THAT(defrag("--network net.json --pods object.json").text,
              AllOf(HasSubstr("object.json"), HasSubstr("list of running pods")));
  folder_.put("bad_gang.json", R"({"pods":2})");
  EXPECT_THAT(defrag("--network net.json --pods pods.json --gang bad_gang.json").text,
              HasSubstr("bad_gang.json"));
  EXPECT_EQ(defrag("--network missing.json --pods pods.json").code, kUnreadable);
  EXPECT_EQ(defrag("--network net.json").code, kWrongUsage);
  EXPECT_EQ(defrag("--network - --pods - </dev/null").code, kWrongUsage);
}

TEST_F(DefragCommand, BatchGoesOnAfterAnUnusableLine) {
  const Outcome out = run(
      R"(printf '%s\n' '{"id":1}' '{"id":2,"network":{"levels":["r"],"nodes":[{"name":"x","free":1}]},"pods":[]}')"
      " | %B/chipweave defrag --batch - --timing 2>&1");
  EXPECT_EQ(out.code, 1);
  EXPECT_THAT(out.text, HasSubstr(R"({"id":1,"error":)"));
  EXPECT_THAT(out.text, HasSubstr(R"({"id":2,"frees":false)"));
  EXPECT_THAT(out.text, HasSubstr(R"({"decisions":1,)"));
}

TEST_F(DefragCommand, LongTablesAreCutOnATerminal) {
  std::string nodes = R"({"levels":["r"],"nodes":[{"name":"big","free":500})";
  std::string pods = "[";
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    nodes += R"(,{"name":"n)" + n + R"(","free":1})";
    pods += (i == 0 ? "" : ",") + std::string(R"({"name":"p)") + n + R"(","node":"n)" + n +
            R"(","chips":1,"movable":true})";
  }
  folder_.put("long.json", nodes + "]}");
  folder_.put("many.json", pods + R"(,{"name":"fixed","node":"big","chips":1}])");
  const std::string flags = "--network long.json --pods many.json";
  const Outcome out =
      run_on_terminal("cd " + folder_.path() + " && NO_COLOR=1 %B/chipweave defrag " + flags, 100);
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("20 more moves left out: -o json has all\n"));
  EXPECT_THAT(out.text, StartsWith("frees 60 nodes: n0, n1, n2, n3, n4, n5, n6, n7, ...\n"));
  EXPECT_THAT(defrag(flags).text,
              AllOf(HasSubstr("\np59  n59   big  1\n"), Not(HasSubstr("left out"))));
}

}  // namespace
}  // namespace chipweave
