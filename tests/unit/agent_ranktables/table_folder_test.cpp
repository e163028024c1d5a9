// Files in folders to which containers can write.
#include "node-agent/ranktables/table_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/io/files.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJob = "train.job-a";
constexpr const char* kTable = "hccl.json";
constexpr const char* kVersion = "version";

class TableFolderTest : public testing::Test {
 protected:
  TableFolderTest() { EXPECT_TRUE(folder_.prepare().ok()); }

  std::string file(const std::string& name) const { return folder_.path_of(kJob) + "/" + name; }
  std::string text(const std::string& name) const {
    auto out = io::read_file(file(name), 4096);
    return out ? *out : "-";
  }
  // A write, a read and a removal all fail, and nothing behind `outside` changes.
  void expect_refused(const char* what) {
    for (const Result<void>& result :
         {folder_.write(kJob, kTable, "new"), folder_.remove(kJob), as_void(folder_.read(kJob))}) {
      ASSERT_FALSE(result.ok()) << what;
      EXPECT_EQ(result.error().code, Errc::conflict) << what << ": " << result.error().text();
    }
    EXPECT_EQ(io::read_file(outside_, 100).value_or("-"), "untouched") << what;
  }
  static Result<void> as_void(const Result<TableFolder::Contents>& read) {
    return read ? Result<void>() : Result<void>(read.error());
  }

  io::TempFolder temp_;
  std::string outside_ = temp_.put("outside/secret", "untouched");
  TableFolder folder_{temp_.at("base")};
};

TEST_F(TableFolderTest, AreWrittenReadAndRemoved) {
  const auto none = folder_.read(kJob);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->table || none->version);
  EXPECT_TRUE(folder_.remove(kJob).ok()) << "there is nothing to remove";

  const mode_t before = ::umask(0077);
  ASSERT_TRUE(folder_.write(kJob, kTable, "one").ok());
  ASSERT_TRUE(folder_.write(kJob, kVersion, "7").ok());
  ::umask(before);
  EXPECT_EQ(fs::status(folder_.path_of(kJob)).permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(file(kTable)).permissions(), fs::perms(0644));
  const auto there = folder_.read(kJob);
  ASSERT_TRUE(there.ok());
  EXPECT_EQ(there->table, "one");
  EXPECT_EQ(there->version, "7");

  ASSERT_TRUE(folder_.remove(kJob).ok());
  EXPECT_FALSE(fs::exists(folder_.path_of(kJob)));
}

TEST_F(TableFolderTest, AReaderThatHasTheOldFileOpenKeepsIt) {
  ASSERT_TRUE(folder_.write(kJob, kTable, "one").ok());
  const io::Descriptor old(::open(file(kTable).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(folder_.write(kJob, kTable, "other").ok());
  std::string read(8, '\0');
  EXPECT_EQ(::read(old.get(), read.data(), read.size()), 3) << "it was replaced, not rewritten";
  EXPECT_EQ(text(kTable), "other");
}

TEST_F(TableFolderTest, LinksPipesAndFoldersInTheWayAreRefused) {
  const auto in_the_way = [&](const char* what, const auto& make) {
    fs::remove_all(folder_.path_of(kJob));
    fs::create_directories(folder_.path_of(kJob));
    make();
    expect_refused(what);
  };
  in_the_way("a link to a file", [&] { fs::create_symlink(outside_, file(kTable)); });
  in_the_way("a link to nothing", [&] { fs::create_symlink("/nowhere", file(kTable)); });
  in_the_way("a pipe", [&] { ASSERT_EQ(::mkfifo(file(kTable).c_str(), 0600), 0); });
  in_the_way("a folder", [&] { fs::create_directory(file(kTable)); });
}

TEST_F(TableFolderTest, AFolderThatIsALinkIsRefused) {
  fs::create_directory_symlink(temp_.at("outside"), folder_.path_of(kJob));
  expect_refused("the folder is a link");
  EXPECT_FALSE(fs::exists(temp_.at("outside/hccl.json")));
  fs::remove(folder_.path_of(kJob));
  temp_.put(std::string("base/") + kJob, "a file");
  expect_refused("the folder is a file");
}

TEST_F(TableFolderTest, ALinkThatTakesTheNameOfAFileIsReplacedItself) {
  ASSERT_TRUE(folder_.write(kJob, kTable, "one").ok());
  fs::create_hard_link(outside_, file("harmless"));
  fs::rename(file("harmless"), file(kTable));
  ASSERT_TRUE(folder_.write(kJob, kTable, "two").ok());
  EXPECT_EQ(text(kTable), "two");
  EXPECT_EQ(io::read_file(outside_, 100).value_or("-"), "untouched");
}

TEST_F(TableFolderTest, WhatOthersPutThereStays) {
  ASSERT_TRUE(folder_.write(kJob, kTable, "one").ok());
  temp_.put(std::string("base/") + kJob + "/notes", "mine");
  ASSERT_TRUE(folder_.remove(kJob).ok());
  EXPECT_EQ(text("notes"), "mine");
  EXPECT_FALSE(fs::exists(file(kTable)));
}

TEST_F(TableFolderTest, HugeFilesAreNotRead) {
  fs::create_directories(folder_.path_of(kJob));
  temp_.put(std::string("base/") + kJob + "/hccl.json", "");
  fs::resize_file(file(kTable), std::uintmax_t{1} << 40U);
  const auto read = folder_.read(kJob);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::limit_exceeded);
}

TEST_F(TableFolderTest, LeftoversOfAKilledAgentAreRemoved) {
  const std::string left = temp_.put("base/.chipweave/new", "half a ta");
  EXPECT_TRUE(folder_.write(kJob, kTable, "one").ok()) << "also while it is there";
  temp_.put("base/.chipweave/new", "half a ta");
  ASSERT_TRUE(folder_.prepare().ok());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(text(kTable), "one");
}

TEST_F(TableFolderTest, RecordsAreKept) {
  EXPECT_TRUE(folder_.record(kJob).pods.empty());
  ASSERT_TRUE(folder_.keep(kJob, {{"uid-1", "uid-2"}, {"0123"}}).ok());
  const auto record = folder_.record(kJob);
  EXPECT_EQ(record.pods, (std::set<std::string>{"uid-1", "uid-2"}));
  EXPECT_EQ(record.tables, std::vector<std::string>{"0123"});
  temp_.put("base/.chipweave/no-record", "");
  temp_.put("base/.chipweave/UPPER.case", "");
  const auto all = folder_.recorded();
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, std::vector<std::string>{kJob});
  ASSERT_TRUE(folder_.forget(kJob).ok());
  EXPECT_TRUE(folder_.record(kJob).pods.empty());
}

TEST(TableFolderName, IsOfDnsNames) {
  const auto good = table_folder_name("train", "job-a.v2");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, "train.job-a.v2");
  EXPECT_EQ(parts_of_folder_name(*good),
            (std::pair<std::string, std::string>{"train", "job-a.v2"}));
  for (const auto& [ns, job] :
       std::vector<std::pair<std::string, std::string>>{{"", "a"},
                                                        {"..", "a"},
                                                        {"a/b", "c"},
                                                        {"a", ""},
                                                        {"a", "../b"},
                                                        {"a", "b/c"},
                                                        {"a", "."},
                                                        {"a.b", "c"},
                                                        {"a", "B"},
                                                        {"a", std::string("b\0c", 3)}}) {
    EXPECT_FALSE(table_folder_name(ns, job).ok()) << ns << " " << job;
  }
  const auto longest = table_folder_name(
      std::string(63, 'n'),
      std::string(191, 'j').replace(60, 1, ".").replace(120, 1, ".").replace(180, 1, "."));
  ASSERT_TRUE(longest.ok());
  EXPECT_EQ(longest->size(), 255U);
  EXPECT_FALSE(
      table_folder_name(
          std::string(63, 'n'),
          std::string(192, 'j').replace(60, 1, ".").replace(120, 1, ".").replace(180, 1, "."))
          .ok());
}

}  // namespace
}  // namespace chipweave::agent
