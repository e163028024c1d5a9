#include "cli/ranktable_tools/output_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/ranktable_tools/tool_runner.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Paths = std::vector<std::string>;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777U;
}

TEST(OutputSet, MakesFoldersAndReplacesFiles) {
  const io::TempFolder folder;
  const std::string old = folder.put("a/b/one", "old");
  std::filesystem::permissions(old, std::filesystem::perms::all);
  Paths saved;
  const auto keep = [&saved](const std::string& path) { saved.push_back(path); };
  const auto done =
      write_set(folder.at("a/b/"), {{"one", "1"}, {"two", "2"}}, FileMode::owner_only, keep);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_THAT(saved, ElementsAre(folder.at("a/b/one"), folder.at("a/b/two")));
  EXPECT_THAT(ToolRunner::files(folder.path()),
              ElementsAre(Pair("a/b/one", "1"), Pair("a/b/two", "2")));
  EXPECT_EQ(mode_of(folder.at("a/b/one")), 0600U);
  EXPECT_EQ(mode_of(folder.at("a/b/two")), 0600U);
}

TEST(OutputSet, AsksTheUmask) {
  const io::TempFolder folder;
  const mode_t before = ::umask(0027);
  const auto done =
      write_set(folder.path(), {{"f", "x"}}, FileMode::by_umask, [](const std::string&) {});
  EXPECT_EQ(::umask(before), 0027U);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(mode_of(folder.at("f")), 0640U);
}

TEST(OutputSet, ReplacesALinkAndNotWhatItLeadsTo) {
  const io::TempFolder folder;
  const std::string target = folder.put("target", "kept");
  std::filesystem::create_symlink(target, folder.at("link"));
  const auto done =
      write_set(folder.path(), {{"link", "new"}}, FileMode::owner_only, [](const std::string&) {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(content_of(target), "kept");
  EXPECT_FALSE(std::filesystem::is_symlink(folder.at("link")));
}

TEST(OutputSet, WritesNothingIfOneCannotBeWritten) {
  const io::TempFolder folder;
  std::filesystem::create_directory(folder.at("two"));
  Paths saved;
  const auto keep = [&saved](const std::string& path) { saved.push_back(path); };
  const auto done =
      write_set(folder.path(), {{"one", "1"}, {"two", "2"}}, FileMode::owner_only, keep);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().text(), HasSubstr("two: is a folder"));
  EXPECT_THAT(saved, IsEmpty());
  EXPECT_THAT(ToolRunner::files(folder.path()), IsEmpty());
}

TEST(OutputSet, SaysWhichFolderCannotBeMade) {
  const io::TempFolder folder;
  const std::string file = folder.put("file", "");
  const auto nothing = [](const std::string&) {};
  for (const std::string& bad : {file, file + "/below", std::string()}) {
    const auto done = write_set(bad, {{"f", "x"}}, FileMode::owner_only, nothing);
    ASSERT_FALSE(done.ok()) << bad;
    EXPECT_THAT(done.error().text(), HasSubstr("folder"));
  }
}

}  // namespace
}  // namespace chipweave::cli
