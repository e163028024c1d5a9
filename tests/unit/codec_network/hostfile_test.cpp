#include "common/codec/network/hostfile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string hostfile_error(const std::string& text) {
  const auto hosts = parse_hostfile(text);
  return hosts ? "(no error)" : hosts.error().text();
}

TEST(Hostfile, KeepsLinesAndReadsSlots) {
  const auto hosts = parse_hostfile(
      "# made by hand\n\n  n2 \r\nn1 slots=8  # the big one\nn3\tmax_slots=4 slots=2");
  ASSERT_TRUE(hosts.ok()) << hosts.error().text();
  ASSERT_EQ(hosts->size(), 3U);
  EXPECT_EQ((*hosts)[0].line, "n2");
  EXPECT_EQ((*hosts)[0].slots, 0);
  EXPECT_EQ((*hosts)[1].name, "n1");
  EXPECT_EQ((*hosts)[1].slots, 8);
  EXPECT_EQ((*hosts)[1].line, "n1 slots=8");
  EXPECT_EQ((*hosts)[2].name, "n3");
  EXPECT_EQ((*hosts)[2].slots, 2);
}

TEST(Hostfile, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the file has no hosts"},
      {"# n1\n\n", "the file has no hosts"},
      {"n1\nn2 slot=8\n",
       "line 2: expected NAME, NAME slots=N or NAME:N, got \"slot=8\" (did you mean \"slots\"?)"},
      {"n1 slots", "line 1: slots must be from 1 to 1000000, got \"slots\""},
      {"n1 slots=0", "slots must be from 1 to"},
      {"n1 slots=8x", "slots must be from 1 to"},
      {"n1 slots=1000001", "slots must be from 1 to"},
      {"n1 n2", "line 1: expected NAME, NAME slots=N or NAME:N, got \"n2\""},
      {"n1\n\nn1 slots=4", "line 3: duplicate host \"n1\", first at line 1"},
      {"n1:4\nn1:4", "line 2: duplicate host \"n1\", first at line 1"},
      {"n1\nn1 max_slots=2", "line 2: duplicate host \"n1\", first at line 1"},
      {"n1:", "line 1: slots must be from 1 to 1000000, got \"n1:\""},
      {"n1:x", "line 1: slots must be from 1 to 1000000, got \"n1:x\""},
      {"n1:4 slots=4", "line 1: slots are given twice"},
      {"a:1,a:2", "line 1: duplicate host \"a\", first at line 1"},
      {":4", "line 1: host name is empty"},
      {"n[1-", "line 1: host list \"n[1-\": missing ]"},
      {"n[3-1]", "line 1: host list \"n[3-1]\": range \"3-1\" is reversed"},
      {"n1,,n2", "line 1: host list \"n1,,n2\": empty name between commas"},
      {"n[1-100001]", "expands to more than 100000 names"},
      {"n[1-60000]\nm[1-60000]", "more than 100000 hosts"},
      {std::string(limits::kMaxNameBytes + 1, 'n'), "a name must have at most 253 bytes"},
      {"n\xFF", "not UTF-8 text"},
      {std::string("n\0", 2), "must not have control characters"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(hostfile_error(text), HasSubstr(says)) << text;
  }
}

std::vector<std::string> lines_of(const std::vector<Host>& hosts) {
  std::vector<std::string> out;
  for (const Host& host : hosts) {
    for (std::size_t i = 0; i < host.lines; ++i) out.push_back(host.line);
  }
  return out;
}

TEST(Hostfile, HostListsStandForLinesOfTheirHosts) {
  const auto hosts = parse_hostfile("gpu[01-02,07]  slots=8\nlogin,r[1-2]n[1-2]\nio[1-2]:4");
  ASSERT_TRUE(hosts.ok()) << hosts.error().text();
  EXPECT_THAT(lines_of(*hosts),
              ElementsAre("gpu01  slots=8", "gpu02  slots=8", "gpu07  slots=8", "login", "r1n1",
                          "r1n2", "r2n1", "r2n2", "io1:4", "io2:4"));
  EXPECT_EQ((*hosts)[2].slots, 8);
  EXPECT_EQ((*hosts)[3].slots, 0);
  EXPECT_EQ(hosts->back().name, "io2");
  EXPECT_EQ(hosts->back().slots, 4);
  const auto each = parse_hostfile("a:1,b:2");
  ASSERT_TRUE(each.ok()) << each.error().text();
  EXPECT_EQ((*each)[1].name, "b");
  EXPECT_EQ((*each)[1].slots, 2);
}

TEST(Hostfile, ColonsOfAnAddressSeparateNoSlots) {
  const auto hosts = parse_hostfile("fd00::1\nfd00::2 slots=8");
  ASSERT_TRUE(hosts.ok()) << hosts.error().text();
  EXPECT_EQ((*hosts)[0].name, "fd00::1");
  EXPECT_EQ((*hosts)[1].name, "fd00::2");
}

TEST(Hostfile, NodeFilesOfPbsRepeatAHostForEachSlot) {
  const auto hosts = parse_hostfile("n1\nn1\nn2\nn1\nn2\nn3");
  ASSERT_TRUE(hosts.ok()) << hosts.error().text();
  EXPECT_THAT(lines_of(*hosts), ElementsAre("n1", "n1", "n1", "n2", "n2", "n3"));
  ASSERT_EQ(hosts->size(), 3U);
  EXPECT_EQ((*hosts)[0].slots, 3);
  EXPECT_EQ((*hosts)[1].slots, 2);
  EXPECT_EQ((*hosts)[2].slots, 1);
}

TEST(Hostfile, LinesAreBounded) {
  std::string text;
  for (int i = 0; i < 11; ++i) text += "n[1-100000]\n";
  EXPECT_EQ(hostfile_error(text), "more than 1000000 lines");
}

TEST(Hostfile, HasAtMostAsManyHostsAsAGangHasPods) {
  std::string text;
  for (int i = 0; i < limits::kMaxGangPods; ++i) text += "n" + std::to_string(i) + "\n";
  EXPECT_TRUE(parse_hostfile(text).ok());
  EXPECT_EQ(hostfile_error(text + "more\n"), "more than 100000 hosts");
}

TEST(Hostfile, IsWrittenInTheOrderOfTheHostsAndReadAgain) {
  const std::vector<Host> hosts{{"b.train.team.svc", 2, {}}, {"a", 1, {}}, {"c", 0, {}}};
  const auto text = write_hostfile(hosts, 100);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "b.train.team.svc slots=2\na slots=1\nc\n");
  const auto read = parse_hostfile(*text);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[0].slots, 2);
  const auto ranks = write_rankfile(hosts, 100);
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ(*ranks,
            "rank 0=b.train.team.svc slot=0:*\nrank 1=b.train.team.svc slot=0:*\n"
            "rank 2=a slot=0:*\n");
}

TEST(Hostfile, IsNotWrittenLargerThanAllowed) {
  const std::vector<Host> hosts{{"a", 1, {}}};
  EXPECT_TRUE(write_hostfile(hosts, 10).ok());
  EXPECT_EQ(write_hostfile(hosts, 9).error().code, Errc::limit_exceeded);
  EXPECT_TRUE(write_rankfile(hosts, 18).ok());
  EXPECT_EQ(write_rankfile(hosts, 17).error().text(), "the rankfile would have more than 17 bytes");
}

}  // namespace
}  // namespace chipweave::codec
