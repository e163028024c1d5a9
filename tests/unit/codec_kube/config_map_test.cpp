#include "common/codec/kube/objects/config_map.hpp"

#include <gtest/gtest.h>

#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/codec/kube/objects/stored_object.hpp"

namespace chipweave::codec {
namespace {

Result<StoredObject> read(std::string text) { return read_stored_object(text); }

TEST(ConfigMap, IsReadAsItWasWritten) {
  std::string text = write_config_map("kube-system", "cm", {{"a/b", "c"}}, {{"k", "\"v\"\n"}});
  EXPECT_EQ(text, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm",)"
                  R"("namespace":"kube-system","labels":{"a/b":"c"}},"data":{"k":"\"v\"\n"}})");
  text.insert(text.find("\"labels\""), R"("uid":"u1","resourceVersion":"7","generation":1,)");
  const auto map = read(text);
  ASSERT_TRUE(map.ok()) << map.error().text();
  EXPECT_EQ(map->version.uid, "u1");
  EXPECT_EQ(map->version.resource_version, "7");
  EXPECT_EQ(map->labels, (StringMap{{"a/b", "c"}}));
  EXPECT_EQ(map->data, (StringMap{{"k", "\"v\"\n"}}));
}

TEST(ConfigMap, MayHaveNothingInIt) {
  const auto map = read(R"({"metadata":{"uid":"u","resourceVersion":"1","labels":null},)"
                        R"("data":null,"binaryData":{"x":"AA=="}})");
  ASSERT_TRUE(map.ok()) << map.error().text();
  EXPECT_TRUE(map->labels.empty());
  EXPECT_TRUE(map->data.empty());
}

TEST(ConfigMap, WhatIsNoneIsAnError) {
  for (const char* text : {"", "[]", "{}", "nonsense", R"({"metadata":{"uid":"u"}})",
                           R"({"metadata":{"uid":"u","resourceVersion":"1"},"data":[]})",
                           R"({"metadata":{"uid":"u","resourceVersion":"1"},"data":{"k":1}})",
                           R"({"metadata":{"uid":"u","resourceVersion":"1","labels":{"k":{}}}})",
                           R"({"metadata":{"uid":"u","resourceVersion":"1"},"other":{]})"}) {
    const auto map = read(text);
    ASSERT_FALSE(map.ok()) << text;
    EXPECT_EQ(map.error().code, Errc::invalid_argument) << text;
  }
}

TEST(MergePatch, OnlyWhatChanges) {
  const ObjectVersion of{"u1", "7"};
  EXPECT_EQ(write_merge_patch(of, {}), R"({"metadata":{"uid":"u1","resourceVersion":"7"}})");
  EXPECT_TRUE(ObjectChanges().none());
  const ObjectChanges changes{{{"a", "1"}, {"b", std::nullopt}}, {{"c", ""}}, {{"d", "x\"y"}}};
  EXPECT_FALSE(changes.none());
  EXPECT_EQ(write_merge_patch(of, changes),
            R"({"metadata":{"uid":"u1","resourceVersion":"7","labels":{"a":"1","b":null},)"
            R"("annotations":{"c":""}},"data":{"d":"x\"y"}})");
}

TEST(DeleteOptions, NameTheVersionThatIsMeant) {
  EXPECT_EQ(write_delete_options({"u1", "7"}),
            R"({"apiVersion":"v1","kind":"DeleteOptions",)"
            R"("preconditions":{"uid":"u1","resourceVersion":"7"}})");
}

}  // namespace
}  // namespace chipweave::codec
