#include "common/codec/network/hostfile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

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
       "line 2: expected NAME or NAME slots=N, got \"slot=8\" (did you mean \"slots\"?)"},
      {"n1 slots", "line 1: slots must be from 1 to 1000000, got \"slots\""},
      {"n1 slots=0", "slots must be from 1 to"},
      {"n1 slots=8x", "slots must be from 1 to"},
      {"n1 slots=1000001", "slots must be from 1 to"},
      {"n1 n2", "line 1: expected NAME or NAME slots=N, got \"n2\""},
      {"n1\n\nn1 slots=4", "line 3: duplicate host \"n1\", first at line 1"},
      {std::string(limits::kMaxNameBytes + 1, 'n'), "a name must have at most 253 bytes"},
      {"n\xFF", "not UTF-8 text"},
      {std::string("n\0", 2), "must not have control characters"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(hostfile_error(text), HasSubstr(says)) << text;
  }
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
