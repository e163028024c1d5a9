#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/dcmi/machines.hpp"

namespace chipweave::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DcmiLibraryTest : public FakeDcmi {};

TEST_F(DcmiLibraryTest, AbsentLibraryIsNoDriver) {
  const auto library = DcmiLibrary::open({folder_.at("libdcmi.so"), "libchipweave-no-such.so"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, Errc::not_found);
  EXPECT_THAT(library.error().message, HasSubstr("no Ascend driver here"));
}

TEST_F(DcmiLibraryTest, AFileThatIsNoLibraryIsAProblem) {
  const auto library =
      DcmiLibrary::open({folder_.put("libdcmi.so", "what an installation left behind\n")});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, Errc::unavailable);
}

TEST_F(DcmiLibraryTest, IsLookedForWhereDriversInstallIt) {
  EXPECT_THAT(DcmiLibrary::places("/opt/libdcmi.so", "/driver"), ElementsAre("/opt/libdcmi.so"));
  EXPECT_THAT(DcmiLibrary::places("", ""),
              ElementsAre("libdcmi.so", "/usr/local/dcmi/libdcmi.so",
                          "/usr/local/Ascend/driver/lib64/driver/libdcmi.so",
                          "/usr/local/Ascend/driver/lib64/libdcmi.so"));
  play(atlas_a2(8));
  const std::string root = folder_.at("driver");
  const std::string folder = root + "/usr/local/Ascend/driver/lib64";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink(current(), folder + "/libdcmi.so");
  const auto library = DcmiLibrary::open(DcmiLibrary::places("", root));
  EXPECT_TRUE(library.ok()) << library.error().text();
}

TEST_F(DcmiLibraryTest, DriverThatDoesNotStartNamesTheRemedy) {
  Json machine = atlas_a2(8);
  machine["errors"]["dcmi_init"] = dcmi::kNotInContainer;
  const auto seen = read(machine);
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Errc::unavailable);
  EXPECT_THAT(seen.error().message, HasSubstr("not in a container (-8013)"));
  EXPECT_THAT(seen.error().message, HasSubstr("outside of a container"));
}

TEST_F(DcmiLibraryTest, CurrentDriverLacksNothing) {
  play(atlas_a2(8));
  const auto library = DcmiLibrary::open({current()});
  ASSERT_TRUE(library.ok()) << library.error().text();
  EXPECT_THAT(library->missing(), IsEmpty());
  EXPECT_FALSE(library->flat());
}

TEST_F(DcmiLibraryTest, OldDriverAnswersFunctionNotFound) {
  play(atlas_a2(8));
  const auto library = DcmiLibrary::open({old()});
  ASSERT_TRUE(library.ok()) << library.error().text();
  EXPECT_THAT(library->missing(), Contains("dcmi_get_topo_info_by_device_id"));
  EXPECT_THAT(library->missing(), Not(Contains("dcmi_get_card_list")));
  int type = 0;
  EXPECT_EQ(library->functions().topo(0, 0, 1, 0, &type), dcmi::kFunctionNotFound);
}

TEST_F(DcmiLibraryTest, FlatFamilyIsTakenWhereThereIsNoOther) {
  play(atlas_a5(8));
  const auto library = DcmiLibrary::open({flat()});
  ASSERT_TRUE(library.ok()) << library.error().text();
  EXPECT_TRUE(library->flat());
  EXPECT_THAT(library->missing(), ElementsAre());
}

TEST_F(DcmiLibraryTest, TextsEndWithTheirBufferAndArePrintable) {
  EXPECT_EQ(dcmi_text("ab\0cd", 5), "ab");
  EXPECT_EQ(dcmi_text("abcd", 2), "ab");
  EXPECT_EQ(dcmi_text("a\nb\x80", 4), "a?b?");
  EXPECT_EQ(dcmi_text(" a ", 3), "a");
  EXPECT_EQ(dcmi_code_text(dcmi::kNotSupported), "not supported (-8255)");
  EXPECT_EQ(dcmi_code_text(-8999), "DCMI error (-8999)");
}

// The two ways in which a driver can take down its caller; the process around the reader must
// contain them.
TEST_F(DcmiLibraryTest, FakeCrashesOnTheCallNamed) {
  Json machine = atlas_a2(8);
  machine["crash"] = "dcmi_get_device_health";
  EXPECT_DEATH((void)read(machine), "");
}

}  // namespace
}  // namespace chipweave::agent
