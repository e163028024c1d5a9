// TableJob — one job in a scheduler's state, of pods with eight devices each, whose last pod has no
// address yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"

namespace chipweave::bench {

inline constexpr int kTableChips = 8;

inline double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  return all[all.size() / 2];
}

inline std::string address(const char* prefix, int number) {
  return prefix + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
}

class TableJob {
 public:
  TableJob(const Clock& clock, int pods, std::size_t max_bytes)
      : scheduler_(clock, cluster_, observers_), tables(scheduler_, options(max_bytes)) {
    cluster_.set_listener(&scheduler_.reconciler());
    for (int i = 0; i < pods; ++i) add(i, pods);
    tables.update();
  }
  TableJob(const TableJob&) = delete;
  TableJob& operator=(const TableJob&) = delete;

  // The last pod gets another address.
  void change(int number) {
    last_.pod_ip = address("10.3.", number);
    tables.pod_seen(last_);
    tables.update();
  }

 private:
  static sched::RankTables::Options options(std::size_t max_bytes) {
    sched::RankTables::Options out;
    out.max_bytes = max_bytes;
    return out;
  }
  static codec::KubePod pod_of(int index) {
    codec::KubePod out;
    out.ns = "ns";
    out.name = "train-" + std::to_string(index);
    out.uid = "uid-" + std::to_string(index);
    out.node_name = "n" + std::to_string(index);
    out.host_ip = address("10.1.", index);
    out.pod_ip = address("10.2.", index);
    out.labels = {{"training.kubeflow.org/job-name", "train"}, {sched::kRingControllerLabel, "x"}};
    std::string devices;
    for (int i = 0; i < kTableChips; ++i) {
      devices += std::string(devices.empty() ? "" : ",") + R"({"device_id":")" + std::to_string(i) +
                 R"(","device_ip":")" +
                 address(("172." + std::to_string(16 + i) + ".").c_str(), index) + R"("})";
    }
    out.annotations = {{"ascend.kubectl.kubernetes.io/ascend-910-configuration",
                        R"({"devices":[)" + devices + "]}"},
                       {"chipweave.dev/rank", std::to_string(index)}};
    codec::KubeContainer container;
    container.requests["huawei.com/Ascend910"] = std::to_string(kTableChips);
    out.containers.push_back(std::move(container));
    return out;
  }
  void add(int index, int pods) {
    codec::KubePod pod = pod_of(index);
    sched::ClusterPod known;
    known.request.key = {pod.ns, pod.name};
    known.request.uid = pod.uid;
    sched::GangMark mark;
    mark.framework = "trainer";
    mark.name = "train";
    mark.size = pods;
    known.request.mark = std::make_shared<const sched::GangMark>(std::move(mark));
    cluster_.add(std::move(known), "{}").value();
    if (index + 1 == pods) {
      pod.pod_ip.clear();
      last_ = pod;
    }
    tables.pod_seen(pod);
  }

  sched::MemoryCluster cluster_;
  sched::Observers observers_;
  sched::Scheduler scheduler_;
  codec::KubePod last_;

 public:
  sched::RankTables tables;
};

}  // namespace chipweave::bench
