#include "common/codec/ranktable/tools/generated_tables.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec::ranktable {
namespace {

TEST(PdTables, WritesTheBytesOfTheReference) {
  PdMachine machine;
  machine.address = "10.0.0.18";
  machine.api_server = true;
  machine.decode = {{{6, "10.0.1.24", {}}, {7, "10.0.1.24", 16667}}};
  const auto files = write_pd_tables(machine);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].name, "global_ranktable_10.0.0.18.json");
  EXPECT_EQ(files[1].name, "local_ranktable_10.0.0.18_67.json");
  EXPECT_EQ(files[2].name, "local_ranktable_10.0.0.18_host.json");
  EXPECT_EQ(files[2].text, R"({
    "version": "1.0",
    "status": "completed",
    "group_id": "0",
    "server_count": "1",
    "server_list": [
        {
            "server_id": "10.0.0.18",
            "server_ip": "10.0.0.18"
        }
    ]
})");
  EXPECT_EQ(files[1].text, R"({
    "version": "1.0",
    "status": "completed",
    "group_id": "0",
    "server_count": "1",
    "server_list": [
        {
            "server_id": "10.0.0.18",
            "server_ip": "10.0.0.18",
            "device": [
                {
                    "device_id": "6",
                    "device_ip": "10.0.1.24",
                    "rank_id": "0"
                },
                {
                    "device_id": "7",
                    "device_ip": "10.0.1.24",
                    "rank_id": "1",
                    "device_port": "16667"
                }
            ]
        }
    ]
})");
  EXPECT_TRUE(files[0].text.starts_with(R"({
    "version": "1.0",
    "status": "completed",
    "server_group_list": [
        {
            "group_id": "0",
)"));
  EXPECT_EQ(files[0].text.find("\"group_id\": \"1\""), std::string::npos);
}

}  // namespace
}  // namespace chipweave::codec::ranktable
