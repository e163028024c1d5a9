#include "node-agent/publish/node/kubelet_version_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "common/codec/kube/objects/kubelet_version.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string node(const std::string& version) {
  return R"({"metadata":{"name":"n1"},"spec":{"podCIDR":"10.0.0.0/24"},"status":{"capacity":{"cpu":"8"},)"
         R"("nodeInfo":{"bootID":"b","kubeletVersion":")" +
         version + R"("}}})";
}

class KubeletVersionTest : public testing::Test {
 protected:
  KubeletVersionTest() {
    testing::internal::CaptureStderr();
    kube::ApiChain::Options chain;
    chain.what = "node n1";
    reader_.emplace(server_, "n1", chain, [this](bool usable) { usable_.push_back(usable); });
    reader_->read();
  }
  ~KubeletVersionTest() override { static_cast<void>(log()); }
  std::string log() {
    if (std::exchange(captured_, true)) return {};
    return testing::internal::GetCapturedStderr();
  }

  kube::ScriptedTransport server_;
  std::vector<bool> usable_;
  std::optional<KubeletVersionReader> reader_;
  bool captured_ = false;
};

TEST_F(KubeletVersionTest, FromOneThirtyOnItIsUsable) {
  EXPECT_EQ(server_.target, "/api/v1/nodes/n1");
  server_.target.clear();
  server_.reply(200, node("v1.30.0"));
  EXPECT_THAT(usable_, ElementsAre(true));
  EXPECT_EQ(server_.target, "") << "nothing more is asked";
  reader_->read();
  server_.reply(200, node("v1.36.1+k3s1"));
  EXPECT_THAT(usable_, ElementsAre(true, true));
}

TEST_F(KubeletVersionTest, AnOldOneIsLoggedOnceAndReadAgainLater) {
  for (int i = 0; i < 3; ++i) {
    server_.reply(200, node("v1.29.14"));
    EXPECT_EQ(server_.waiting, std::chrono::minutes(10));
    reader_->read();
    EXPECT_EQ(server_.target, "wait 600000") << "it is being read already";
    server_.pass_time();
  }
  server_.reply(200, node("v1.30.0"));
  EXPECT_THAT(usable_, ElementsAre(false, false, false, true));
  const std::string text = log();
  EXPECT_THAT(text, HasSubstr("v1.29.14"));
  EXPECT_EQ(text.find("v1.29.14"), text.rfind("v1.29.14"));
}

TEST_F(KubeletVersionTest, WhileItIsUnknownNothingIsSaidAboutIt) {
  for (const std::string& body :
       {node(""), node("devel"), node("1.31"), std::string(R"({"metadata":{"name":"n1"}})"),
        std::string("[]"), std::string(R"({"status":{"nodeInfo":7}})")}) {
    server_.reply(200, body);
    EXPECT_EQ(server_.waiting, std::chrono::seconds(30)) << body;
    server_.pass_time();
  }
  server_.fail(Errc::unavailable, "no connection");
  server_.pass_time();
  server_.reply(403, "{}");
  server_.pass_time();
  EXPECT_THAT(usable_, IsEmpty());
  server_.reply(200, node("v1.31.0"));
  EXPECT_THAT(usable_, ElementsAre(true));
}

TEST(KubeletVersionText, IsReadStrictly) {
  using codec::KubeletVersion;
  using codec::parse_kubelet_version;
  EXPECT_EQ(parse_kubelet_version("v1.30.2"), (KubeletVersion{1, 30}));
  EXPECT_EQ(parse_kubelet_version("v1.29.4-gke.1447000"), (KubeletVersion{1, 29}));
  EXPECT_EQ(parse_kubelet_version("v2.0"), (KubeletVersion{2, 0}));
  EXPECT_LT((KubeletVersion{1, 9}), (KubeletVersion{1, 30}));
  for (const char* text : {"", "v", "v1", "v1.", "v.30", "1.30.0", "v1.30x", "v-1.30.0", "v1.-3.0",
                           "v99999999999.1.0"}) {
    EXPECT_EQ(parse_kubelet_version(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace chipweave::agent
