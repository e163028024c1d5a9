#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using domain::NodeTopology;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One table in the layout of `rocm-smi --showtopo`; word(a, b) gives the cells.
template <class F>
std::string table(const std::string& title, int n, F word) {
  std::string out = "=========== " + title + " ===========\n       ";
  for (int i = 0; i < n; ++i) out += "GPU" + std::to_string(i) + "         ";
  out += "\n";
  for (int i = 0; i < n; ++i) {
    out += "GPU" + std::to_string(i) + "   ";
    for (int k = 0; k < n; ++k) out += (i == k ? "0" : word(i, k)) + "           ";
    out += "\n";
  }
  return out + "\n";
}

const std::set<std::pair<int, int>> kMi250x = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 6}, {2, 4},
                                               {0, 2}, {1, 3}, {1, 5}, {3, 7}, {4, 6}, {5, 7}};

std::string mi250x() {
  const auto weight = [](int a, int b) {
    return kMi250x.count(std::minmax(a, b)) != 0 ? std::string("15") : std::string("30");
  };
  std::string out = "\n===== ROCm System Management Interface =====\n";
  out += table("Weight between two GPUs", 8, weight);
  out += table("Hops between two GPUs", 8, [](int, int) { return std::string("1"); });
  out += table("Link Type between two GPUs", 8, [](int, int) { return std::string("XGMI"); });
  out += "=========== Numa Nodes ===========\n";
  const int numa[] = {3, 3, 1, 1, 0, 0, 2, 2};
  for (int i = 0; i < 8; ++i) {
    const std::string gpu = "GPU[" + std::to_string(i) + "]\t\t: (Topology) Numa ";
    out += gpu + "Node: " + std::to_string(numa[i]) + "\n" + gpu +
           "Affinity: " + std::to_string(numa[i]) + "\n";
  }
  return out + "=========== End of ROCm SMI Log ===========\n";
}

std::string rocm_smi_error(std::string_view text) {
  const auto t = import_rocm_smi(text, {});
  return t.ok() ? "(no error)" : t.error().text();
}

TEST(RocmSmi, TheSmallestWeightMarksDirectLinks) {
  const std::string text = mi250x();
  EXPECT_TRUE(looks_like_rocm_smi(text));
  EXPECT_FALSE(looks_like_npu_smi(text));
  const auto imported = import_rocm_smi(text, {"MI250X"});
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  EXPECT_TRUE(imported->host.rocm_smi_numbers);
  EXPECT_EQ(imported->format, "rocm-smi");
  const NodeTopology& t = imported->topology;
  EXPECT_EQ(t.vendor(), "amd");
  std::set<std::pair<int, int>> links;
  for (const auto& l : t.links()) {
    links.emplace(l.a, l.b);
    EXPECT_EQ(l.kind, LinkKind::xgmi);
    EXPECT_EQ(l.gbps_per_lane, 36);
  }
  EXPECT_EQ(links, kMi250x);
  EXPECT_EQ(t.chip(0).numa, 3);
  EXPECT_EQ(t.host_path(0, 1), LinkKind::node);
  EXPECT_EQ(t.host_path(0, 2), LinkKind::sys);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("lanes"), HasSubstr("routed")));
}

TEST(RocmSmi, LanesOfAnMi250xNodeAreThoseOfItsProfile) {
  const auto profile = import_topology(profiles::find("mi250x-8")->json, {});
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  for (const char* model : {"", "MI250X", "AMD Instinct MI250X"}) {
    const auto t = import_rocm_smi(mi250x(), {model});
    ASSERT_TRUE(t.ok()) << t.error().text();
    for (int a = 0; a < 8; ++a) {
      for (int b = a + 1; b < 8; ++b) {
        const auto* wanted = profile->topology.link(a, b);
        const auto* link = t->topology.link(a, b);
        ASSERT_EQ(link != nullptr, wanted != nullptr) << model << " " << a << "-" << b;
        if (link == nullptr) continue;
        EXPECT_EQ(link->lanes, wanted->lanes) << model << " " << a << "-" << b;
        EXPECT_EQ(link->gbps_per_lane, wanted->gbps_per_lane) << model << " " << a << "-" << b;
      }
    }
    EXPECT_THAT(t->warnings[0], HasSubstr("linked like those of an MI250X node"));
  }
  EXPECT_EQ(import_rocm_smi(mi250x(), {})->topology.model(), "MI250X");
}

TEST(RocmSmi, LanesOfOtherWiringOrAnotherModelCountAsOne) {
  std::string other = mi250x();
  for (const char* row : {"GPU0   0           15", "GPU1   15"}) {  // 0 and 1 are not linked
    const std::size_t at = other.find(row);
    ASSERT_NE(at, std::string::npos);
    other.replace(other.find("15", at), 2, "30");
  }
  for (const auto& [text, model] : {std::pair<std::string, const char*>{other, "MI250X"},
                                    std::pair<std::string, const char*>{mi250x(), "MI210"}}) {
    const auto t = import_rocm_smi(text, {model});
    ASSERT_TRUE(t.ok()) << t.error().text();
    for (const auto& link : t->topology.links()) EXPECT_EQ(link.lanes, 1);
    EXPECT_THAT(t->warnings[0], HasSubstr("one is assumed"));
    EXPECT_EQ(t->topology.model(), model);
  }
}

TEST(RocmSmi, PcieBoxesHaveNoLinks) {
  const std::string text =
      table("Weight between two GPUs", 2, [](int, int) { return std::string("40"); }) +
      table("Link Type between two GPUs", 2, [](int, int) { return std::string("PCIE"); });
  const auto imported = import_rocm_smi(text, {});
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  EXPECT_TRUE(imported->topology.links().empty());
  EXPECT_EQ(imported->topology.chip(0).numa, -1);
  EXPECT_TRUE(imported->warnings.empty());
}

TEST(RocmSmi, BadInputsAreNamedByLine) {
  EXPECT_THAT(rocm_smi_error(mi250x().substr(0, mi250x().find("Link Type"))),
              HasSubstr("Link Type between two GPUs"));
  std::string text = mi250x();
  text.replace(text.rfind("XGMI"), 4, "PCIE");
  EXPECT_THAT(rocm_smi_error(text),
              AllOf(HasSubstr("GPU6, GPU7"), HasSubstr("in the other direction")));
  text = mi250x();
  text.replace(text.find("30"), 2, "3x");
  EXPECT_THAT(rocm_smi_error(text), HasSubstr("weight of GPU0, GPU3"));
  const auto xgmi = [](int, int) { return std::string("XGMI"); };
  const auto weight = [](int, int) { return std::string("15"); };
  EXPECT_THAT(rocm_smi_error(table("Weight between two GPUs", 65, weight) +
                             table("Link Type between two GPUs", 65, xgmi)),
              HasSubstr("must have at most 64 GPUs, got 65"));
  EXPECT_THAT(rocm_smi_error(table("Weight between two GPUs", 2, weight) +
                             table("Link Type between two GPUs", 3, xgmi)),
              HasSubstr("different GPUs"));
  text = table("Weight between two GPUs", 2, weight) + table("Link Type between two GPUs", 2, xgmi);
  EXPECT_THAT(rocm_smi_error(text.substr(0, text.rfind("GPU1   "))), HasSubstr("cut off"));
  text.replace(text.rfind("GPU1"), 4, "GPU0");
  EXPECT_THAT(rocm_smi_error(text), HasSubstr("duplicate row of GPU0"));
}

TEST(RocmSmi, OfTwoOutputsTheFirstIsUsedAndThatIsSaid) {
  const std::string first = mi250x();
  std::string second = first;
  for (std::size_t at = 0; (at = second.find("Numa Node: ", at)) != std::string::npos; ++at) {
    second.replace(at + 11, 1, "7");
  }
  const auto t = import_rocm_smi(first + second, {});
  ASSERT_TRUE(t.ok()) << t.error().text();
  EXPECT_EQ(t->topology.chip(0).numa, 3);
  EXPECT_THAT(t->warnings.back(), HasSubstr("2 outputs"));
}

}  // namespace
}  // namespace chipweave::codec
