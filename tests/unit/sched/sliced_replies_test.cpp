// Answers in slices: what they contain, and that the loop does other things in between.
#include "scheduler-plugin/server/sliced_replies.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/sched/busy_clock.hpp"

namespace chipweave::sched {
namespace {

using std::chrono::milliseconds;

SlicedReplies::Parts letters(int count) {
  return [count, done = 0](std::string& out) mutable {
    out += static_cast<char>('a' + done);
    return ++done < count;
  };
}

struct Slices : ::testing::Test {
  void ask(SlicedReplies::Parts parts) {
    http::Answer answer = sliced.answer({}, std::move(parts));
    if (auto* now = std::get_if<http::Response>(&answer)) return replies.push_back(*now);
    ++later;
    std::get<http::Later>(answer)(std::make_shared<test::KeptReply>(replies));
  }
  // Runs the loop until it has that many replies.
  void run_until(std::size_t count) {
    loop.every(milliseconds(1), [this, count] {
      if (replies.size() >= count) loop.stop();
    });
    loop.run();
  }

  http::Loop loop;
  test::BusyClock clock;
  SlicedReplies sliced{loop, clock};
  std::vector<http::Response> replies;
  int later = 0;
};

TEST_F(Slices, ASmallAnswerIsSentAtOnce) {
  ask(letters(1));
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].body, "a");
}

TEST_F(Slices, OtherTasksRunWhileALargeAnswerIsMade) {
  bool complete_before = false;
  loop.post([&] {
    ask(letters(20));
    loop.post([&] { complete_before = !replies.empty(); });
  });
  run_until(1);
  EXPECT_EQ(later, 1);
  EXPECT_FALSE(complete_before);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].body, "abcdefghijklmnopqrst");
}

TEST_F(Slices, AnswersOfManyPiecesAreWhole) {
  constexpr std::size_t kPart = 100'000;
  int done = 0;
  ask([&](std::string& out) {
    out.append(kPart, static_cast<char>('a' + done));
    return ++done < 8;
  });
  run_until(1);
  std::string expected;
  for (int i = 0; i < 8; ++i) expected.append(kPart, static_cast<char>('a' + i));
  EXPECT_FALSE(replies[0].more.empty());
  std::string whole = replies[0].body;
  for (const std::string& piece : replies[0].more) whole += piece;
  EXPECT_EQ(whole, expected);
}

TEST_F(Slices, LargeAnswersAreMadeOneAfterTheOther) {
  std::vector<std::string> begun;
  const auto parts = [&begun](const std::string& name) {
    return [&begun, name, done = 0](std::string& out) mutable {
      begun.push_back(name);
      out += name;
      return ++done < 9;
    };
  };
  ask(parts("x"));
  ask(parts("y"));
  ask(letters(1));  // has to wait its turn too
  run_until(3);
  ASSERT_EQ(begun.size(), 18U);
  EXPECT_EQ(std::vector<std::string>(begun.begin(), begun.begin() + 9),
            std::vector<std::string>(9, "x"));
  EXPECT_EQ(replies[0].body, "xxxxxxxxx");
  EXPECT_EQ(replies[1].body, "yyyyyyyyy");
  EXPECT_EQ(replies[2].body, "a");
}

TEST_F(Slices, AFailureInALaterSliceIsAnswered500AndTheNextAnswerIsMade) {
  int done = 0;
  ask([&](std::string& out) {
    out += "x";
    if (++done == 10) throw std::runtime_error("no more");
    return true;
  });
  ask(letters(9));
  run_until(2);
  EXPECT_EQ(replies[0].status, 500);
  EXPECT_EQ(replies[0].body.find("xx"), std::string::npos);
  EXPECT_EQ(replies[1].body, "abcdefghi");
}

// What it has changed until then may be half of a change.
TEST_F(Slices, AFailureOfAPartThatChangesTheStateLeavesTheLoop) {
  std::vector<std::string> escaped;
  loop.on_escape([&](const std::string& what) { escaped.push_back(what); });
  const auto fails = [done = 0](std::string& out) mutable {
    out += "x";
    if (++done == 10) throw std::logic_error("half done");
    return true;
  };
  auto answer = sliced.answer({}, fails, SlicedReplies::Effect::changes_state);
  std::get<http::Later>(answer)(std::make_shared<test::KeptReply>(replies));
  ask(letters(9));
  run_until(1);
  EXPECT_EQ(escaped, std::vector<std::string>{"half done"});
  EXPECT_EQ(replies[0].body, "abcdefghi") << "the failed one was answered";
}

TEST(SlicedReplies, NothingIsMadeAfterItsEnd) {
  http::Loop loop;
  const test::BusyClock clock;
  std::vector<http::Response> replies;
  int made = 0;
  {
    SlicedReplies sliced(loop, clock);
    const http::Answer answer = sliced.answer({}, [&](std::string&) {
      ++made;
      return true;
    });
    std::get<http::Later>(answer)(std::make_shared<test::KeptReply>(replies));
  }
  const int before = made;
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(made, before);
}

}  // namespace
}  // namespace chipweave::sched
