// The built agent between a kubelet and an API server: chips that the kubelet has allocated are not
// published as free.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "common/http/client.hpp"
#include "common/http/server.hpp"
#include "node-agent/sources/list_lock.hpp"
#include "tests/component/agent_hardware/program.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/fakes/agent/mindcluster_reader.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/agent_kubelet/fake_kubelet.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

const std::string k910 = "huawei.com/Ascend910";
const std::string kInventory = "/apis/chipweave.dev/v1alpha1/nodeinventories/n1";
const std::string kDeviceInfo = "/api/v1/namespaces/kube-system/configmaps/mindx-dl-deviceinfo-n1";

// An API server with one Node. Its watches end at once, so changes are never delivered; objects are
// read and written as on a real one.
class Cluster {
 public:
  explicit Cluster(const std::string& kubelet_version) {
    api_.put("/api/v1/nodes/n1",
             {{"metadata",
               {{"name", "n1"},
                {"uid", "u1"},
                {"labels", Json::object()},
                {"annotations", Json::object()}}},
              {"status", {{"nodeInfo", {{"kubeletVersion", kubelet_version}}}}}});
    post_and_wait(thread_.loop, [this] {
      server_ = std::make_unique<http::Server>(
          thread_.loop, http::ServerOptions(),
          [this](const http::Request& request) { return answer(request); });
      port_ = server_->start().value();
    });
  }
  ~Cluster() {
    post_and_wait(thread_.loop, [this] { server_.reset(); });
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::string kubeconfig() const {
    return R"({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
      "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:)" +
           std::to_string(port_) + R"("}}], "users": [{"name": "u", "user": {}}]})";
  }
  void put(const std::string& path, const Json& object) {
    post_and_wait(thread_.loop, [&] { api_.put(path, object); });
  }
  // What the containers have, as the NodeInventory says.
  Json given() {
    Json out;
    post_and_wait(thread_.loop, [&] {
      if (!api_.objects.contains(kInventory)) return;
      const Json& status = api_.objects[kInventory]["status"];
      if (status.contains("given")) out = status["given"]["containers"];
    });
    return out;
  }
  // The chips published as free; nullopt: nothing is published.
  std::optional<std::vector<int>> free_chips() {
    std::optional<std::vector<int>> out;
    post_and_wait(thread_.loop, [&] {
      if (!api_.objects.contains(kDeviceInfo)) return;
      const auto& data = api_.objects[kDeviceInfo]["data"];
      out = test::device_info_in(data["DeviceInfoCfg"].get<std::string>()).available;
    });
    return out;
  }

 private:
  http::Response answer(const http::Request& request) {
    kube::Call call;
    call.method = std::string(request.method);
    call.target = std::string(request.path) + "?" + std::string(request.query);
    call.body = request.body;
    if (request.query.find("watch=1") != std::string_view::npos)
      return {400, "no watches here", "text/plain", {}};
    const kube::Reply reply = api_.answer(call);
    return {reply.status, reply.body, "application/json", {}};
  }

  ManualClock clock_;
  FakeApi api_{clock_};
  LoopThread thread_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

class AgentAndKubelet : public testing::Test {
 protected:
  AgentAndKubelet() : socket_(folder_.at("pod-resources/kubelet.sock")) {
    std::filesystem::create_directories(folder_.at("pod-resources"));
    allocate();
  }
  // What the kubelet writes at the end of an allocation.
  void allocate() const {
    folder_.put("device-plugins/.new", R"({"Data":{"PodDeviceEntries":null}})");
    std::filesystem::rename(folder_.at("device-plugins/.new"),
                            folder_.at("device-plugins/kubelet_internal_checkpoint"));
  }
  void start_agent(const std::string& kubelet_version = "v1.30.0",
                   const std::vector<std::string>& more = {}) {
    cluster_.emplace(kubelet_version);
    std::vector<std::string> words{"chipweave-agent",
                                   "--node",
                                   "n1",
                                   "--kubeconfig",
                                   folder_.put("kubeconfig", cluster_->kubeconfig()),
                                   "--pod-resources",
                                   socket_,
                                   "--metrics",
                                   "127.0.0.1:0",
                                   "--port-file",
                                   folder_.at("port")};
    words.insert(words.end(), machine_.begin(), machine_.end());
    words.insert(words.end(), more.begin(), more.end());
    agent_ = std::make_unique<Program>(std::move(words), std::map<std::string, std::string>{},
                                       folder_.at("log"));
  }
  std::string metrics() const {
    std::ifstream file(folder_.at("port"));
    const auto port = nlohmann::json::parse(file, nullptr, false);
    if (!port.is_object()) return "";
    auto client =
        http::Client::connect_to("127.0.0.1:" + std::to_string(port["metrics"].get<int>()));
    if (!client) return "";
    auto reply = client->call("GET", "/metrics", "");
    return reply ? std::move(reply->body) : "";
  }
  bool free_become(std::vector<int> chips) {
    return eventually([&] { return cluster_->free_chips() == chips; });
  }

  io::TempFolder folder_;
  std::string socket_;
  std::vector<std::string> machine_{"--probe", "profile:ascend-910b-8", "--publish", "mindcluster"};
  std::optional<Cluster> cluster_;
  std::unique_ptr<Program> agent_;
};

TEST_F(AgentAndKubelet, ChipsThatPodsHaveAreNeverCalledFree) {
  FakeKubelet kubelet(socket_);
  PodList list;
  add_pod(list, "p", k910, {"Ascend910-0", "Ascend910-3"});
  kubelet.set_list(list);
  start_agent();
  // The very first list that is written.
  ASSERT_TRUE(eventually([&] { return cluster_->free_chips().has_value(); })) << agent_->log();
  EXPECT_THAT(cluster_->free_chips(), Optional(ElementsAre(1, 2, 4, 5, 6, 7)));
  EXPECT_EQ(kubelet.calls(), 1);
  add_pod(list, "q", k910, {"Ascend910-7", "Ascend910-70"});
  kubelet.set_list(list);
  const auto before = std::chrono::steady_clock::now();
  allocate();
  EXPECT_TRUE(free_become({1, 2, 4, 5, 6})) << agent_->log();
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::seconds(2)) << "settled";
  EXPECT_EQ(kubelet.calls(), 2);
  EXPECT_THAT(agent_->log(), HasSubstr("Ascend910-70 of huawei.com/Ascend910"));
  EXPECT_EQ(agent_->terminate(), 0);
}

// The metrics of a chip name the container that has it, until it has it no more.
TEST_F(AgentAndKubelet, MetricsNameTheContainersOfChips) {
  FakeKubelet kubelet(socket_);
  PodList list;
  add_pod(list, "p", k910, {"Ascend910-3"});
  kubelet.set_list(list);
  start_agent();
  const auto health = [](int chip, const std::string& pod) {
    const std::string number = std::to_string(chip);
    return "chipweave_chip_health{chip=\"" + number + "\",uuid=\"Ascend910-" + number +
           "\",pci=\"\",model=\"Ascend910B\",node=\"n1\"" + pod + "} 1\n";
  };
  const std::string user = R"(,namespace="default",pod="p",container="main")";
  EXPECT_TRUE(eventually([&] { return metrics().find(health(3, user)) != std::string::npos; }))
      << metrics();
  EXPECT_THAT(metrics(), HasSubstr(health(2, "")));
  EXPECT_THAT(metrics(), HasSubstr("chipweave_agent_chips_in_use 1\n"));
  kubelet.set_list({});
  allocate();
  EXPECT_TRUE(eventually([&] { return metrics().find(health(3, "")) != std::string::npos; }))
      << metrics();
}

// ACK's name, which does not begin with the vendor's domain.
TEST_F(AgentAndKubelet, ChipsOfAnotherNameAreThoseOfTheMachine) {
  FakeKubelet kubelet(socket_);
  PodList list;
  add_pod(list, "p", "aliyun.com/gpu", {"nvidia-n1-3"});
  add_pod(list, "q", "nvidia.com/gpu", {"nvidia-n1-5"});
  add_pod(list, "r", "aliyun.com/other", {"nvidia-n1-6"});
  kubelet.set_list(list);
  machine_ = {"--probe", "profile:hgx-h100-8"};
  start_agent();
  const auto resources = [&] {
    std::map<std::string, Json> out;
    for (const Json& one : cluster_->given()) out[one["resource"]] = one["chips"];
    return out;
  };
  const std::map<std::string, Json> both{{"aliyun.com/gpu", Json{3}}, {"nvidia.com/gpu", Json{5}}};
  EXPECT_TRUE(eventually([&] { return resources() == both; }))
      << cluster_->given() << agent_->log();
  EXPECT_EQ(agent_->terminate(), 0);
}

// Where the kubelet's own folder is not mounted, a CDI file is the sign that a claim was prepared.
TEST_F(AgentAndKubelet, AsksWhenADriverHasPreparedAClaim) {
  FakeKubelet kubelet(socket_);
  cluster_.emplace("v1.36.1");
  folder_.put("cdi/other.json", "{}");
  agent_ = std::make_unique<Program>(
      std::vector<std::string>{"chipweave-agent", "--node", "n1", "--probe", "profile:hgx-h100-8",
                               "--kubeconfig", folder_.put("kubeconfig", cluster_->kubeconfig()),
                               "--pod-resources", socket_, "--dra-driver", "gpu.chipweave.dev",
                               "--dra-cdi-folder", folder_.at("cdi"), "--dra-kubelet-folder",
                               folder_.at("kubelet"), "--dra-state-folder", folder_.at("state"),
                               "--log-level", "info"},
      std::map<std::string, std::string>{}, folder_.at("log"));
  ASSERT_TRUE(eventually([&] { return kubelet.calls() == 1; })) << agent_->log();
  folder_.put("cdi/claim.json", "{}");
  EXPECT_TRUE(eventually([&] { return kubelet.calls() == 2; })) << agent_->log();
  EXPECT_EQ(agent_->terminate(), 0);
}

TEST_F(AgentAndKubelet, ADamagedCheckpointOfPreparedClaimsIsNamed) {
  cluster_.emplace("v1.36.1");
  folder_.put("kubelet/plugins_registry/other", "");
  const std::string checkpoint =
      folder_.put("state/gpu.chipweave.dev/prepared-claims.json", "damaged");
  agent_ = std::make_unique<Program>(
      std::vector<std::string>{"chipweave-agent", "--node", "n1", "--probe", "profile:hgx-h100-8",
                               "--kubeconfig", folder_.put("kubeconfig", cluster_->kubeconfig()),
                               "--dra-driver", "gpu.chipweave.dev", "--dra-cdi-folder",
                               folder_.at("cdi"), "--dra-kubelet-folder", folder_.at("kubelet"),
                               "--dra-state-folder", folder_.at("state")},
      std::map<std::string, std::string>{}, folder_.at("log"));
  EXPECT_TRUE(eventually([&] {
    const std::string log = agent_->log();
    return log.find("the checkpoint of prepared claims cannot be used") != std::string::npos &&
           log.find("file " + checkpoint) != std::string::npos;
  })) << agent_->log();
  EXPECT_EQ(agent_->terminate(), 0);
}

// Without the kubelet's answer.
TEST_F(AgentAndKubelet, DevicesOfClaimsAreKnownOnceTheyArePrepared) {
  FakeKubelet kubelet(socket_);
  cluster_.emplace("v1.36.1");
  cluster_->put(
      "/apis/resource.k8s.io/v1/resourceslices/s1",
      {{"metadata", {{"name", "s1"}, {"uid", "s1"}, {"resourceVersion", "1"}}},
       {"spec",
        {{"driver", "gpu.nvidia.com"},
         {"nodeName", "n1"},
         {"pool", {{"name", "n1"}, {"generation", 1}, {"resourceSliceCount", 1}}},
         {"devices",
          {{{"name", "gpu-3"}, {"attributes", {{"uuid", {{"string", "nvidia-n1-3"}}}}}},
           {{"name", "gpu-5"}, {"attributes", {{"uuid", {{"string", "nvidia-n1-5"}}}}}}}}}}});
  agent_ = std::make_unique<Program>(
      std::vector<std::string>{"chipweave-agent", "--node", "n1", "--probe", "profile:hgx-h100-8",
                               "--kubeconfig", folder_.put("kubeconfig", cluster_->kubeconfig()),
                               "--pod-resources", socket_, "--log-level", "info"},
      std::map<std::string, std::string>{}, folder_.at("log"));
  ASSERT_TRUE(eventually([&] { return kubelet.calls() == 1; })) << agent_->log();
  const auto prepare = [this](const Json& claims) {
    const Json file = {{"Data", Json{{"ClaimInfoStateList", claims}}.dump()}, {"Checksum", 1}};
    folder_.put(".new", file.dump());
    std::filesystem::rename(folder_.at(".new"), folder_.at("dra_manager_state"));
  };
  const auto claim = [](const std::string& uid, const std::string& device) {
    return Json{
        {"ClaimName", "c-" + uid},
        {"Namespace", "ns"},
        {"PodUIDs", {{uid, Json::object()}}},
        {"DriverState",
         {{"gpu.nvidia.com",
           {{"Devices", Json::array({Json{{"PoolName", "n1"}, {"DeviceName", device}}})}}}}}};
  };
  const auto has = [](const std::string& uid, int chip) {
    return Json{{"podUid", uid}, {"resource", "nvidia.com/gpu"}, {"chips", Json::array({chip})}};
  };
  kubelet.set_hanging(true);
  prepare(Json::array({claim("u1", "gpu-3"), claim("u2", "gpu-5")}));
  EXPECT_TRUE(eventually([&] {
    return cluster_->given() == Json::array({has("u1", 3), has("u2", 5)});
  })) << cluster_->given()
      << agent_->log();
  prepare(Json::array({claim("u2", "gpu-5")}));
  EXPECT_TRUE(eventually([&] { return cluster_->given() == Json::array({has("u2", 5)}); }))
      << cluster_->given();
  EXPECT_EQ(agent_->terminate(), 0);
}

TEST_F(AgentAndKubelet, IsNotAskedWhileTheDevicePluginGivesChipsAway) {
  FakeKubelet kubelet(socket_);
  auto lock = ListLock::open(list_lock_path(folder_.at("gate")));
  ASSERT_TRUE(lock.ok() && lock->take());
  start_agent("v1.30.0", {"--enforcement", "device-plugin", "--gate-file", folder_.at("gate")});
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(kubelet.calls(), 0) << agent_->log();
  lock->give_back();
  EXPECT_TRUE(eventually([&] { return kubelet.calls() == 1; })) << agent_->log();
  EXPECT_EQ(agent_->terminate(), 0);
}

TEST_F(AgentAndKubelet, AnOldKubeletIsNeverAsked) {
  FakeKubelet kubelet(socket_);
  PodList list;
  add_pod(list, "p", k910, {"Ascend910-0"});
  kubelet.set_list(list);
  start_agent("v1.29.15");
  EXPECT_TRUE(free_become({0, 1, 2, 3, 4, 5, 6, 7})) << agent_->log();
  EXPECT_THAT(agent_->log(), HasSubstr("v1.29.15"));
  EXPECT_EQ(agent_->terminate(), 0);
  EXPECT_EQ(kubelet.calls(), 0);
}

TEST_F(AgentAndKubelet, EndsWhileAKubeletHangs) {
  FakeKubelet kubelet(socket_);
  kubelet.set_hanging(true);
  start_agent();
  EXPECT_TRUE(eventually([&] { return kubelet.calls() > 0; })) << agent_->log();
  EXPECT_EQ(agent_->terminate(), 0);
  EXPECT_THAT(agent_->log(), Not(HasSubstr("the kubelet")));
}

}  // namespace
}  // namespace chipweave::agent
