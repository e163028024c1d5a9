// The watches of owner objects, with an API server that serves some kinds only.
#include "scheduler-plugin/kube/gangs/gang_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/codec_kube/gang_text.hpp"

namespace chipweave::sched {
namespace {

// Holds the requests in flight by their paths.
class PathTransport final : public kube::Transport {
 public:
  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override {
    calls_[path_of(call.target)] = std::move(done);
    return std::make_unique<kube::Ticket>();
  }
  std::unique_ptr<kube::Ticket> stream(kube::StreamRequest request,
                                       kube::StreamSink sink) override {
    streams_[path_of(request.target)] = std::move(sink);
    return std::make_unique<kube::Ticket>();
  }
  std::unique_ptr<kube::Ticket> after(std::chrono::milliseconds,
                                      std::function<void()> task) override {
    waits_.push_back(std::move(task));
    return std::make_unique<kube::Ticket>();
  }
  std::chrono::steady_clock::time_point now() const override { return {}; }

  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const auto& [path, sink] : streams_) out.push_back(path);
    return out;
  }
  void refuse(const std::string& path, int status) {
    const auto sink = streams_.at(path);
    streams_.erase(path);
    sink.refused({status, "{}", std::nullopt});
  }
  void send(const std::string& path, const std::string& line) {
    const auto sink = streams_.at(path);
    sink.bytes(line + "\n");
  }
  void list_is_complete(const std::string& path) {
    send(path, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
               R"({"k8s.io/initial-events-end":"true"}}}})");
  }

 private:
  static std::string path_of(const std::string& target) {
    return target.substr(0, target.find('?'));
  }
  std::map<std::string, std::function<void(Result<kube::Reply>)>> calls_;
  std::map<std::string, kube::StreamSink> streams_;
  std::vector<std::function<void()>> waits_;
};

std::string added(const std::string& name, const std::string& spec,
                  const std::string& version = "5", const char* type = "ADDED") {
  return std::string(R"({"type":")") + type +
         R"(","object":{"metadata":{"namespace":"team","name":")" + name +
         R"(","uid":"u","resourceVersion":")" + version + R"("},"spec":)" + spec + "}}";
}

class GangWatches : public testing::Test {
 protected:
  GangWatch::Events events() {
    return {[this](const GangKey& gang, std::optional<GangSpec> spec) {
              said_[gang.text()] = spec ? codec::text_of(*spec) : "gone";
            },
            [this](const kube::WatchFailure& failure) { failures_.push_back(failure.what); },
            [this](const std::string& object, const Error& why) {
              unusable_.push_back(object + ": " + why.text());
            }};
  }
  PathTransport server_;
  std::map<std::string, std::string> said_;
  std::vector<std::string> failures_;
  std::vector<std::string> unusable_;
};

TEST_F(GangWatches, OnlyWhatIsSwitchedOnIsWatched) {
  GangWatch nothing(server_, {}, events(), [] { return 1.0; });
  nothing.start();
  EXPECT_THAT(server_.paths(), testing::IsEmpty());
  EXPECT_TRUE(nothing.known());
  GangWatch watch(server_, {"volcano", "kai"}, events(), [] { return 1.0; });
  watch.start();
  EXPECT_THAT(server_.paths(),
              testing::ElementsAre("/apis/batch.volcano.sh/v1alpha1/jobs",
                                   "/apis/scheduling.run.ai/v2alpha2/podgroups",
                                   "/apis/scheduling.volcano.sh/v1beta1/podgroups"));
}

TEST_F(GangWatches, ObjectsAreTold) {
  const std::string path = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups";
  GangWatch watch(server_, {"scheduler-plugins"}, events(), [] { return 1.0; });
  watch.start();
  EXPECT_FALSE(watch.known());
  server_.send(path, added("g", R"({"minMember":4})"));
  EXPECT_EQ(said_.at("team/scheduler-plugins/g"), "size ? min 4");
  server_.list_is_complete(path);
  EXPECT_TRUE(watch.known());
  EXPECT_EQ(watch.gangs(), 1U);
  server_.send(path, added("g", "[1", "10", "MODIFIED"));
  EXPECT_EQ(failures_.size(), 1U);  // not JSON at all: the watch starts again
}

TEST_F(GangWatches, GoneAndUnusableObjectsAreTold) {
  const std::string path = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups";
  GangWatch watch(server_, {"scheduler-plugins"}, events(), [] { return 1.0; });
  watch.start();
  server_.send(path, added("g", R"({"minMember":4})"));
  server_.send(path, added("h", R"({"minMember":4})"));
  server_.send(path, added("g", R"({"minMember":4})", "6", "DELETED"));
  EXPECT_EQ(said_.at("team/scheduler-plugins/g"), "gone");
  server_.send(path, added("h", R"({"a":1,"a":2})", "7", "MODIFIED"));
  EXPECT_THAT(unusable_, testing::ElementsAre(testing::StartsWith("PodGroup team/h: spec: ")));
  EXPECT_EQ(said_.at("team/scheduler-plugins/h"), "gone");
}

TEST_F(GangWatches, AKindThatIsNotServedDoesNotHurt) {
  GangWatch watch(server_, {"kubernetes"}, events(), [] { return 1.0; });
  watch.start();
  const std::string newer = "/apis/scheduling.k8s.io/v1beta1/podgroups";
  const std::string older = "/apis/scheduling.k8s.io/v1alpha2/podgroups";
  const std::string workloads = "/apis/scheduling.k8s.io/v1alpha1/workloads";
  EXPECT_THAT(server_.paths(), testing::ElementsAre(workloads, newer));
  server_.refuse(workloads, 404);
  server_.refuse(newer, 404);
  EXPECT_THAT(server_.paths(), testing::ElementsAre(older));  // tried where the newer is missing
  EXPECT_THAT(failures_, testing::IsEmpty());
  EXPECT_FALSE(watch.known());
  server_.send(older, added("g", R"({"schedulingPolicy":{"gang":{"minCount":2}}})"));
  server_.list_is_complete(older);
  EXPECT_TRUE(watch.known());
  EXPECT_EQ(said_.at("team/kubernetes/g"), "size ? min 2");
  const auto owner = watch.object_of({"team", "kubernetes", "g"});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->api_version, "scheduling.k8s.io/v1alpha2") << "the one that is served";
}

TEST_F(GangWatches, AWatchThatIsForbiddenIsReported) {
  GangWatch watch(server_, {"kai"}, events(), [] { return 1.0; });
  watch.start();
  server_.refuse("/apis/scheduling.run.ai/v2alpha2/podgroups", 403);
  EXPECT_THAT(failures_, testing::ElementsAre(testing::HasSubstr("HTTP 403")));
  EXPECT_FALSE(watch.known());
}

}  // namespace
}  // namespace chipweave::sched
