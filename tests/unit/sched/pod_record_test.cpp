#include "scheduler-plugin/state/pod_record.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/support/paths.hpp"

namespace chipweave::sched {
namespace {

std::vector<PodState> all_states() {
  std::vector<PodState> states;
  for (std::size_t i = 0; i < kPodStates; ++i) states.push_back(static_cast<PodState>(i));
  return states;
}

std::vector<PodEvent> all_events() {
  std::vector<PodEvent> events;
  for (std::size_t i = 0; i < kPodEvents; ++i) events.push_back(static_cast<PodEvent>(i));
  return events;
}

// The shortest way from `absent` to each state.
std::map<PodState, std::vector<PodEvent>> ways() {
  std::map<PodState, std::vector<PodEvent>> way{{PodState::absent, {}}};
  std::deque<PodState> next{PodState::absent};
  for (; !next.empty(); next.pop_front()) {
    for (const PodTransition& t : pod_transitions()) {
      if (t.from != next.front() || way.contains(t.to)) continue;
      way[t.to] = way[t.from];
      way[t.to].push_back(t.event);
      next.push_back(t.to);
    }
  }
  return way;
}

PodState state_of(const PodRecords& records) {
  const PodRecord* record = records.find("u");
  return record == nullptr ? PodState::absent : record->state;
}

TEST(PodStates, EveryEventInEveryState) {
  const auto way = ways();
  ASSERT_EQ(way.size(), kPodStates) << "a state that no events lead to";
  for (const PodState state : all_states()) {
    for (const PodEvent event : all_events()) {
      PodRecords records;
      for (const PodEvent step : way.at(state)) records.on("u", step, {"ns", "p"});
      ASSERT_EQ(state_of(records), state);
      const std::optional<PodState> to = next_state(state, event);
      const std::string what =
          std::string(to_string(event)) + " while " + std::string(to_string(state));
      if (to) {
        records.on("u", event, {"ns", "p"});
        EXPECT_EQ(state_of(records), *to) << what;
      } else {
        EXPECT_THROW(records.on("u", event, {"ns", "p"}), std::logic_error) << what;
        EXPECT_EQ(state_of(records), state) << what << " must change nothing";
      }
      for (const PodState other : all_states()) {
        const bool listed =
            other != PodState::bound && other != PodState::absent && other == state_of(records);
        EXPECT_EQ(records.in(other).size(), listed ? 1U : 0U) << what;
      }
    }
  }
}

TEST(PodStates, EveryStateCanEnd) {
  for (const PodState state : all_states()) {
    std::set<PodState> seen{state};
    for (std::size_t before = 0; before != seen.size();) {
      before = seen.size();
      for (const PodTransition& t : pod_transitions()) {
        if (seen.contains(t.from)) seen.insert(t.to);
      }
    }
    EXPECT_TRUE(seen.contains(PodState::absent)) << to_string(state);
  }
}

TEST(PodStates, ThePageDrawsTheTable) {
  std::ifstream file(chipweave::test::source_path("docs/develop/pod-states.md"));
  std::multiset<std::string> drawn;
  std::multiset<std::string> table;
  for (std::string line; std::getline(file, line);) {
    if (line.find("-->") == std::string::npos) continue;
    drawn.insert(line.substr(line.find_first_not_of(' ')));
  }
  const auto name = [](PodState state) {
    return state == PodState::absent ? std::string("[*]") : std::string(to_string(state));
  };
  for (const PodTransition& t : pod_transitions())
    table.insert(name(t.from) + " --> " + name(t.to) + ": " + std::string(to_string(t.event)));
  EXPECT_EQ(drawn, table);
}

TEST(PodRecords, KeepOnlyWhatBelongsToTheState) {
  PodRecords records;
  PodRecord& record = *records.on("u", PodEvent::arrived, {"ns", "p"});
  record.evaluation = std::make_unique<LastEvaluation>();
  records.on("u", PodEvent::held);
  record.in_flight = std::make_unique<InFlightBinding>();
  records.on("u", PodEvent::sent);
  EXPECT_NE(record.evaluation, nullptr);
  EXPECT_NE(record.in_flight, nullptr);
  EXPECT_EQ(records.in_flight(), 1U);
  records.on("u", PodEvent::stored);
  EXPECT_EQ(record.evaluation, nullptr);
  EXPECT_EQ(record.in_flight, nullptr);
  EXPECT_EQ(records.in_flight(), 0U);
  record.decision = std::make_unique<Decision>();
  records.on("u", PodEvent::found_contested);
  EXPECT_EQ(record.decision, nullptr);
  record.dispute = std::make_unique<Dispute>();
  records.on("u", PodEvent::found_known);
  EXPECT_EQ(record.dispute, nullptr);
}

TEST(PodRecords, AreListedByUidAndByState) {
  PodRecords records;
  for (const char* uid : {"c", "a", "b", "d"}) records.on(uid, PodEvent::arrived, {"ns", uid});
  records.on("b", PodEvent::held);
  std::string pending;
  for (const PodRecord* record : records.in(PodState::pending)) pending += record->uid;
  EXPECT_EQ(pending, "acd");
  std::string after;
  records.each_after("a", [&](const PodRecord& record) {
    after += record.uid;
    return record.uid != "c";
  });
  EXPECT_EQ(after, "bc");
  records.set_second(*records.find("c"), {"second", 0, {}});
  EXPECT_EQ(records.with_second().size(), 1U);
  records.on("c", PodEvent::gone);
  EXPECT_EQ(records.with_second().size(), 0U);
  EXPECT_EQ(records.size(), 3U);
}

}  // namespace
}  // namespace chipweave::sched
