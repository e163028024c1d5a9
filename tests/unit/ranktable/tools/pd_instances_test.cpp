#include "common/codec/ranktable/tools/pd_instances.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chipweave::codec::ranktable {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

std::string instances_error(const Words& prefill, const Words& decode, bool strict = false) {
  const auto out = read_pd_instances(prefill, decode, strict);
  return out.ok() ? "(no error)" : out.error().text();
}

TEST(PdInstances, ReadsIdsInTheirOrder) {
  const auto out = read_pd_instances({"5,4", "10,1"}, {"2,3"}, true);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->prefill, ElementsAre(ElementsAre(5, 4), ElementsAre(10, 1)));
  EXPECT_THAT(out->decode, ElementsAre(ElementsAre(2, 3)));
  EXPECT_THAT(out->warnings, IsEmpty());
}

TEST(PdInstances, RefusesWhatIsNoDeviceId) {
  for (const std::string item : {"", ",", "0,", "0,,1", "a", "0,b", "-1", "+1", " 1", "1 ", "01",
                                 "1.0", "0x1", "1024", "99999999999999999999", "\x1b[2J"}) {
    EXPECT_THAT(instances_error({item}, {}), HasSubstr("argument --prefill-server-list")) << item;
    EXPECT_THAT(instances_error({}, {item}), HasSubstr("argument --decode-server-list")) << item;
  }
  EXPECT_THAT(instances_error({"4,"}, {}), HasSubstr("without blanks"));
  EXPECT_LT(instances_error({std::string(100000, '9')}, {}).size(), 400U);
}

TEST(PdInstances, ComparesSizes) {
  EXPECT_THAT(instances_error({"0,1", "2"}, {}),
              HasSubstr("argument --prefill-server-list: instances 0,1 and 2 differ in size"));
  EXPECT_THAT(instances_error({"0"}, {"1", "2,3"}),
              HasSubstr("argument --decode-server-list: instances 1 and 2,3 differ in size"));
  const auto out = read_pd_instances({"0,1"}, {"2,3,4,5"}, false);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_THAT(out->warnings, ElementsAre(HasSubstr("have 2 devices and decode instances 4")));
  EXPECT_THAT(instances_error({"0,1"}, {"2,3,4,5"}, true), HasSubstr("have 2 devices"));
}

TEST(PdInstances, RefusesADeviceTwice) {
  EXPECT_THAT(instances_error({"0,0"}, {}), HasSubstr("device 0 of instance 0,0 is used by"));
  EXPECT_THAT(instances_error({"0,1", "1,2"}, {}), HasSubstr("device 1 of instance 1,2"));
  EXPECT_THAT(instances_error({"0,1"}, {"2,1"}), HasSubstr("--prefill-server-list 0,1"));
}

TEST(PdInstances, RefusesTwoInstancesWithOneFileName) {
  const std::string error = instances_error({"1,23"}, {"12,3"});
  EXPECT_THAT(error, HasSubstr("12,3"));
  EXPECT_THAT(error, HasSubstr("1,23"));
  EXPECT_THAT(error, HasSubstr("\"123\""));
}

}  // namespace
}  // namespace chipweave::codec::ranktable
