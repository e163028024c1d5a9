#include "common/io/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "common/base/limits.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ReadFile, GivesAllBytesUpToTheLimit) {
  const TempFolder tmp;
  const std::string content = std::string("a\0b\n", 4);
  const std::string path = tmp.put("f", content);
  EXPECT_EQ(read_file(path, 4).value(), content);
  EXPECT_EQ(read_file(tmp.put("empty", ""), 0).value(), "");
  const auto over = read_file(path, 3);
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().code, Errc::limit_exceeded);
  EXPECT_THAT(over.error().text(), HasSubstr(path));
}

TEST(ReadFile, MissingFolderAndUnusableNamesAreErrors) {
  const TempFolder tmp;
  EXPECT_EQ(read_file(tmp.at("none"), 10).error().code, Errc::not_found);
  EXPECT_THAT(read_file(tmp.path(), 10).error().text(), HasSubstr("is a folder"));
  EXPECT_EQ(read_file(std::string("a\0b", 3), 10).error().code, Errc::invalid_argument);
}

TEST(ReadFile, LargeSparseFileIsRefusedBySize) {
  const TempFolder tmp;
  const std::string path = tmp.put("big", "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40U);  // would never fit in memory
  EXPECT_EQ(read_file(path, limits::kMaxTopologyFileBytes).error().code, Errc::limit_exceeded);
}

TEST(ReadFile, EndlessDeviceAndPipeAreBounded) {
  EXPECT_EQ(read_file("/dev/zero", 1000000).error().code, Errc::limit_exceeded);
  const TempFolder tmp;
  ASSERT_EQ(::mkfifo(tmp.at("pipe").c_str(), 0600), 0);
  std::thread writer([&tmp] { std::ofstream(tmp.at("pipe")) << "through a pipe"; });
  const auto read = read_file(tmp.at("pipe"), 100);
  writer.join();
  EXPECT_EQ(read.value(), "through a pipe");
}

TEST(WriteFileAtomically, ReplacesAndLeavesNothingBehind) {
  const TempFolder tmp;
  const std::string path = tmp.put("f", "old");
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  ASSERT_TRUE(write_file_atomically(path, "new content").ok());
  EXPECT_EQ(read_file(path, 100).value(), "new content");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tmp.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(WriteFileAtomically, AFailureKeepsTheOldFile) {
  const TempFolder tmp;
  EXPECT_EQ(write_file_atomically(tmp.at("none/f"), "x").error().code, Errc::not_found);
  std::filesystem::create_directories(tmp.at("folder/inside"));
  EXPECT_FALSE(write_file_atomically(tmp.at("folder"), "x").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tmp.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(WriteFileAtomically, ALinkStaysAndItsTargetIsReplaced) {
  namespace fs = std::filesystem;
  const TempFolder tmp;
  tmp.put("real/f", "old");
  fs::create_symlink("real/f", tmp.at("link"));
  fs::create_symlink(tmp.at("link"), tmp.at("second"));
  ASSERT_TRUE(write_file_atomically(tmp.at("second"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(tmp.at("link")));
  EXPECT_TRUE(fs::is_symlink(tmp.at("second")));
  EXPECT_EQ(read_file(tmp.at("real/f"), 100).value(), "new");
  fs::create_symlink("real/made", tmp.at("dangling"));
  ASSERT_TRUE(write_file_atomically(tmp.at("dangling"), "made").ok());
  EXPECT_EQ(read_file(tmp.at("real/made"), 100).value(), "made");
  fs::create_symlink("round", tmp.at("round"));
  EXPECT_FALSE(write_file_atomically(tmp.at("round"), "x").ok());
}

TEST(WriteFileAtomically, DevicesAndPipesAreWrittenToAndStay) {
  const TempFolder tmp;
  ASSERT_EQ(::mkfifo(tmp.at("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(tmp.at("pipe"), 100).value(); });
  const auto written = write_file_atomically(tmp.at("pipe"), "through a pipe");
  if (!written.ok()) std::ofstream(tmp.at("pipe")) << "";  // otherwise the reader waits forever
  reader.join();
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(read, "through a pipe");
  EXPECT_TRUE(std::filesystem::is_fifo(tmp.at("pipe")));
}

TEST(ReadFile, KeepsNoMoreMemoryThanTheFileHas) {
  const TempFolder tmp;
  EXPECT_LT(read_file(tmp.put("f", std::string(100, 'x')), 1000000).value().capacity(), 1000U);
}

TEST(ReadTree, TakesFilesByRelativePath) {
  const TempFolder tmp;
  tmp.put("nodes/2/properties", "x 1\n");
  tmp.put("a", "");
  EXPECT_THAT(read_tree(tmp.path()).value(),
              ElementsAre(Pair("a", ""), Pair("nodes/2/properties", "x 1\n")));
}

TEST(ReadTree, LinksAreFollowedOnceAndOnlyInside) {
  namespace fs = std::filesystem;
  const TempFolder outside;
  outside.put("secret", "s");
  const TempFolder tmp;
  tmp.put("real/f", "1");
  fs::create_directory_symlink(tmp.at("real"), tmp.at("alias"));
  fs::create_directory_symlink(tmp.path(), tmp.at("real/loop"));
  fs::create_directory_symlink(outside.path(), tmp.at("out"));
  fs::create_symlink(outside.at("secret"), tmp.at("leak"));
  const codec::FileTree tree = read_tree(tmp.path()).value();
  EXPECT_EQ(tree.count("real/f"), 1U);
  EXPECT_EQ(tree.count("alias/f"), 1U);
  EXPECT_EQ(tree.count("leak"), 0U);
  EXPECT_EQ(tree.count("out/secret"), 0U);
  for (const auto& [path, content] : tree) EXPECT_EQ(path.find("loop/alias/"), std::string::npos);
}

TEST(ReadTree, DepthIsBoundedAndFilesAreNoFolders) {
  const TempFolder tmp;
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "d/";
  tmp.put(deep + "f", "x");
  EXPECT_EQ(read_tree(tmp.path()).error().code, Errc::limit_exceeded);
  EXPECT_EQ(read_tree(tmp.at("none")).error().code, Errc::not_found);
  EXPECT_FALSE(read_tree(tmp.put("file", "")).ok());
}

TEST(ReadTree, TheSumOfItsFilesIsBoundedAndNamedAsSuch) {
  const TempFolder tmp;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    std::filesystem::resize_file(tmp.put(name, ""), limits::kMaxTopologyFileBytes - 1);
  }
  const auto tree = read_tree(tmp.path());
  ASSERT_FALSE(tree.ok());
  EXPECT_THAT(tree.error().text(), HasSubstr("its files have more than 64 MiB in all"));
}

}  // namespace
}  // namespace chipweave::io
