// Gates and the node of pod documents that people and scripts post.
#include "common/codec/kube/pod/pod.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/codec/kube/pod/nodes/node_pin.hpp"

namespace chipweave::codec {
namespace {

TEST(GatesInPodJson, AreReadAndWrittenBackWithoutOne) {
  const std::string document =
      R"({"metadata":{"name":"p"},"spec":{"schedulingGates":[{"name":"ours"},{"name":"b"}]}})";
  EXPECT_EQ(read_pod(document)->gates, (std::vector<std::string>{"ours", "b"}));
  const auto spec_of = [&](const std::string& text, const PodChanges& changes) {
    return nlohmann::json::parse(write_pod(text, changes).value())["spec"];
  };
  const PodChanges ungated{"ns", "u", "", {}, "ours", "n1"};
  nlohmann::json expected = nlohmann::json::parse(
      R"({"schedulingGates":[{"name":"b"}],"affinity":{"nodeAffinity":{
          "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}}})");
  EXPECT_EQ(spec_of(document, ungated), expected);
  expected.erase("schedulingGates");
  const char* only_ours =
      R"({"metadata":{"name":"p"},"spec":{"schedulingGates":[{"name":"ours"}]}})";
  EXPECT_EQ(spec_of(only_ours, ungated), expected);
  const auto wrong = read_pod(R"({"metadata":{"name":"p"},"spec":{"schedulingGates":["a"]}})");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text().find("spec.schedulingGates[0]"), std::string::npos)
      << wrong.error().text();
}

TEST(NodePin, IsAddedToEachTermThatCanMatch) {
  const auto pinned = [](const std::string& terms) {
    const auto text = pin_terms(
        R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
        R"({"nodeSelectorTerms":)" +
            terms + "}}}}}",
        "n1");
    return text ? *text : text.error().text();
  };
  const std::string pin = R"({"key":"metadata.name","operator":"In","values":["n1"]})";
  const std::string only_pin = R"([{"matchFields":[)" + pin + "]}]";
  EXPECT_EQ(pin_terms("n1"), only_pin);
  EXPECT_EQ(pin_terms("{}", "n1").value(), only_pin);
  EXPECT_EQ(pinned("[]"), only_pin);
  EXPECT_EQ(pinned("[{}]"), "[{}]") << "matches no node, and nothing may be added";
  EXPECT_EQ(pinned(R"([{"matchExpressions":[{"key":"a"}],"matchFields":null}])"),
            R"([{"matchExpressions":[{"key":"a"}],"matchFields":[)" + pin + "]}]");
  EXPECT_EQ(pinned(only_pin), only_pin) << "not twice";
  EXPECT_EQ(pinned("[{},7]"), "its nodeSelectorTerms are no list of objects");
  EXPECT_EQ(pinned(R"({"a":{}})"), "its nodeSelectorTerms are no list of objects");
  EXPECT_NE(pinned(R"([{"matchFields":{"a":"b"}}])").find("cannot be read"), std::string::npos);
  EXPECT_FALSE(pin_terms("{", "n1").ok());
}

}  // namespace
}  // namespace chipweave::codec
