#include <gtest/gtest.h>

#include "common/codec/mindcluster/node/node_annotations.hpp"

namespace chipweave::codec::mindcluster {
namespace {

TEST(BaseDevices, AreACompactMapByName) {
  const BaseDevices devices = {{2, {"192.0.2.12", 262146}}, {10, {"", std::nullopt}}};
  const std::string text = write_base_devices("Ascend910", devices);
  EXPECT_EQ(text, R"({"Ascend910-10":{"IP":""},)"
                  R"("Ascend910-2":{"IP":"192.0.2.12","SuperDeviceID":262146}})");
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
