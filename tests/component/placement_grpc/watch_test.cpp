// WatchDecisions through a real client: events, filters, the listing of current placements, slow
// readers, limits and ends of streams.
#include <thread>

#include "tests/component/placement_grpc/grpc_fixture.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using Event = v1::DecisionEvent;

PlacedPod pod(const std::string& name, const std::string& node = "n1",
              const std::string& ns = "ns") {
  PlacedPod out;
  out.pod = {ns, name};
  out.placement = {node,
                   "uid-" + name,
                   "nvidia.com/gpu",
                   {2, 3},
                   40,
                   "d-000007",
                   Clock::Wall(std::chrono::milliseconds(1'700'000'000'123))};
  out.best_gbps = 80;
  return out;
}

struct Watch : GrpcFixture {
  // One stream and its reader.
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<Event>> reader;
    // The next event as text; the status at the end.
    std::string next() {
      Event event;
      if (!reader->Read(&event)) {
        const grpc::Status status = reader->Finish();
        reader.reset();
        return "end " + std::to_string(status.error_code()) + " " + status.error_message();
      }
      return text(event);
    }
    static std::string text(const Event& e) {
      const std::string what = v1::DecisionKind_Name(e.kind());
      return what.substr(what.rfind('_') + 1) + (e.has_pod() ? " " + e.pod().name() : "");
    }
  };
  std::unique_ptr<Stream> watch(const v1::WatchDecisionsRequest& request = {}) {
    auto stream = std::make_unique<Stream>();
    set_patience(stream->context);
    stream->reader = stub->WatchDecisions(&stream->context, request);
    return stream;
  }
  // Returns once the stream is live.
  std::unique_ptr<Stream> live(const v1::WatchDecisionsRequest& request = {}) {
    auto stream = watch(request);
    EXPECT_EQ(stream->next(), "LIVE");
    return stream;
  }
  void tell(const std::function<void(DecisionFeed&)>& what) {
    post_and_wait(thread.loop, [&] { what(*feed); });
  }
  std::size_t followers() {
    std::size_t n = 0;
    post_and_wait(thread.loop, [&] { n = feed->followers(); });
    return n;
  }
};

TEST_F(Watch, TellsEverythingOfADecision) {
  open();
  const auto stream = live();
  tell([](DecisionFeed& f) {
    f.on(PodPlaced{pod("a")});
    f.on(PodFreed{pod("a")});
    f.on(BindFailed{{{"ns", "b"}, "uid-b", "n2"}, make_error(Errc::conflict, "taken")});
  });
  Event e;
  ASSERT_TRUE(stream->reader->Read(&e));
  EXPECT_EQ(e.kind(), v1::DECISION_KIND_BOUND);
  EXPECT_EQ(e.pod().namespace_(), "ns");
  EXPECT_EQ(e.pod().name(), "a");
  EXPECT_EQ(e.uid(), "uid-a");
  EXPECT_EQ(e.node(), "n1");
  EXPECT_EQ(e.resource(), "nvidia.com/gpu");
  ASSERT_EQ(e.chips_size(), 2);
  EXPECT_EQ(e.chips(1), 3);
  EXPECT_EQ(e.gbps(), 40);
  EXPECT_EQ(e.best_gbps(), 80);
  EXPECT_EQ(e.decision(), "d-000007");
  EXPECT_EQ(e.time_unix_ms(), 1'700'000'000'123);
  ASSERT_TRUE(stream->reader->Read(&e));
  EXPECT_EQ(e.kind(), v1::DECISION_KIND_GONE);
  EXPECT_EQ(e.uid(), "uid-a");
  EXPECT_EQ(e.chips_size(), 2);
  EXPECT_EQ(e.time_unix_ms(), 1'767'323'045'000);
  ASSERT_TRUE(stream->reader->Read(&e));
  EXPECT_EQ(e.kind(), v1::DECISION_KIND_FAILED);
  EXPECT_EQ(e.uid(), "uid-b");
  EXPECT_EQ(e.node(), "n2");
  EXPECT_EQ(e.code(), "conflict");
  EXPECT_EQ(e.reason(), "taken");
  EXPECT_EQ(e.time_unix_ms(), 1'767'323'045'000);
}

TEST_F(Watch, FiltersByNamespaceAndNode) {
  open();
  v1::WatchDecisionsRequest both;
  both.set_namespace_("ns");
  both.set_node("n1");
  both.set_initial(true);
  core.holding = {pod("0", "n2"), pod("1", "n1", "other"), pod("2")};
  const auto stream = watch(both);
  EXPECT_EQ(stream->next(), "BOUND 2");
  EXPECT_EQ(stream->next(), "LIVE");
  tell([](DecisionFeed& f) {
    f.on(PodPlaced{pod("elsewhere", "n2")});
    f.on(PodPlaced{pod("foreign", "n1", "other")});
    f.on(BindFailed{{{"other", "x"}, "u", "n1"}, make_error(Errc::conflict, "no")});
    f.on(PodPlaced{pod("wanted")});
  });
  EXPECT_EQ(stream->next(), "BOUND wanted");
}

// More than one part, and more than the queue of live events holds: a long listing must not end the
// stream.
TEST_F(Watch, ListsWhatHoldsHoweverMuchItIs) {
  options.max_watch_queue = 4;
  constexpr int kMany = 3000;
  for (int i = 0; i < kMany; ++i) core.holding.push_back(pod(std::to_string(100000 + i)));
  open();
  v1::WatchDecisionsRequest initial;
  initial.set_initial(true);
  const auto stream = watch(initial);
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(stream->next(), "BOUND " + std::to_string(100000 + i));
  EXPECT_EQ(stream->next(), "LIVE");
  tell([](DecisionFeed& f) { f.on(PodFreed{pod("100000")}); });
  EXPECT_EQ(stream->next(), "GONE 100000");
}

TEST_F(Watch, IsRefusedAsLongAsNothingIsKnown) {
  core.ready = make_error(Errc::unavailable, "starting");
  open();
  for (const bool initial : {false, true}) {
    v1::WatchDecisionsRequest request;
    request.set_initial(initial);
    EXPECT_EQ(watch(request)->next(), "end 14 starting");
  }
  EXPECT_EQ(ended.at(1), "WatchDecisions UNAVAILABLE");
}

TEST_F(Watch, AReaderThatFallsBehindIsEndedAndTheOthersAreNot) {
  options.max_watch_queue = 100;
  open();
  const auto slow = live();
  const auto quick = live();
  // More than the transport buffers for a client that does not read.
  constexpr int kRounds = 400;
  PlacedPod large = pod("large");
  large.pod.name.assign(200, 'x');
  bool all = true;
  for (int round = 0; round < kRounds; ++round) {
    tell([&](DecisionFeed& f) {
      for (int i = 0; i < 50; ++i) f.on(PodPlaced{large});
    });
    for (int i = 0; i < 50; ++i) all = all && quick->next() == "BOUND " + large.pod.name;
  }
  EXPECT_TRUE(all);
  std::string last;
  int got = 0;
  while ((last = slow->next()).starts_with("BOUND")) ++got;
  EXPECT_TRUE(last.starts_with("end 8 the reader is more than 100 events behind")) << last;
  EXPECT_LT(got, kRounds * 50);
  EXPECT_EQ(ended.at(0), "WatchDecisions RESOURCE_EXHAUSTED");
  tell([](DecisionFeed& f) { f.on(PodPlaced{pod("after")}); });
  EXPECT_EQ(quick->next(), "BOUND after");
}

// It reads nothing, not even the end of the stream; its slot is freed nevertheless.
TEST_F(Watch, AReaderThatDoesNotReadIsDisconnected) {
  options.max_watch_queue = 100;
  options.unread_grace = std::chrono::milliseconds(50);
  open();
  const auto stuck = live();
  const auto quick = live();
  EXPECT_EQ(followers(), 2U);
  const std::string name(200, 'x');
  while (followers() > 1) {
    tell([&](DecisionFeed& f) { f.on(PodPlaced{pod(name)}); });
    ASSERT_EQ(quick->next(), "BOUND " + name);
  }
  EXPECT_EQ(ended.at(0), "WatchDecisions RESOURCE_EXHAUSTED");
  std::string last;
  while ((last = stuck->next()).starts_with("BOUND")) continue;
  // Cut, because its end was not delivered; or its end, where this thread reads within the grace.
  EXPECT_TRUE(last.starts_with("end 1 ") || last.starts_with("end 8 ")) << last;
}

TEST_F(Watch, OnlySoManyMayFollow) {
  options.max_watchers = 2;
  open();
  auto one = live();
  const auto two = live();
  EXPECT_EQ(watch()->next(), "end 8 2 followers already; try again later");
  one->context.TryCancel();
  EXPECT_TRUE(one->next().starts_with("end 1 "));
  ASSERT_EQ(ended.at(1), "WatchDecisions CANCELLED");
  while (followers() > 1) std::this_thread::yield();
  live();
}

TEST_F(Watch, EndsWithItsDeadline) {
  open();
  auto stream = std::make_unique<Stream>();
  set_patience(stream->context, std::chrono::milliseconds(300));
  stream->reader = stub->WatchDecisions(&stream->context, {});
  std::string last;
  while (!(last = stream->next()).starts_with("end")) continue;
  EXPECT_TRUE(last.starts_with("end 4 ")) << last;
  while (followers() > 0) std::this_thread::yield();
}

TEST_F(Watch, EndsWithTheServer) {
  open();
  const auto idle = live();
  const auto other = live();
  server->stop(std::chrono::milliseconds(1000));
  EXPECT_EQ(idle->next(), "end 14 the scheduler is shutting down; try again");
  EXPECT_EQ(other->next(), "end 14 the scheduler is shutting down; try again");
  EXPECT_EQ(ended.at(1), "WatchDecisions UNAVAILABLE");
}

TEST_F(Watch, FiltersThatNothingIsCalledAreRefused) {
  open();
  v1::WatchDecisionsRequest request;
  request.set_node("n\n");
  EXPECT_EQ(watch(request)->next(), "end 3 node has control characters");
  request.clear_node();
  request.set_namespace_(std::string(300, 'n'));
  EXPECT_TRUE(watch(request)->next().starts_with("end 8 namespace bytes"));
}

}  // namespace
}  // namespace chipweave::sched
