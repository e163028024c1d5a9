#include "common/codec/mindcluster/node/node_info.hpp"

#include <gtest/gtest.h>

#include "common/http/sha256.hpp"

namespace chipweave::codec::mindcluster {
namespace {

const Digest kNodeSha256 = http::sha256;

constexpr const char* kInner =
    R"({"FaultDevList":[{"DeviceType":"CPU","DeviceId":0,"FaultCode":["0000001D"],)"
    R"("FaultLevel":"PreSeparateFault"}],"NodeStatus":"PreSeparate"})";

std::string with_code(const std::string& inner) {
  return R"({"NodeInfo":)" + inner + R"(,"CheckCode":")" + check_code(inner, kNodeSha256) + R"("})";
}

TEST(NodeInfo, HasItsCheckCodeBehindIt) {
  const NodeInfo info = {{{"CPU", 0, {"0000001D"}, "PreSeparateFault"}}, "PreSeparate"};
  EXPECT_EQ(write_node_info(info, kNodeSha256), with_code(kInner));
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
