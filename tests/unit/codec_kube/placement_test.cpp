#include "common/codec/kube/pod/placement.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

const std::string kWhole =
    R"({"v":1,"node":"n1","podUid":"u","resource":"nvidia.com/gpu","chips":[{"index":3,"id":"GPU-3","ip":""},)"
    R"({"id":"GPU-0","index":0}],"gbps":40.0,"gang":{"name":"ns/job","rank":4},"decision":"d-000123",)"
    R"("time":"2026-01-02T03:04:05Z"})";

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kWhole;
  return text.replace(text.find(what), what.size(), instead);
}

TEST(Placement, IsReadBack) {
  const auto note = read_placement(kWhole);
  ASSERT_TRUE(note.ok()) << note.error().text();
  EXPECT_EQ(note->node, "n1");
  EXPECT_EQ(note->pod_uid, "u");
  EXPECT_EQ(note->resource, "nvidia.com/gpu");
  EXPECT_EQ(note->chips, (std::vector<int>{0, 3}));
  EXPECT_EQ(note->gbps, 40.0);
  EXPECT_EQ(note->decision, "d-000123");
  EXPECT_EQ(note->time, 1767323045);
}

TEST(Placement, WhatCannotBeTrueIsAnError) {
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), kWhole + "x",
        with("\"index\":3", "\"index\":0"), with("\"index\":3", "\"index\":-1"),
        with("\"index\":3", "\"index\":3.5"), with("\"index\":3", "\"index\":99999999999"),
        with("\"index\":3,", ""), with("\"index\":3", "\"index\":\"3\""), with("40.0", "\"40\""),
        with("\"n1\"", "7"), with("\"v\":1", "\"v\":2"), with("\"v\":1,", ""),
        with("[{\"index\":3,\"id\":\"GPU-3\",\"ip\":\"\"},", "[7,")}) {
    EXPECT_FALSE(read_placement(bad).ok()) << bad;
  }
}

TEST(Placement, ATimeThatIsNoneIsNotWorthTheRest) {
  const auto note = read_placement(with("2026-01-02T03:04:05Z", "yesterday"));
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note->time, 0);
}

}  // namespace
}  // namespace chipweave::codec
