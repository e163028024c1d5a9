#include "common/codec/kube/objects/kubelet_config.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec {
namespace {

TEST(KubeletConfig, SaysTheTopologyPolicy) {
  const std::string head =
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
  EXPECT_EQ(read_topology_policy(head).value(), "none");
  EXPECT_EQ(read_topology_policy("").value(), "none");
  EXPECT_EQ(read_topology_policy(head + "topologyManagerPolicy: none\n").value(), "none");
  EXPECT_EQ(read_topology_policy(head + "topologyManagerPolicy: \"\"\n").value(), "none");
  EXPECT_EQ(read_topology_policy(head + "topologyManagerPolicy:\n").value(), "none");
  EXPECT_EQ(read_topology_policy(head + "topologyManagerPolicy: restricted # x\n").value(),
            "restricted");
  EXPECT_EQ(read_topology_policy(R"({"topologyManagerPolicy":"single-numa-node"})").value(),
            "single-numa-node");
  for (const char* wrong :
       {"- a", "topologyManagerPolicy: [none]", "a: [", "topologyManagerPolicy: 7"})
    EXPECT_FALSE(read_topology_policy(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace chipweave::codec
