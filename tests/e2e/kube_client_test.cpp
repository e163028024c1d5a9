// The Kubernetes client against a real API server (scripts/testbed): the copy of a collection, and
// binding with annotations. Skipped without a testbed.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/kube/bind_pod.hpp"
#include "common/kube/reflector.hpp"
#include "tests/e2e/real_api.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave {
namespace {

using codec::KubePod;
using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kPods = "/api/v1/namespaces/default/pods";

class RealCluster : public test::RealApi {
 protected:
  void SetUp() override {
    RealApi::SetUp();
    if (client_ == nullptr) return;
    remove_all();
    for (const char* node : {"e2e-n1", "e2e-n2"}) {
      send("POST", "/api/v1/nodes", {{"metadata", {{"name", node}}}});
    }
  }
  void TearDown() override {
    if (client_ == nullptr) return;
    post_and_wait(loop_, [this] { pods_.reset(); });
    remove_all();
    RealApi::TearDown();
  }
  void remove_all() {
    for (const char* pod : {"/e2e-a", "/e2e-b"}) {
      send("DELETE", kPods + pod, {{"gracePeriodSeconds", 0}});
    }
    for (const char* node : {"/e2e-n1", "/e2e-n2"})
      send("DELETE", "/api/v1/nodes" + std::string(node), {});
  }

  // Creates a pod that no scheduler handles; returns its uid.
  std::string create_pod(const std::string& name) {
    const auto [status, pod] =
        send("POST", kPods,
             {{"metadata", {{"name", name}, {"annotations", {{"own", "kept"}}}}},
              {"spec",
               {{"schedulerName", "nobody"},
                {"terminationGracePeriodSeconds", 0},
                {"containers", Json::array({{{"name", "c"}, {"image", "localhost/none:1"}}})}}}});
    EXPECT_EQ(status, 201) << pod.dump();
    return pod["metadata"]["uid"];
  }
  std::string bind(const std::string& pod, const std::string& uid, const std::string& node) {
    std::promise<std::string> promise;
    auto future = promise.get_future();
    loop_.post([&] {
      tickets_.push_back(kube::bind_pod(
          *client_,
          {"default", pod, uid, node, {{"chipweave.dev/placement", R"({"chips":[0,3]})"}}},
          [&promise](const Result<void>& result) {
            promise.set_value(result ? "bound" : result.error().text());
          }));
    });
    return got(std::move(future));
  }

  // Starts a copy of the namespace's pods.
  void watch_pods() {
    post_and_wait(loop_, [this] {
      kube::Reflector<KubePod>::Options options;
      options.path = kPods;
      pods_ = std::make_unique<kube::Reflector<KubePod>>(
          *client_, options,
          kube::Reflector<KubePod>::Events{
              {[this](KubePod&& pod) {
                 const std::lock_guard lock(mutex_);
                 if (!pod.node_name.empty() &&
                     pod.annotations.count("chipweave.dev/placement") == 0)
                   bound_without_annotation_ = true;
                 seen_[pod.name] = std::move(pod);
               },
               [this](const std::string& key) {
                 const std::lock_guard lock(mutex_);
                 seen_.erase(key.substr(key.find('/') + 1));
               }},
              [this] { synced_ = true; },
              [](const kube::WatchFailure& failure) { ADD_FAILURE() << failure.what; }},
          [] { return 1.0; });
      pods_->start();
    });
  }
  bool eventually(const std::function<bool()>& test) {
    for (int i = 0; i < 500; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (test()) return true;
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }

  std::unique_ptr<kube::Reflector<KubePod>> pods_;
  std::mutex mutex_;
  std::map<std::string, KubePod> seen_;
  std::atomic<bool> synced_{false};
  std::atomic<bool> bound_without_annotation_{false};
};

TEST_F(RealCluster, APodIsBoundAndAnnotatedInOneWrite) {
  const std::string uid = create_pod("e2e-a");
  watch_pods();
  ASSERT_TRUE(eventually([this] { return synced_ && seen_.count("e2e-a") == 1; }));
  EXPECT_EQ(seen_["e2e-a"].uid, uid);
  EXPECT_EQ(bind("e2e-a", uid, "e2e-n1"), "bound");
  ASSERT_TRUE(eventually([this] { return seen_["e2e-a"].node_name == "e2e-n1"; }));
  EXPECT_EQ(seen_["e2e-a"].annotations.at("chipweave.dev/placement"), R"({"chips":[0,3]})");
  EXPECT_EQ(seen_["e2e-a"].annotations.at("own"), "kept");
  EXPECT_FALSE(bound_without_annotation_) << "the node must never be seen without the annotation";

  EXPECT_EQ(bind("e2e-a", uid, "e2e-n1"), "bound") << "a repeated request, as after a lost answer";
  EXPECT_EQ(bind("e2e-a", uid, "e2e-n2"), "pod default/e2e-a is already bound to node e2e-n1");
  EXPECT_EQ(bind("e2e-none", uid, "e2e-n1"), "pod default/e2e-none does not exist");

  EXPECT_EQ(send("DELETE", kPods + "/e2e-a", {{"gracePeriodSeconds", 0}}).first, 200);
  EXPECT_TRUE(eventually([this] { return seen_.count("e2e-a") == 0; }));
  const std::string again = create_pod("e2e-a");
  EXPECT_EQ(bind("e2e-a", uid, "e2e-n1"),
            "pod default/e2e-a has another uid: it was deleted and recreated");
  ASSERT_TRUE(eventually([this] { return seen_.count("e2e-a") == 1; }));
  EXPECT_EQ(seen_["e2e-a"].uid, again);
}

}  // namespace
}  // namespace chipweave
