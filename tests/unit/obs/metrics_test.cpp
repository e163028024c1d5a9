#include "common/obs/metrics.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace chipweave::obs {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, ExposesWhatWasCounted) {
  Registry registry;
  auto& requests = registry.counter("chipweave_requests_total", "Requests by verb.");
  requests.with({{"verb", "filter"}}).add();
  requests.with({{"verb", "filter"}}).add(2);
  auto nodes = registry.gauge("chipweave_nodes", "Nodes known.").with();
  nodes.set(5);
  auto seconds = registry.histogram("chipweave_request_seconds", "Time to answer.", {0.001, 0.01})
                     .with({{"verb", "bind"}});
  seconds.observe(0.005);
  seconds.observe(7);
  EXPECT_EQ(requests.with({{"verb", "filter"}}).value(), 3);
  EXPECT_EQ(nodes.value(), 5);
  const std::string text = registry.expose();
  EXPECT_TRUE(has_line(text, "# TYPE chipweave_requests_total counter")) << text;
  EXPECT_TRUE(has_line(text, R"(chipweave_requests_total{verb="filter"} 3)")) << text;
  EXPECT_TRUE(has_line(text, "chipweave_nodes 5")) << text;
  EXPECT_TRUE(has_line(text, R"(chipweave_request_seconds_bucket{verb="bind",le="0.01"} 1)"))
      << text;
  EXPECT_TRUE(has_line(text, R"(chipweave_request_seconds_count{verb="bind"} 2)")) << text;
}

TEST(Metrics, DropsTheSeriesOfThingsThatVanish) {
  Registry registry;
  auto& free = registry.gauge("chipweave_free_chips", "Free chips by node.");
  free.with({{"node", "n1"}}).set(1);
  free.with({{"node", "n2"}}).set(2);
  free.remove({{"node", "n1"}});
  free.remove({{"node", "never seen"}});
  const std::string text = registry.expose();
  EXPECT_EQ(text.find("n1"), std::string::npos) << text;
  EXPECT_NE(text.find("n2"), std::string::npos) << text;
  free.with({{"node", "n1"}}).set(3);
  EXPECT_TRUE(has_line(registry.expose(), R"(chipweave_free_chips{node="n1"} 3)"));
}

TEST(Metrics, ABadDeclarationIsAStartUpFailure) {
  Registry registry;
  registry.counter("chipweave_a_total", "A.");
  EXPECT_NO_THROW(registry.counter("chipweave_a_total", "A."));
  EXPECT_THROW(registry.gauge("chipweave_a_total", "A."), std::invalid_argument);
  EXPECT_THROW(registry.counter("no spaces", "A."), std::invalid_argument);
  EXPECT_THROW(registry.counter("9lives", "A."), std::invalid_argument);
  EXPECT_THROW(registry.counter("", "A."), std::invalid_argument);
  EXPECT_THROW(registry.counter("chipweave_b_total", "two\nlines"), std::invalid_argument);
  EXPECT_THROW(registry.counter("chipweave_b_total", "back\\slash"), std::invalid_argument);
  EXPECT_THROW(registry.histogram("chipweave_c", "C.", {2, 1}), std::invalid_argument);
  EXPECT_THROW(registry.histogram("chipweave_c", "C.", {}), std::invalid_argument);
}

TEST(Metrics, MayBeUpdatedFromAnyThreadWhileExposed) {
  Registry registry;
  auto& family = registry.counter("chipweave_total", "Things.");
  family.with({{"thread", "0"}});  // something to expose before the first thread runs
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto mine = family.with({{"thread", std::to_string(t % 2)}});
      for (int i = 0; i < 1000; ++i) mine.add();
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(registry.expose().empty());
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(family.with({{"thread", "0"}}).value(), 2000);
}

TEST(Metrics, PromtoolAcceptsTheExposition) {
  if (std::system("promtool --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed";
  Registry registry;
  registry.counter("chipweave_requests_total", "Requests by verb.")
      .with({{"path", "a\"b\\c\nd"}})
      .add();
  registry.gauge("chipweave_bandwidth_bytes_per_second", "Bandwidth; may be unknown.")
      .with({{"node", "n1"}})
      .set(1.5e9);
  registry.histogram("chipweave_request_seconds", "Time to answer.", {0.001, 0.01, 0.1})
      .with()
      .observe(0.02);
  const std::string path =
      testing::TempDir() + "/chipweave_metrics_" + std::to_string(::getpid()) + ".prom";
  std::ofstream(path) << registry.expose();
  EXPECT_EQ(std::system(("promtool check metrics < " + path).c_str()), 0) << registry.expose();
  std::remove(path.c_str());
}

}  // namespace
}  // namespace chipweave::obs
