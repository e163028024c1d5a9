// Pods of a Volcano job as kubectl prints them, for tests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/codec/ranktable/modelarts/job_pods.hpp"

namespace chipweave::codec {

struct TestPod {
  std::size_t index = 0;
  std::string node;          // its address is that of its report's server
  std::vector<int> devices;  // empty: no report
  std::string tor;           // of all its devices
  std::string annotations;   // further ones: ,"key":"value"
};

inline std::string escaped(const std::string& json) {
  std::string out;
  for (const char c : json) out += c == '"' ? std::string("\\\"") : std::string(1, c);
  return out;
}

inline std::string report_text(const TestPod& pod, const std::string& list = "devices") {
  std::string devices;
  for (const int id : pod.devices) {
    const std::string number = std::to_string(id);
    devices += std::string(devices.empty() ? "" : ",") + R"({"device_id":")" + number +
               R"(","device_ip":"192.0.2.)" + number + R"(")";
    if (!pod.tor.empty())
      devices += R"(,"tor_ip":")" + pod.tor + R"(","tor_port":"p)" + number + R"(")";
    devices += "}";
  }
  return R"({"pod_name":"j-worker-)" + std::to_string(pod.index) + R"(","server_id":")" + pod.node +
         R"(",")" + list + R"(":[)" + devices + "]}";
}

inline std::string pod_text(const TestPod& pod) {
  std::string out = R"({"kind":"Pod","metadata":{"name":"j-worker-)" + std::to_string(pod.index) +
                    R"(","namespace":"ns","annotations":{"volcano.sh/job-name":"j",)" +
                    R"("volcano.sh/task-spec":"worker")" + pod.annotations;
  if (!pod.devices.empty()) {
    out += R"(,"cce.kubectl.kubernetes.io/ascend-1980-configuration":")" +
           escaped(report_text(pod)) + R"(")";
  }
  return out + R"(}},"spec":{"nodeName":")" + pod.node +
         R"(","containers":[{"resources":{"limits":{"huawei.com/ascend-1980":"8"}}}]},)" +
         R"("status":{"hostIP":"10.0.0.1"}})";
}

inline std::string list_text(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ",") + item;
  return R"({"apiVersion":"v1","kind":"List","items":[)" + out + "]}";
}

inline std::string pods_text(const std::vector<TestPod>& pods) {
  std::vector<std::string> items;
  items.reserve(pods.size());
  for (const TestPod& pod : pods) items.push_back(pod_text(pod));
  return list_text(items);
}

inline JobPods job_of(const std::vector<TestPod>& pods) {
  return read_job_pods(pods_text(pods), {}).value();
}

}  // namespace chipweave::codec
