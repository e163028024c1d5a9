// A pod in each of its states meets everything that can happen to it: whatever comes, ledger and
// records agree, no chip is given twice, and at rest the API server is right.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/server/api_handler.hpp"
#include "scheduler-plugin/server/metrics.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Fate = SimulatedApi::Fate;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Two machines. "a" is the pod in question, "b" one that is bound with chips 0 and 3 of n1.
class PodWorld {
 public:
  PodWorld() {
    w.options.decide_after_bind = true;
    w.restart();
    w.add_node("n1", "hgx-v100-8");
    w.add_node("n2", "hgx-v100-8");
    w.create("b", 2);
    w.api.settle();
    w.bind("b", "n1");
    w.api.settle();
    w.tick();
  }

  PodState state() const {
    const auto pod = w.api.pods.find("ns/a");
    const PodRecord* record =
        pod == w.api.pods.end() ? nullptr : w.scheduler->records().find(pod->second.uid);
    return record == nullptr ? PodState::absent : record->state;
  }
  void arrive() {
    w.create("a", 2);
    w.api.settle();
  }
  PodRequest request() const { return w.request(w.pod("a")); }
  void filter() { (void)w.fit("a"); }
  void prioritize() {
    const auto nodes = w.all_nodes();
    (void)w.scheduler->extender().prioritize(request(), nodes);
  }
  void bind(const std::string& node) { w.bind("a", node); }
  void admit(const std::string& node) {
    w.scheduler->admissions().admit({{{"ns", "a"}, w.pod("a").uid, node}, "", false},
                                    [](const Result<Admission>&) {});
  }
  // As the API server stores it for another scheduler; chips: a digit each.
  void found(const std::string& chips, bool started = false) {
    std::string list;
    for (const char c : chips)
      list += (list.empty() ? "" : ",") + std::string(R"({"index":)") + c + "}";
    const std::string note =
        R"({"v":1,"node":"n1","podUid":")" + w.pod("a").uid +
        R"(","resource":"nvidia.com/gpu","chips":[)" + list +
        R"(],"gbps":40.0,"decision":"d-000041","time":"2026-01-02T03:04:05Z"})";
    if (started) w.api.set_started("ns/a");
    w.api.set_node("ns/a", "n1",
                   chips.empty() ? Annotations{} : Annotations{{kPlacementAnnotation, note}});
  }
  // Whether the API server has the same chips for both pods.
  bool contested() const {
    return w.api.pods.contains("ns/a") && w.api.pods.contains("ns/b") &&
           w.pod("a").node == w.pod("b").node && w.annotated("a") == w.annotated("b");
  }
  void lose_all_requests() {
    while (w.api.waiting() > 0) w.api.take(0, Fate::lost_before);
  }
  void leave_unanswered() {
    w.bind("a", "n1");
    for (int i = 0; i < 100 && state() != PodState::uncertain; ++i) {
      lose_all_requests();
      w.pass(milliseconds(100));
    }
  }

  KubeWorld w;
};

using Step = std::function<void(PodWorld&)>;

const std::map<PodState, Step>& ways() {
  static const std::map<PodState, Step> all{
      {PodState::absent, [](PodWorld&) {}},
      {PodState::pending, [](PodWorld& p) { p.arrive(); }},
      {PodState::reserved,
       [](PodWorld& p) {
         p.arrive();
         p.prioritize();
       }},
      {PodState::binding,
       [](PodWorld& p) {
         p.arrive();
         p.bind("n1");
       }},
      {PodState::uncertain,
       [](PodWorld& p) {
         p.arrive();
         p.leave_unanswered();
       }},
      {PodState::bound,
       [](PodWorld& p) {
         p.arrive();
         p.bind("n1");
         p.w.api.settle();
       }},
      {PodState::annotating,
       [](PodWorld& p) {
         p.arrive();
         p.found("");
         p.w.feed_all();
       }},
      {PodState::assumed,
       [](PodWorld& p) {
         p.arrive();
         p.found("", true);
         p.w.api.settle();
       }},
      {PodState::disputed,
       [](PodWorld& p) {
         p.arrive();
         p.found("03", true);
         p.w.api.settle();
       }},
  };
  return all;
}

// Steps that need the pod to exist in the API server do nothing otherwise.
Step of_pod(Step step) {
  return [step = std::move(step)](PodWorld& p) {
    if (p.w.api.pods.contains("ns/a")) step(p);
  };
}
// The API server binds a pod once.
Step of_unbound(Step step) {
  return of_pod([step = std::move(step)](PodWorld& p) {
    if (p.w.pod("a").node.empty()) step(p);
  });
}

const std::map<std::string, Step>& stimuli() {
  static const std::map<std::string, Step> all{
      {"filter", of_pod([](PodWorld& p) { p.filter(); })},
      {"prioritize", of_pod([](PodWorld& p) { p.prioritize(); })},
      {"bind to n1", of_pod([](PodWorld& p) { p.bind("n1"); })},
      {"bind to n2", of_pod([](PodWorld& p) { p.bind("n2"); })},
      {"admission on n1", of_pod([](PodWorld& p) { p.admit("n1"); })},
      {"admission on n2", of_pod([](PodWorld& p) { p.admit("n2"); })},
      {"admission on n2, then n1", of_pod([](PodWorld& p) {
         p.admit("n2");
         p.admit("n1");
         p.admit("n2");
       })},
      {"allocate",
       of_pod([](PodWorld& p) { (void)p.w.scheduler->extender().allocate(p.request(), "n2"); })},
      {"deallocate",
       of_pod([](PodWorld& p) { p.w.scheduler->extender().deallocate(p.request()); })},
      {"release", of_pod([](PodWorld& p) {
         (void)p.w.scheduler->placements().release({"ns", "a"}, p.w.pod("a").uid);
       })},
      {"arrival",
       [](PodWorld& p) {
         if (!p.w.api.pods.contains("ns/a")) p.arrive();
       }},
      {"bound with a placement", of_unbound([](PodWorld& p) { p.found("12"); })},
      {"bound without a placement", of_unbound([](PodWorld& p) { p.found(""); })},
      {"bound with chips of another", of_unbound([](PodWorld& p) { p.found("03"); })},
      {"bound, then told its chips", of_unbound([](PodWorld& p) {
         p.found("");
         p.w.feed_all();
         p.found("12");
       })},
      {"deletion", of_pod([](PodWorld& p) { p.w.api.remove("ns/a"); })},
      {"the other pod's deletion", [](PodWorld& p) { p.w.api.remove("ns/b"); }},
      {"time", [](PodWorld& p) { p.w.pass(seconds(90)); }},
      {"silence of the API server",
       [](PodWorld& p) {
         for (int i = 0; i < 100; ++i) {
           p.lose_all_requests();
           p.w.pass(milliseconds(100));
         }
       }},
      {"inventory withdrawn", [](PodWorld& p) { p.w.scheduler->inventory_gone("n1"); }},
      {"stepping down", [](PodWorld& p) { p.w.scheduler->step_down(); }},
      {"a restart", [](PodWorld& p) { p.w.restart(); }},
  };
  return all;
}

void expect_sound(PodWorld& p, const std::string& what) {
  EXPECT_EQ(p.w.scheduler->check_invariants(), "") << what;
}

TEST(PodStatesInTheScheduler, EverythingHappensInEveryState) {
  for (const auto& [state, reach] : ways()) {
    for (const auto& [name, happen] : stimuli()) {
      const std::string what = name + " while " + std::string(to_string(state));
      SCOPED_TRACE(what);
      PodWorld p;
      reach(p);
      ASSERT_EQ(to_string(p.state()), to_string(state));
      expect_sound(p, what);
      happen(p);
      expect_sound(p, what);
      p.w.feed_all();
      expect_sound(p, what);
      p.w.come_to_rest();
      expect_sound(p, what);
      const PodState rest = p.state();
      if (p.contested()) {
        EXPECT_EQ(p.w.scheduler->records().in(PodState::disputed).size(), 1U);
        continue;
      }
      p.w.expect_no_chip_twice();
      p.w.expect_ledger_is_the_truth();
      EXPECT_TRUE(rest != PodState::reserved && rest != PodState::binding &&
                  rest != PodState::uncertain && rest != PodState::annotating)
          << to_string(rest) << " does not last";
    }
  }
}

// The same state in the list of pods, in explain and in the metric.
TEST(PodStatesInTheScheduler, AllReadersAreShownTheState) {
  for (const auto& [state, reach] : ways()) {
    if (state == PodState::absent) continue;
    PodWorld p;
    reach(p);
    const std::string name(to_string(state));
    http::Loop loop;
    SlicedReplies replies(loop, p.w.scheduler->clock());
    const http::Answer answer = ApiHandler(*p.w.scheduler, replies).pods("");
    std::map<std::string, std::string> listed;
    const auto list = nlohmann::json::parse(std::get<http::Response>(answer).body);
    for (const auto& pod : list["items"]) listed[pod["name"]] = pod["state"];
    EXPECT_EQ(listed["a"], name);
    const auto explained = p.w.scheduler->placements().explain({"ns", "a"});
    ASSERT_TRUE(explained.ok()) << name;
    EXPECT_EQ(nlohmann::json::parse(explained->json)["state"], name);
    Metrics metrics("test");
    const std::string count = state == PodState::bound ? "2" : "1";  // "b" is bound
    EXPECT_NE(metrics.scrape(*p.w.scheduler, {}, nullptr)
                  .find("chipweave_pods{state=\"" + name + "\"} " + count + "\n"),
              std::string::npos)
        << name;
  }
}

// Whatever is admitted for a pod how often, it holds two sets of chips at most.
TEST(PodStatesInTheScheduler, TwoSetsAtMost) {
  PodWorld p;
  p.w.add_node("n3", "hgx-v100-8");
  p.w.add_node("n4", "hgx-v100-8");
  p.arrive();
  const auto taken = [&] {
    int chips = 0;
    const NodeTable& nodes = p.w.scheduler->nodes();
    for (NodeId id = 0; id < nodes.size(); ++id) chips += nodes.node(id).taken.size();
    return chips - 2;  // those of "b"
  };
  for (int i = 0; i < 50; ++i) {
    p.admit("n" + std::to_string(1 + i % 4));
    EXPECT_LE(taken(), 4);
    expect_sound(p, "admission " + std::to_string(i));
  }
  EXPECT_EQ(taken(), 4);
  p.w.come_to_rest();
  EXPECT_EQ(taken(), 0);
}

}  // namespace
}  // namespace chipweave::sched::test
