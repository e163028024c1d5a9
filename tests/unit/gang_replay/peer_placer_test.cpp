// Gangs placed by another program: shell scripts that answer what they should, or not.
#include "bench/gang_replay/peer_placer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/unit/simulate/small_fabric.hpp"

namespace chipweave::bench {
namespace {

using simulate::GangSeats;
using simulate::test::gang;
using testing::HasSubstr;

constexpr std::chrono::seconds kEnough{30};

class Peer : public testing::Test {
 protected:
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }

  static std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }
  // A program that gives this answer to every line.
  static std::vector<std::string> answers(const std::string& answer) {
    return shell("while read -r line; do echo '" + answer + "'; done");
  }
  Result<std::optional<GangSeats>> placed(std::vector<std::string> words,
                                          std::chrono::milliseconds deadline = kEnough) const {
    PeerProgram program(std::move(words), deadline);
    PeerPlacer placer(program, simulate::test::kLevels);
    return placer.place(fabric_, two_);
  }
  std::string complaint(const std::string& answer) const {
    const auto seats = placed(answers(answer));
    return seats ? "" : seats.error().text();
  }

  // Nodes whose paths end in their names, as the answers of peers name them.
  static solver::Fabric fabric() {
    solver::Fabric out(2);
    for (const char* name : {"n0", "n1", "n2"}) out.set_free(out.add(name, {"r", name}).value(), 8);
    return out;
  }
  const solver::Fabric fabric_ = fabric();
  const domain::TraceGang two_ = gang(2, 8);
};

TEST_F(Peer, ReadsAssignments) {
  const auto seats = placed(answers(R"({"id":"1","fits":true,"assignment":{"r/n2":1,"r/n0":1}})"));
  ASSERT_TRUE(seats.ok()) << seats.error().text();
  EXPECT_EQ(*seats, (GangSeats{2, 0}));
  const auto none = placed(answers(R"({"id":"1","fits":false,"assignment":{}})"));
  ASSERT_TRUE(none.ok()) << none.error().text();
  EXPECT_EQ(*none, std::nullopt);
}

TEST_F(Peer, RanksOfTheAnswerCount) {
  const auto seats = placed(
      answers(R"({"id":"1","fits":true,"pods":[{"rank":1,"node":"n0"},{"rank":0,"node":"n1"}]})"));
  ASSERT_TRUE(seats.ok()) << seats.error().text();
  EXPECT_EQ(*seats, (GangSeats{1, 0}));
}

TEST_F(Peer, SendsWhatIsFreeNow) {
  // Places pods only if the line has what the fabric has.
  PeerProgram program(shell(R"(n=0; while read -r line; do n=$((n+1)); case $line in
    *'"name":"n0","path":["r","n0"],"free":8}'*'"pods":2,"chips_per_pod":8,"required_level":"block"'*)
      echo '{"id":"'$n'","fits":true,"assignment":{"r/n0":2}}';;
    *'"free":3'*'"free":8,"healthy":false}'*'"free":8,"max_pods":1}'*)
      echo '{"id":"'$n'","fits":true,"assignment":{"r/n2":1}}';;
    *) echo '{"id":"'$n'","fits":false}';; esac; done)"),
                      kEnough);
  PeerPlacer placer(program, simulate::test::kLevels);
  solver::Fabric on = fabric();
  domain::TraceGang inside = two_;
  inside.required_level = 0;
  EXPECT_EQ(placer.place(on, inside).value(), (GangSeats{0, 0}));
  on.set_free(0, 3);
  on.set_healthy(1, false);
  on.set_max_pods(2, 1);
  EXPECT_EQ(placer.place(on, gang(1, 8)).value(), GangSeats{2});
}

TEST_F(Peer, RefusesAnswersThatMeanNothing) {
  EXPECT_THAT(complaint("hello"), HasSubstr("1"));
  for (const char* answer : {
           R"({"id":"1"})",
           R"({"id":"2","fits":false})",
           R"({"id":"1","fits":true,"error":{"code":"x"}})",
           R"({"id":"1","fits":true,"assignment":{"r/n9":2}})",
           R"({"id":"1","fits":true,"assignment":{"r/n0":-1}})",
           R"({"id":"1","fits":true,"assignment":{"r/n0":1,"r/n1":100000000000}})",
           R"({"id":"1","fits":true,"pods":[{"rank":2,"node":"n0"}]})",
           R"({"id":"1","fits":true,"pods":[{"rank":0,"node":"n9"}]})",
       })
    EXPECT_THAT(complaint(answer), HasSubstr("cannot be used")) << answer;
}

TEST_F(Peer, EndsWithAProgramThatDoesNotAnswer) {
  EXPECT_EQ(placed({"/no/such/program"}).error().code, Errc::not_found);
  EXPECT_EQ(placed(shell("exit 0")).error().code, Errc::unavailable);
  EXPECT_EQ(placed(shell("read -r line; exit 0")).error().code, Errc::unavailable);
  EXPECT_EQ(
      placed(shell("read -r line; exec sleep 600"), std::chrono::milliseconds(50)).error().code,
      Errc::deadline);
  EXPECT_EQ(placed(shell("exec cat /dev/zero")).error().code, Errc::limit_exceeded);
}

// A line that is larger than a pipe, to a program that answers before it has read all of it.
TEST_F(Peer, DoesNotBlockOnLargeLines) {
  solver::Fabric large(2);
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "node-with-a-long-name-" + std::to_string(i);
    large.set_free(large.add(name, {"r", name}).value(), 8);
  }
  PeerProgram program(shell(R"(n=0; while true; do n=$((n+1)); echo '{"id":"'$n'","fits":false}';
      read -r line || exit; done)"),
                      kEnough);
  PeerPlacer placer(program, simulate::test::kLevels);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(placer.place(large, two_).value(), std::nullopt);
}

}  // namespace
}  // namespace chipweave::bench
