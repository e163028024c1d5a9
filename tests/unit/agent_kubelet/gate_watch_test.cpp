#include "node-agent/reporting/gate_watch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "node-agent/sources/gate_file.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

TEST(GateFileTest, SaysWhatItsOwnerSaysWhileThatLives) {
  const io::TempFolder folder;
  const std::string path = folder.at("gate");
  EXPECT_FALSE(gate_is_open(path));
  {
    auto file = GateFile::open(path);
    ASSERT_TRUE(file.ok());
    EXPECT_FALSE(gate_is_open(path));
    ASSERT_TRUE(file->write(true).ok());
    EXPECT_TRUE(gate_is_open(path));
    EXPECT_EQ(GateFile::open(path).error().code, Errc::conflict);
    ASSERT_TRUE(file->write(false).ok());
    EXPECT_FALSE(gate_is_open(path));
    ASSERT_TRUE(file->write(true).ok());
  }
  EXPECT_FALSE(gate_is_open(path)) << "its owner was killed";
  folder.put("gate", "open  \n");
  EXPECT_FALSE(gate_is_open(path));
}

// The watch of the folder alone: looks at the file are far apart.
struct GateWatchTest : testing::Test {
  io::TempFolder folder;
  const std::string path = folder.at("run/gate");
  Journal<bool> told;
  LoopThread thread;
  std::unique_ptr<GateWatch> watch;

  void begin(std::chrono::milliseconds look_every) {
    post_and_wait(thread.loop, [&] {
      watch = std::make_unique<GateWatch>(
          thread.loop, path, GateWatch::Paces{look_every, GateWatch::Paces{}.look_again},
          [this](bool open) { told.add(open); });
    });
  }
  bool open() {
    bool out = false;
    post_and_wait(thread.loop, [&] { out = watch->open(); });
    return out;
  }
  void TearDown() override {
    post_and_wait(thread.loop, [&] { watch.reset(); });
  }
};

constexpr std::chrono::hours kNever(1);

TEST_F(GateWatchTest, TellsEachChangeAtOnce) {
  std::filesystem::create_directory(folder.at("run"));
  begin(kNever);
  EXPECT_FALSE(open()) << "no file";
  {
    auto file = GateFile::open(path);
    ASSERT_TRUE(file->write(true).ok());
    EXPECT_EQ(told.at(0), true);
    ASSERT_TRUE(file->write(false).ok());
    EXPECT_EQ(told.at(1), false);
    ASSERT_TRUE(file->write(true).ok());
    EXPECT_EQ(told.at(2), true);
  }
  EXPECT_EQ(told.at(3), false) << "the plugin has ended";
}

TEST_F(GateWatchTest, TheFolderMayComeLater) {
  begin(std::chrono::milliseconds(5));
  std::filesystem::create_directory(folder.at("run"));
  auto file = GateFile::open(path);
  ASSERT_TRUE(file->write(true).ok());
  EXPECT_EQ(told.at(0), true);
  std::filesystem::remove(path);
  EXPECT_EQ(told.at(1), false) << "the file was removed";
}

}  // namespace
}  // namespace chipweave::agent
