// `mx-smi topo -m`, in the layout that users published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/codec/topology/import.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kHead =
    "mx-smi  version: 2.2.9\n\n"
    "=================== MetaX System Management Interface Log ===================\n"
    "Timestamp                                         : Wed Feb 11 16:37:10 2026\n\n"
    "Attached GPUs                                     : 4\n"
    "Device link type matrix\n";
const std::string kMatrix =
    "        GPU0    GPU1    GPU2    GPU3    NIC0    Node Affinity  CPU Affinity\n"
    "GPU0    X       MX      NODE    SYS     PIX     0              0-31,64-95\n"
    "GPU1    MX      X       NODE    SYS     PIX     0              0-31,64-95\n"
    "GPU2    NODE    NODE    X       MX      SYS     1              32-63,96-127\n"
    "GPU3    SYS     SYS     MX      X       SYS     1              32-63,96-127\n"
    "NIC0    PIX     PIX     SYS     SYS     X\n";
const std::string kLegend = "\nLegend:\n  X    = Self\n  MX   = Connection traversing MetaXLink\n";

TEST(MxSmi, MatrixHasLinksPathsNicsAndNumaNodes) {
  for (const std::string& text : {kHead + kMatrix + kLegend, kMatrix}) {
    const auto t = import_topology(text, {"C550"});
    ASSERT_TRUE(t.ok()) << t.error().text();
    EXPECT_EQ(t->format, "mx-smi");
    EXPECT_EQ(t->topology.vendor(), "metax");
    ASSERT_EQ(t->topology.chip_count(), 4);
    EXPECT_EQ(t->topology.chip(1).numa, 0);
    EXPECT_EQ(t->topology.chip(2).numa, 1);
    ASSERT_NE(t->topology.link(0, 1), nullptr);
    EXPECT_EQ(t->topology.link(0, 1)->kind, LinkKind::metaxlink);
    EXPECT_NE(t->topology.link(2, 3), nullptr);
    EXPECT_EQ(t->topology.link(0, 3), nullptr);
    EXPECT_EQ(t->topology.nics().size(), 1U);
    EXPECT_TRUE(t->cpu_ranges.empty());
    EXPECT_THAT(t->warnings, Contains(HasSubstr("does not print the lanes of a MetaXLink")));
  }
}

// Without MetaXLink only the tool's name tells it from nvidia-smi.
TEST(MxSmi, CardsWithoutLinksAreMetaxByTheName) {
  const std::string matrix = "        GPU0    GPU1\nGPU0    X       ETH\nGPU1    ETH     X\n";
  const auto t = import_topology(kHead + matrix, {});
  ASSERT_TRUE(t.ok()) << t.error().text();
  EXPECT_EQ(t->format, "mx-smi");
  EXPECT_EQ(t->topology.link(0, 1), nullptr);
  EXPECT_THAT(t->warnings, Contains(HasSubstr("over Ethernet count as SYS")));
  EXPECT_EQ(import_topology("\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n", {})->format,
            "nvidia-smi");
}

TEST(MxSmi, ErrorsNameTheLine) {
  std::string text = kMatrix;
  text.replace(text.find("NODE    X", text.find("GPU2    NODE")), 4, "NV12");
  const auto t = import_topology(text, {});
  ASSERT_FALSE(t.ok());
  EXPECT_THAT(t.error().text(), HasSubstr("line 4: cell GPU2, GPU1: expected X, MX, PIX"));
}

}  // namespace
}  // namespace chipweave::codec
