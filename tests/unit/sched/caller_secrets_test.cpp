// Callers' secrets: what a file may hold, which paths a secret is good for, and the folder while it
// changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <sys/stat.h>

#include "scheduler-plugin/caller_files.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::sched {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOne(48, 'a');
const std::string kTwo(48, 'b');
const std::string kThree = "Zz09_-" + std::string(26, 'x');

std::string name_of(const CallerSecrets& secrets, const std::string& secret) {
  const CallerSecrets::Caller* found = secrets.find(secret);
  return found == nullptr ? "" : found->name;
}

TEST(CallerSecrets, AFileHoldsOneSecretOfAKnownKindOfCaller) {
  for (const char* name :
       {"kube-scheduler", "volcano", "webhook", "standalone", "volcano-2", "kube-scheduler-blue"})
    EXPECT_TRUE(CallerSecrets::read(name, kOne).ok()) << name;
  for (const char* name : {"", "kube", "Volcano", "volcano2", "volcano.x", "volcano-", "my-webhook",
                           "webhook/..", "webhook\n", "tls.key"})
    EXPECT_FALSE(CallerSecrets::read(name, kOne).ok()) << name;
  for (const std::string& content :
       {kOne, kOne + "\n", kThree, std::string(32, '1'), std::string(256, '1') + "\n"})
    EXPECT_TRUE(CallerSecrets::read("volcano", content).ok()) << content;
  for (const std::string& content :
       {std::string(), std::string("\n"), std::string(31, '1'), std::string(257, '1'),
        kOne + "\r\n", kOne + "\n\n", kOne + " " + kTwo, kOne + "\n" + kTwo, kOne + "/",
        kOne + "%41", kOne + std::string(1, '\0'), kOne + "\xc3\xa4"}) {
    const auto read = CallerSecrets::read("volcano", content);
    ASSERT_FALSE(read.ok()) << content;
    const std::string begin = content.size() < 20 ? kOne : content.substr(0, 20);
    EXPECT_THAT(read.error().text(), Not(HasSubstr(begin)));
  }
}

TEST(CallerSecrets, ASecretIsGoodForThePathsOfItsKind) {
  const auto may = [](const char* name, const char* path) {
    return CallerSecrets::may_call(CallerSecrets::read(name, kOne).value(), path);
  };
  EXPECT_TRUE(may("kube-scheduler", "/kube/bind"));
  EXPECT_TRUE(may("kube-scheduler-2", "/kube/bind"));
  EXPECT_TRUE(may("volcano", "/volcano/allocate"));
  EXPECT_TRUE(may("webhook-b", "/admission/binding"));
  EXPECT_TRUE(may("standalone", "/standalone/pods"));
  for (const char* path : {"/kube/bind", "/volcano/allocate", "/standalone/pods", "/admission", ""})
    EXPECT_FALSE(may("webhook", path)) << path;
  EXPECT_FALSE(may("volcano", "/kube/bind"));
  EXPECT_FALSE(may("kube-scheduler", "/admission/binding"));
}

struct CallerFolder : ::testing::Test {
  io::TempFolder folder;
  std::unique_ptr<CallerFiles> open() { return CallerFiles::open(folder.path()).value(); }
  // What is logged meanwhile.
  template <class Act>
  static std::string log_of(Act act) {
    ::testing::internal::CaptureStderr();
    act();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(CallerFolder, TwoFilesAreTwoValidSecretsSoThatRotationHasNoGap) {
  folder.put("volcano", kOne + "\n");
  auto files = open();
  EXPECT_EQ(name_of(files->secrets(), kOne), "volcano");
  EXPECT_EQ(name_of(files->secrets(), kTwo), "");

  folder.put("volcano-2", kTwo);
  const std::string log = log_of([&] { files->check(); });
  EXPECT_THAT(log, HasSubstr("volcano, volcano-2"));
  EXPECT_EQ(name_of(files->secrets(), kOne), "volcano");
  EXPECT_EQ(name_of(files->secrets(), kTwo), "volcano-2");

  fs::remove(folder.at("volcano"));
  files->check();
  EXPECT_EQ(name_of(files->secrets(), kOne), "");
  EXPECT_EQ(name_of(files->secrets(), kTwo), "volcano-2");

  folder.put("volcano-2", kThree);
  files->check();
  EXPECT_EQ(name_of(files->secrets(), kTwo), "");
  EXPECT_EQ(name_of(files->secrets(), kThree), "volcano-2");
  EXPECT_EQ(log_of([&] { files->check(); }), "") << "nothing has changed";
}

TEST_F(CallerFolder, AMountedSecretSwapsALink) {
  folder.put("..1/webhook", kOne);
  folder.put("..2/webhook", kTwo);
  fs::create_symlink("..1", folder.at("..data"));
  fs::create_symlink("..data/webhook", folder.at("webhook"));
  auto files = open();
  EXPECT_EQ(name_of(files->secrets(), kOne), "webhook");
  EXPECT_EQ(files->secrets().callers().size(), 1U);
  fs::create_symlink("..2", folder.at("..new"));
  fs::rename(folder.at("..new"), folder.at("..data"));
  files->check();
  EXPECT_EQ(name_of(files->secrets(), kOne), "");
  EXPECT_EQ(name_of(files->secrets(), kTwo), "webhook");
}

TEST_F(CallerFolder, AFileThatIsNotUsableRefusesItsCallerAndIsNamedOnceWithoutContent) {
  folder.put("webhook", kOne);
  auto files = open();
  folder.put("webhook", kOne + " " + kTwo);
  folder.put("volcano", kTwo);
  folder.put("notes.txt", kThree);
  folder.put("kube-scheduler", std::string(300, 'c'));
  ASSERT_EQ(::mkfifo(folder.at("standalone").c_str(), 0600), 0);
  fs::create_directory(folder.at("volcano-folder"));
  fs::create_symlink("nowhere", folder.at("volcano-link"));
  const std::string first = log_of([&] { files->check(); });
  EXPECT_THAT(first, Not(HasSubstr("level=error"))) << "the file may be half written";
  const std::string log = log_of([&] { files->check(); });
  for (const char* name : {"caller=webhook", "caller=notes.txt", "caller=kube-scheduler",
                           "caller=standalone", "caller=volcano-folder", "caller=volcano-link"})
    EXPECT_THAT(log, HasSubstr(name));
  for (const std::string& secret : {kOne, kTwo, kThree, std::string(30, 'c')})
    EXPECT_THAT(first + log, Not(HasSubstr(secret)));
  EXPECT_EQ(log_of([&] { files->check(); }), "");
  ASSERT_EQ(files->secrets().callers().size(), 1U);
  EXPECT_EQ(name_of(files->secrets(), kTwo), "volcano");
  EXPECT_EQ(name_of(files->secrets(), kOne), "");

  folder.put("webhook", kOne);
  files->check();
  EXPECT_EQ(name_of(files->secrets(), kOne), "webhook");
}

TEST_F(CallerFolder, AtMost64FilesElseTheSecretsInUseStayValid) {
  folder.put("volcano", kOne);
  auto files = open();
  for (int i = 0; i < 63; ++i) folder.put("webhook-" + std::to_string(i), kTwo);
  files->check();
  EXPECT_EQ(files->secrets().callers().size(), 64U);
  folder.put("webhook-63", kThree);
  files->check();
  EXPECT_THAT(log_of([&] { files->check(); }),
              AllOf(HasSubstr("level=error"), HasSubstr("more than 64 files")));
  EXPECT_EQ(name_of(files->secrets(), kThree), "");
  EXPECT_EQ(name_of(files->secrets(), kOne), "volcano");
  EXPECT_FALSE(CallerFiles::open(folder.path()).ok());
}

TEST_F(CallerFolder, AMissingFolderIsAnErrorAtStartAndKeepsTheSecretsLater) {
  const auto none = CallerFiles::open(folder.at("none"));
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr(folder.at("none")));
  folder.put("in/volcano", kOne);
  auto files = CallerFiles::open(folder.at("in")).value();
  fs::remove_all(folder.at("in"));
  files->check();
  EXPECT_THAT(log_of([&] { files->check(); }), HasSubstr("stay valid"));
  EXPECT_EQ(name_of(files->secrets(), kOne), "volcano");
}

TEST_F(CallerFolder, AnEmptyFolderIsWarnedOf) {
  EXPECT_THAT(log_of([&] { open(); }), AllOf(HasSubstr("level=warn"), HasSubstr("no secret")));
}

}  // namespace
}  // namespace chipweave::sched
