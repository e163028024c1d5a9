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
  EXPECT_EQ(*read_node_info(with_code(kInner), kNodeSha256), info);
}

TEST(NodeInfo, NoFaultsAreAnEmptyListOrNull) {
  for (const char* inner : {R"({"FaultDevList":[],"NodeStatus":"Healthy"})",
                            R"({"FaultDevList":null,"NodeStatus":"Healthy"})"}) {
    const auto info = read_node_info(with_code(inner), kNodeSha256);
    ASSERT_TRUE(info.ok()) << info.error().text();
    EXPECT_EQ(info->status, "Healthy");
    EXPECT_TRUE(info->faults.empty());
  }
}

TEST(NodeInfo, AWrongCheckCodeIsAnError) {
  std::string text = with_code(kInner);
  text.replace(text.find("0000001D"), 8, "0000001E");
  EXPECT_NE(read_node_info(text, kNodeSha256).error().text().find("write it again"),
            std::string::npos);
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
