// The Kubernetes client against a real API server (scripts/testbed): the copy of a collection, and
// binding with annotations, and removing a scheduling gate. Skipped without a testbed.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/kube/bind_pod.hpp"
#include "common/kube/reflector.hpp"
#include "common/kube/ungate_pod.hpp"
#include "tests/e2e/real_api.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave {
namespace {

using codec::KubeNode;
using codec::KubePod;
using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kPods = "/api/v1/namespaces/default/pods";

const Json::json_pointer kTerms(
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");

// Passes requests on and keeps what comes back.
class Tap final : public kube::Transport {
 public:
  explicit Tap(kube::Transport& to) : to_(to) {}
  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override {
    return to_.call(std::move(call), [this, done = std::move(done)](Result<kube::Reply> reply) {
      if (reply) received += reply->body;
      done(std::move(reply));
    });
  }
  std::unique_ptr<kube::Ticket> stream(kube::StreamRequest request,
                                       kube::StreamSink sink) override {
    sink.bytes = [this, bytes = std::move(sink.bytes)](std::string_view text) {
      received += text;
      bytes(text);
    };
    return to_.stream(std::move(request), std::move(sink));
  }
  std::unique_ptr<kube::Ticket> after(milliseconds delay, std::function<void()> task) override {
    return to_.after(delay, std::move(task));
  }
  std::chrono::steady_clock::time_point now() const override { return to_.now(); }

  std::string received;  // loop thread

 private:
  kube::Transport& to_;
};

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
    post_and_wait(loop_, [this] {
      pods_.reset();
      nodes_.reset();
    });
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

  // terms: JSON of required node affinity; empty: none.
  std::string create_gated_pod(const std::string& name, const std::string& terms) {
    Json body = Json::parse(R"({"spec":{"schedulerName":"nobody","terminationGracePeriodSeconds":0,
        "schedulingGates":[{"name":"chipweave.dev/gang"}],
        "containers":[{"name":"c","image":"localhost/none:1"}]}})");
    body["metadata"]["name"] = name;
    if (!terms.empty()) body[kTerms] = Json::parse(terms);
    const auto [status, pod] = send("POST", kPods, body);
    EXPECT_EQ(status, 201) << pod.dump();
    return pod["metadata"]["uid"];
  }
  std::string ungate(const std::string& pod, const std::string& uid, const std::string& rank,
                     std::optional<std::string> pin_to = {}) {
    std::promise<std::string> promise;
    auto future = promise.get_future();
    loop_.post([&] {
      tickets_.push_back(kube::ungate_pod(*client_,
                                          {"default",
                                           pod,
                                           uid,
                                           "chipweave.dev/gang",
                                           {{"chipweave.dev/rank", rank}},
                                           std::move(pin_to),
                                           {}},
                                          [&promise](const Result<void>& result) {
                                            promise.set_value(result ? "done"
                                                                     : result.error().text());
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
  // Starts a copy of the Nodes' names, from their metadata.
  void watch_nodes(bool streaming) {
    post_and_wait(loop_, [this, streaming] {
      kube::Reflector<KubeNode>::Options options;
      options.path = "/api/v1/nodes";
      options.metadata_only = true;
      options.list_watch.streaming = streaming;
      nodes_.reset();
      versions_.clear();
      synced_ = false;
      tap_ = std::make_unique<Tap>(*client_);
      nodes_ = std::make_unique<kube::Reflector<KubeNode>>(
          *tap_, options,
          kube::Reflector<KubeNode>::Events{
              {[this](KubeNode&& node) {
                 const std::lock_guard lock(mutex_);
                 versions_[node.name] = node.resource_version;
               },
               [this](const std::string& name) {
                 const std::lock_guard lock(mutex_);
                 versions_.erase(name);
               }},
              [this] { synced_ = true; },
              [](const kube::WatchFailure& failure) { ADD_FAILURE() << failure.what; }},
          [] { return 1.0; });
      nodes_->start();
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
  std::unique_ptr<Tap> tap_;
  std::unique_ptr<kube::Reflector<KubeNode>> nodes_;
  std::map<std::string, std::string> versions_;  // of the nodes
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

TEST_F(RealCluster, AGateIsRemovedWithAnnotationAndPin) {
  const std::string pin = R"({"key":"metadata.name","operator":"In","values":["e2e-n1"]})";
  const std::string only_pin = R"([{"matchFields":[)" + pin + "]}]";
  const auto shown = [&](const std::string& name) {
    return send("GET", kPods + "/" + name, nullptr).second;
  };
  const std::string a = create_gated_pod("e2e-a", "");
  const std::string another_uid = "00000000-0000-4000-8000-000000000000";
  EXPECT_EQ(ungate("e2e-a", another_uid, "1"),
            "pod default/e2e-a has another uid: it was deleted and recreated");
  EXPECT_EQ(ungate("e2e-nobody", another_uid, "1"), "pod default/e2e-nobody does not exist");
  EXPECT_EQ(ungate("e2e-a", a, "1", "e2e-n1"), "done");
  EXPECT_FALSE(shown("e2e-a")["spec"].contains("schedulingGates"));
  EXPECT_EQ(shown("e2e-a")["metadata"]["annotations"]["chipweave.dev/rank"], "1");
  EXPECT_EQ(shown("e2e-a")[kTerms].dump(), only_pin);
  EXPECT_EQ(ungate("e2e-a", a, "1", "e2e-n1"), "done") << "again";
  EXPECT_EQ(ungate("e2e-a", a, "2", "e2e-n2"), "done") << "it is not gated any more";
  EXPECT_EQ(shown("e2e-a")["metadata"]["annotations"]["chipweave.dev/rank"], "2");
  EXPECT_EQ(shown("e2e-a")[kTerms].dump(), only_pin);

  const std::string zone = R"({"matchExpressions":[{"key":"zone","operator":"Exists"}])";
  const std::string b = create_gated_pod("e2e-b", "[" + zone + "},{}]");
  EXPECT_EQ(ungate("e2e-b", b, "3", "e2e-n1"), "done");
  EXPECT_FALSE(shown("e2e-b")["spec"].contains("schedulingGates"));
  EXPECT_EQ(shown("e2e-b")[kTerms].dump(), "[" + zone + R"(,"matchFields":[)" + pin + "]},{}]");
}

TEST_F(RealCluster, NodesAreReceivedAsMetadata) {
  for (const bool streaming : {true, false}) {
    SCOPED_TRACE(streaming ? "streaming list" : "pages");
    send("POST", "/api/v1/nodes", {{"metadata", {{"name", "e2e-n2"}}}});
    watch_nodes(streaming);
    ASSERT_TRUE(eventually([this] { return synced_.load(); }));
    ASSERT_EQ(versions_.count("e2e-n1") + versions_.count("e2e-n2"), 2U);
    const auto [status, node] = send("PUT", "/api/v1/nodes/e2e-n1/status",
                                     {{"metadata", {{"name", "e2e-n1"}}},
                                      {"status", {{"capacity", {{"example.com/chip", "8"}}}}}});
    ASSERT_EQ(status, 200) << node.dump();
    const auto version = std::stoull(node["metadata"]["resourceVersion"].get<std::string>());
    EXPECT_TRUE(eventually([&] { return std::stoull(versions_.at("e2e-n1")) >= version; }));
    EXPECT_EQ(send("DELETE", "/api/v1/nodes/e2e-n2", {}).first, 200);
    EXPECT_TRUE(eventually([this] { return versions_.count("e2e-n2") == 0; }));
    std::string received;
    post_and_wait(loop_, [&] { received = tap_->received; });
    EXPECT_NE(received.find(R"("kind":"PartialObjectMetadata")"), std::string::npos);
    EXPECT_EQ(received.find(R"("kind":"Node")"), std::string::npos) << received;
    EXPECT_EQ(received.find(R"("status":)"), std::string::npos) << received;
  }
}

}  // namespace
}  // namespace chipweave
