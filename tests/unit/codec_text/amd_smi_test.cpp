// `amd-smi topology`, in the layout that users published; addresses are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/codec/topology/import.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::vector<std::string> kAddresses = {"0000:0A:00.0", "0000:0b:00.0", "0000:8c:00.0",
                                             "0001:8d:00.0"};

// One table; word(a, b) gives the cells.
template <class F>
std::string table(const std::string& title, F word) {
  std::string out = title + " TABLE:\n             ";
  for (const std::string& address : kAddresses) out += address + " ";
  out += "\n";
  for (std::size_t i = 0; i < kAddresses.size(); ++i) {
    out += kAddresses[i] + " ";
    for (std::size_t k = 0; k < kAddresses.size(); ++k) out += word(i, k) + "         ";
    out += "\n";
  }
  return out + "\n";
}

// The first two and the last two GPUs are linked.
std::string output() {
  const auto linked = [](std::size_t i, std::size_t k) { return i / 2 == k / 2; };
  std::string out =
      table("ACCESS", [](std::size_t, std::size_t) { return std::string("ENABLED"); });
  out += table("WEIGHT", [&](std::size_t i, std::size_t k) {
    return i == k ? std::string("0") : std::string(linked(i, k) ? "15" : "40");
  });
  out +=
      table("HOPS", [](std::size_t i, std::size_t k) { return std::string(i == k ? "0" : "1"); });
  out += table("LINK TYPE", [&](std::size_t i, std::size_t k) {
    return i == k ? std::string("SELF") : std::string(linked(i, k) ? "XGMI" : "PCIE");
  });
  out += table("NUMA BW", [](std::size_t, std::size_t) { return std::string("N/A"); });
  return out + "\nLegend:\n  SELF = Current GPU\n  ENABLED / DISABLED = Link is enabled\n";
}

TEST(AmdSmi, TablesByAddressBecomeLinksByNumber) {
  const auto t = import_topology(output(), {"MI210"});
  ASSERT_TRUE(t.ok()) << t.error().text();
  EXPECT_EQ(t->format, "amd-smi");
  EXPECT_EQ(t->topology.vendor(), "amd");
  ASSERT_EQ(t->topology.chip_count(), 4);
  EXPECT_EQ(t->topology.chip(0).pci, "0000:0a:00.0");
  EXPECT_EQ(t->topology.chip(3).pci, "0001:8d:00.0");
  ASSERT_NE(t->topology.link(0, 1), nullptr);
  EXPECT_EQ(t->topology.link(0, 1)->kind, LinkKind::xgmi);
  EXPECT_NE(t->topology.link(2, 3), nullptr);
  EXPECT_EQ(t->topology.link(1, 2), nullptr);
  EXPECT_THAT(t->warnings, Contains(HasSubstr("prints no NUMA nodes")));
  EXPECT_THAT(t->warnings, Contains(HasSubstr("amd-smi does not print the XGMI lanes")));
}

std::string refusal(const std::string& text) {
  const auto t = import_topology(text, {});
  return t.ok() ? "(no error)" : t.error().text();
}

std::string without(const std::string& title) {
  std::string text = output();
  const std::size_t begin = text.find(title);
  return text.erase(begin, text.find("\n\n", begin) + 2 - begin);
}

TEST(AmdSmi, ErrorsNameTheTableOrTheLine) {
  EXPECT_THAT(refusal(without("WEIGHT TABLE:")),
              HasSubstr("\"WEIGHT TABLE:\" is missing; print it with amd-smi topology"));
  EXPECT_THAT(refusal(without("LINK TYPE TABLE:")), HasSubstr("\"LINK TYPE TABLE:\" is missing"));
  std::string text = output();
  text.replace(text.rfind("0000:8c:00.0", text.find("NUMA BW")), 12, "0000:8e:00.0");
  EXPECT_THAT(refusal(text), HasSubstr("expected the row of a GPU of the header, got "));
  EXPECT_THAT(refusal("LINK TYPE TABLE:\n  a b\n"), HasSubstr("expected GPU names, got \"a\""));
  EXPECT_THAT(refusal("LINK TYPE TABLE:\n0000:0a:00.0 0000:0a:00.0\n"),
              HasSubstr("duplicate column"));
}

}  // namespace
}  // namespace chipweave::codec
