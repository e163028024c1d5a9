#include "node-agent/sources/file_watch.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;

struct FileWatchTest : testing::Test {
  io::TempFolder folder;
  const std::string file = folder.at("health.json");
  std::mutex mutex;
  std::condition_variable called;
  int calls = 0;

  std::function<void()> count() {
    return [this] {
      const std::lock_guard lock(mutex);
      ++calls;
      called.notify_all();
    };
  }
  // Whether it calls now or soon; resets the record of the call.
  bool calls_back() {
    std::unique_lock lock(mutex);
    const bool did = called.wait_for(lock, std::chrono::seconds(20), [this] { return calls > 0; });
    calls = 0;
    return did;
  }
};

TEST_F(FileWatchTest, CallsBackHoweverAFileChanges) {
  folder.put("beside", "{}");
  // Each change gets its own watch: a second notification of one change must not count as the next
  // one.
  for (const std::function<void()>& change : std::vector<std::function<void()>>{
           [&] { folder.put("health.json", "{}"); }, [&] { fs::rename(folder.at("beside"), file); },
           [&] { fs::remove(file); }}) {
    calls = 0;
    const FileWatch watch({file}, count());
    ASSERT_TRUE(watch.complete());
    change();
    EXPECT_TRUE(calls_back());
  }
}

TEST_F(FileWatchTest, CallsBackForAnyFileOfAFolder) {
  const FileWatch watch({folder.at("a/"), file}, count());
  EXPECT_FALSE(watch.complete());
  const FileWatch other({folder.at("")}, count());
  ASSERT_TRUE(other.complete());
  folder.put("any.json", "{}");
  EXPECT_TRUE(calls_back());
}

TEST_F(FileWatchTest, CallsBackAtTheSwapOfAVolume) {
  folder.put("..first/health.json", "{}");
  folder.put("..second/health.json", "{}");
  fs::create_directory_symlink("..first", folder.at("..data"));
  fs::create_symlink("..data/health.json", file);
  const FileWatch watch({file}, count());
  fs::create_directory_symlink("..second", folder.at("..new"));
  fs::rename(folder.at("..new"), folder.at("..data"));
  EXPECT_TRUE(calls_back());
}

TEST_F(FileWatchTest, SeveralFoldersAndOneThatIsMissing) {
  folder.put("a/file", "");
  folder.put("b/file", "");
  const FileWatch both({folder.at("a/file"), folder.at("b/file")}, count());
  EXPECT_TRUE(both.complete());
  folder.put("b/file", "now");
  EXPECT_TRUE(calls_back());
  EXPECT_FALSE(FileWatch({folder.at("nowhere/file")}, count()).complete());
}

TEST_F(FileWatchTest, EndsWhileFilesChange) {
  for (int i = 0; i < 50; ++i) {
    const FileWatch watch({file}, count());
    folder.put("health.json", std::to_string(i));
  }
  const int before = calls;  // all watches are gone
  folder.put("health.json", "{}");
  EXPECT_EQ(calls, before);
}

}  // namespace
}  // namespace chipweave::agent
