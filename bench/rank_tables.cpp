// rank_tables — from the last address of a job to its table: how long the scheduler's loop works on
// the table of a job whose last pod gets its address, by number of ranks. The floor is the text
// alone, written from the finished table. Ends with 1 if 10,000 ranks take longer than their
// target.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/codec/ranktable/rank_table.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"
#include "tests/support/manual_clock.hpp"

namespace {

using namespace chipweave;
using namespace chipweave::sched;
using Steady = std::chrono::steady_clock;

constexpr int kChips = 8;
constexpr int kRuns = 21;
constexpr double kTargetMs = 20;  // 10,000 ranks

double ms_since(Steady::time_point begin) {
  return std::chrono::duration<double, std::milli>(Steady::now() - begin).count();
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  return all[all.size() / 2];
}

std::string address(const char* prefix, int number) {
  return prefix + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
}

codec::KubePod pod_of(int index) {
  codec::KubePod out;
  out.ns = "ns";
  out.name = "train-" + std::to_string(index);
  out.uid = "uid-" + std::to_string(index);
  out.node_name = "n" + std::to_string(index);
  out.host_ip = address("10.1.", index);
  out.pod_ip = address("10.2.", index);
  out.labels = {{"training.kubeflow.org/job-name", "train"}, {kRingControllerLabel, "x"}};
  std::string devices;
  for (int i = 0; i < kChips; ++i) {
    devices += std::string(devices.empty() ? "" : ",") + R"({"device_id":")" + std::to_string(i) +
               R"(","device_ip":")" +
               address(("172." + std::to_string(16 + i) + ".").c_str(), index) + R"("})";
  }
  out.annotations = {
      {"ascend.kubectl.kubernetes.io/ascend-910-configuration", R"({"devices":[)" + devices + "]}"},
      {"chipweave.dev/rank", std::to_string(index)}};
  codec::KubeContainer container;
  container.requests["huawei.com/Ascend910"] = std::to_string(kChips);
  out.containers.push_back(std::move(container));
  return out;
}

class Text final : public RankTableListener {
 public:
  void job_table(const PublishedTable& table) override { last = table; }
  void job_table_gone(const std::string& /*ns*/, const std::string& /*job*/) override {}
  void deployment_table(const PublishedTable& /*table*/) override {}
  void deployment_table_gone(TableKind /*kind*/, const std::string& /*ns*/,
                             const std::string& /*id*/) override {}
  PublishedTable last;
};

// Milliseconds, or below 0 if there was no table.
double run(int pods) {
  ManualClock clock;
  MemoryCluster cluster;
  Observers observers;
  Scheduler scheduler(clock, cluster, observers);
  cluster.set_listener(&scheduler.reconciler());
  RankTables::Options options;
  options.max_bytes = 64U << 20U;
  RankTables tables(scheduler, options);
  Text text;
  tables.add(text);
  codec::KubePod last;
  for (int i = 0; i < pods; ++i) {
    codec::KubePod pod = pod_of(i);
    ClusterPod known;
    known.request.key = {pod.ns, pod.name};
    known.request.uid = pod.uid;
    GangMark mark;
    mark.framework = "trainer";
    mark.name = "train";
    mark.size = pods;
    known.request.mark = std::make_shared<const GangMark>(std::move(mark));
    if (const auto added = cluster.add(std::move(known), "{}"); !added) {
      std::fprintf(stderr, "%s\n", added.error().text().c_str());
      return -1;
    }
    if (i + 1 == pods) {
      last = pod;
      pod.pod_ip.clear();
    }
    tables.pod_seen(pod);
  }
  tables.update();
  if (text.last.complete) {
    std::fputs("complete too early\n", stderr);
    return -1;
  }
  const auto begin = Steady::now();
  tables.pod_seen(last);
  tables.update();
  const double took = ms_since(begin);
  if (!text.last.complete) {
    std::fprintf(stderr, "no table: %s\n", text.last.problem.c_str());
    return -1;
  }
  auto table = codec::ranktable::parse_table(text.last.text);
  if (!table) return -1;
  std::vector<double> floors;
  for (int i = 0; i < kRuns; ++i) {
    const auto from = Steady::now();
    if (codec::ranktable::write_table(*table, 0).empty()) return -1;
    floors.push_back(ms_since(from));
  }
  std::vector<double> all{took};
  for (int i = 1; i < kRuns; ++i) {
    last.pod_ip = address("10.3.", i);
    const auto from = Steady::now();
    tables.pod_seen(last);
    tables.update();
    all.push_back(ms_since(from));
  }
  const double out = median(all);
  std::printf("| %d | %.2f | %.2f | %.2f | %.2f | %.1f |\n", pods * kChips,
              static_cast<double>(text.last.text.size()) / 1e6, took, out, median(floors),
              out / median(floors));
  return out;
}

}  // namespace

int main() {
  std::puts("| ranks | MB | first ms | table ms | text alone ms | table / text |");
  std::puts("|---:|---:|---:|---:|---:|---:|");
  int code = 0;
  for (const int pods : {2, 125, 1250, 6250}) {
    const double took = run(pods);
    if (took < 0) return 2;
    if (pods == 1250 && took > kTargetMs) code = 1;
  }
  return code;
}
