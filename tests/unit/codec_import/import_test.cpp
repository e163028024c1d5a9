#include "common/codec/topology/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
