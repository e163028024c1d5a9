#include "common/io/file_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/io/files.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::io {
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

std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    out[std::filesystem::relative(entry.path(), folder).string()] =
        read_file(entry.path().string(), 100).value();
  }
  return out;
}

TEST(FileSet, MakesFoldersAndReplacesFiles) {
  const TempFolder folder;
  const std::string old = folder.put("a/b/one", "old");
  std::filesystem::permissions(old, std::filesystem::perms::all);
  Paths saved;
  const auto keep = [&saved](const std::string& path) { saved.push_back(path); };
  const auto done =
      write_file_set(folder.at("a/b/"), {{"one", "1"}, {"two", "2"}}, FileMode::owner_only, keep);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_THAT(saved, ElementsAre(folder.at("a/b/one"), folder.at("a/b/two")));
  EXPECT_THAT(files_below(folder.path()), ElementsAre(Pair("a/b/one", "1"), Pair("a/b/two", "2")));
  EXPECT_EQ(mode_of(folder.at("a/b/one")), 0600U);
  EXPECT_EQ(mode_of(folder.at("a/b/two")), 0600U);
}

TEST(FileSet, AsksTheUmask) {
  const TempFolder folder;
  const mode_t before = ::umask(0027);
  const auto done =
      write_file_set(folder.path(), {{"f", "x"}}, FileMode::by_umask, [](const std::string&) {});
  EXPECT_EQ(::umask(before), 0027U);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(mode_of(folder.at("f")), 0640U);
}

TEST(FileSet, ReplacesALinkAndNotWhatItLeadsTo) {
  const TempFolder folder;
  const std::string target = folder.put("target", "kept");
  std::filesystem::create_symlink(target, folder.at("link"));
  const auto done = write_file_set(folder.path(), {{"link", "new"}}, FileMode::owner_only,
                                   [](const std::string&) {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(read_file(target, 100).value(), "kept");
  EXPECT_FALSE(std::filesystem::is_symlink(folder.at("link")));
}

TEST(FileSet, WritesNothingIfOneCannotBeWritten) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.at("two"));
  Paths saved;
  const auto keep = [&saved](const std::string& path) { saved.push_back(path); };
  const auto done =
      write_file_set(folder.path(), {{"one", "1"}, {"two", "2"}}, FileMode::owner_only, keep);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().text(), HasSubstr("two: is a folder"));
  EXPECT_THAT(saved, IsEmpty());
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(FileSet, SaysWhichFolderCannotBeMade) {
  const TempFolder folder;
  const std::string file = folder.put("file", "");
  const auto nothing = [](const std::string&) {};
  for (const std::string& bad : {file, file + "/below", std::string()}) {
    const auto done = write_file_set(bad, {{"f", "x"}}, FileMode::owner_only, nothing);
    ASSERT_FALSE(done.ok()) << bad;
    EXPECT_THAT(done.error().text(), HasSubstr("folder"));
  }
}

}  // namespace
}  // namespace chipweave::io
