// A job of six pods on three leaves, as files for chipweave route.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {

class RouteJob : public testing::Test {
 protected:
  // Machines of the pods in the order of their indexes.
  static const std::vector<std::string>& machines() {
    static const std::vector<std::string> all = {"10.1.0.1", "10.1.0.3", "10.1.0.2",
                                                 "10.1.0.5", "10.1.0.4", "10.1.0.6"};
    return all;
  }

  // cabinet: the pods request topology. ready: how many have reported their devices.
  static std::string pods(bool cabinet = true, std::size_t ready = 6) {
    std::string items;
    for (std::size_t i = 0; i < machines().size(); ++i) {
      const std::string n = std::to_string(i);
      const std::string report =
          R"({\"pod_name\":\"\",\"server_id\":\")" + machines()[i] +
          R"(\",\"devices\":[{\"device_id\":\"0\",\"device_ip\":\"192.0.2.)" + n + R"(\"}]})";
      items += (i == 0 ? "" : ",") + std::string(R"({"kind":"Pod","metadata":{"name":"j-worker-)") +
               n + R"(","annotations":{"volcano.sh/job-name":"j","volcano.sh/task-spec":"worker")" +
               (cabinet ? R"(,"cabinet":"cabinet")" : "") +
               (i < ready ? R"(,"cce.kubectl.kubernetes.io/ascend-1980-configuration":")" + report +
                                R"(")"
                          : "") +
               R"(}},"spec":{"nodeName":"n)" + n +
               R"(","containers":[{"resources":{"limits":{"huawei.com/ascend-1980":"1"}}}]},)" +
               R"("status":{"hostIP":")" + machines()[i] + R"("}})";
    }
    return R"({"kind":"List","items":[)" + items + "]}";
  }

  Outcome route(const std::string& arguments) const {
    return run("%B/chipweave route " + arguments);
  }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_.at(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::string at(const std::string& name) const { return folder_.at(name); }

  const io::TempFolder folder_;
  // Leaf b has three machines of the job, a two, c one.
  const std::string network_ = folder_.put("network.csv",
                                           "name,tor\n10.1.0.1,10.9.0.1\n10.1.0.2,10.9.0.1\n"
                                           "10.1.0.3,10.9.0.2\n10.1.0.4,10.9.0.2\n"
                                           "10.1.0.5,10.9.0.2\n10.1.0.6,10.9.0.3\n");
  const std::string pods_ = folder_.put("pods.json", pods());
};

}  // namespace chipweave
