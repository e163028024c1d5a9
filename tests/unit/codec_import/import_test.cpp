#include "common/codec/topology/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string error_of(std::string_view content) {
  const auto t = import_topology(content);
  return t.ok() ? "(no error)" : t.error().text();
}

const std::string kMatrix = "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV1\tX\n";

TEST(Import, TheFormatIsFoundByContent) {
  const std::map<std::string, std::string> texts = {
      {"chipweave-json", "  \n{\"chips\":2}"},
      {"nvidia-smi", kMatrix},
      {"npu-smi", "NPU0 NPU1\nNPU0 X HCCS\nNPU1 HCCS X\n"},
      {"rocm-smi",
       "== Weight between two GPUs ==\n GPU0\nGPU0 0\n== Link Type between two GPUs ==\n "
       "GPU0\nGPU0 0\n"},
  };
  for (const auto& [format, text] : texts) {
    for (const std::string& bom : {std::string(), std::string("\xEF\xBB\xBF")}) {
      const auto t = import_topology(bom + text);
      ASSERT_TRUE(t.ok()) << format << ": " << t.error().text();
      EXPECT_EQ(t->format, format);
    }
  }
}

TEST(Import, EveryRealFileFindsItsImporter) {
  const std::map<std::string, std::string> folders = {{"topologies/nvidia-smi", "nvidia-smi"}};
  for (const auto& [folder, format] : folders) {
    const std::set<std::string> names = shared_names(folder, ".");
    if (names.empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
    for (const std::string& name : names) {
      const auto t = import_topology(shared_file(folder + "/" + name).value());
      ASSERT_TRUE(t.ok()) << name << ": " << t.error().text();
      EXPECT_EQ(t->format, format) << name;
    }
  }
  for (const std::string& name : shared_names("topologies/nccl-xml", ".xml")) {
    const auto t = import_topology(shared_file("topologies/nccl-xml/" + name).value());
    ASSERT_TRUE(t.ok()) << name << ": " << t.error().text();
    const bool graph = name.find("graph") != std::string::npos;
    EXPECT_EQ(t->format, graph ? "nccl-graph" : "nccl-xml") << name;
  }
}

TEST(Import, CpusOfEachChipWhereTheSourceSaysThem) {
  const auto cpus = [](std::string_view content) {
    auto read = import_topology(content);
    EXPECT_TRUE(read.ok()) << read.error().text();
    return read ? read->host.cpus : std::map<int, std::string>{};
  };
  EXPECT_THAT(cpus("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                   "GPU0\tX\tNV1\t0-19,40-59\t0\nGPU1\tNV1\tX\tN/A\t1\n"),
              ElementsAre(Pair(0, "0-19,40-59")));
  EXPECT_THAT(cpus("     NPU0 NPU1 CPU Affinity\nNPU0 X    HCCS 144-167\nNPU1 HCCS X    0-23\n"),
              ElementsAre(Pair(0, "144-167"), Pair(1, "0-23")));
  EXPECT_THAT(cpus(kMatrix), IsEmpty());
  const std::string pci =
      "<pci busid=\"0000:01:00.0\" class=\"0x030200\"><gpu dev=\"3\" sm=\"80\"/>";
  EXPECT_THAT(cpus("<system version=\"1\"><cpu numaid=\"0\" affinity=\"0000ff,f000000f\">" + pci +
                   "</pci></cpu></system>"),
              ElementsAre(Pair(3, "0-3,28-39")));
  EXPECT_THAT(
      cpus("<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x000000ff\">"
           "<object type=\"Package\" cpuset=\"0x0000000f\"><object type=\"Core\" cpuset=\"0x1\"/>"
           "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"PCIDev\" "
           "pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:1db1] [0:0] a1\"/></object></object>"
           "</object></topology>"),
      ElementsAre(Pair(0, "0-3")));
}

TEST(Import, WrongEncodingsAndBinariesAreNamed) {
  std::string wide = "\xFF\xFE";
  std::string unmarked;
  for (const char c : kMatrix) {
    wide += {c, '\0'};
    unmarked += {c, '\0'};
  }
  EXPECT_THAT(error_of(wide), HasSubstr("UTF-16"));
  EXPECT_THAT(error_of(unmarked), HasSubstr("UTF-16"));
  EXPECT_THAT(error_of(std::string("\x7f"
                                   "ELF\0\0\0\0\0\0\0\0\0",
                                   13)),
              HasSubstr("binary"));
  EXPECT_THAT(error_of("\x1f\x8b\x08"), HasSubstr("gzip"));
}

TEST(Import, UnknownContentListsTheFormats) {
  EXPECT_THAT(error_of("hello"),
              AllOf(HasSubstr("unknown format"), HasSubstr("nvidia-smi topo -m")));
  EXPECT_THAT(error_of(" \n\t"), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of("<html><body/></html>"), HasSubstr("XML"));
}

TEST(Import, SizeIsBounded) {
  const auto t = import_topology(std::string(100U << 20U, ' '));
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.error().code, Errc::limit_exceeded);
}

TEST(ImportTree, OtherFoldersAreErrors) {
  EXPECT_THAT(import_topology_tree({}).error().text(), HasSubstr("no readable file"));
  EXPECT_THAT(import_topology_tree({{"readme", "x"}}).error().text(),
              HasSubstr("nodes/<n>/properties"));
}

}  // namespace
}  // namespace chipweave::codec
