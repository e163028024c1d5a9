#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <string>

#include "common/base/limits.hpp"
#include "common/io/files.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// One tar entry with a valid checksum.
std::string entry(const std::string& name, const std::string& body, char type = '0',
                  const std::string& prefix = "") {
  std::string h(512, '\0');
  h.replace(0, name.size(), name);
  std::array<char, 13> size{};
  std::snprintf(size.data(), size.size(), "%011zo", body.size());
  h.replace(124, 11, size.data());
  h[156] = type;
  h.replace(257, 8,
            std::string("ustar\0"
                        "00",
                        8));
  h.replace(345, prefix.size(), prefix);
  h.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%06o", sum);
  h.replace(148, 7, std::string(text.data(), 7));
  std::string out = h + body;
  out.resize((out.size() + 511) / 512 * 512, '\0');
  return out;
}

const std::string kEnd(1024, '\0');

std::string gzip(const std::string& plain) {
  z_stream s{};
  EXPECT_EQ(deflateInit2(&s, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&s, plain.size()), '\0');
  std::string in = plain;
  s.next_in = reinterpret_cast<Bytef*>(in.data());
  s.avail_in = static_cast<uInt>(in.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&s, Z_FINISH), Z_STREAM_END);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

TEST(ReadTar, PlainAndGzipped) {
  const std::string tar = entry("./nodes/", "", '5') +
                          entry("./nodes/0/properties", "simd_count 0\n") +
                          entry("b", std::string(512, 'x')) + kEnd;
  const auto expected =
      ElementsAre(Pair("b", std::string(512, 'x')), Pair("nodes/0/properties", "simd_count 0\n"));
  EXPECT_THAT(read_tar(tar).value(), expected);
  EXPECT_THAT(read_tar(gzip(tar)).value(), expected);
  EXPECT_THAT(read_tar(gzip(tar.substr(0, 512)) + gzip(tar.substr(512))).value(), expected);
}

TEST(ReadTar, LongNamesOfAllDialects) {
  const std::string path(150, 'n');
  std::string record = " path=" + path + "/pax\n";
  record = std::to_string(record.size() + 3) + record;
  const std::string tar = entry("././@LongLink", path + "/gnu" + std::string(1, '\0'), 'L') +
                          entry("cut", "1") + entry("PaxHeader", record, 'x') + entry("cut", "2") +
                          entry("name", "3", '0', "prefix") + entry("g", "11 comment", 'g') +
                          entry("plain", "4") + kEnd;
  EXPECT_THAT(read_tar(tar).value(), ElementsAre(Pair(path + "/gnu", "1"), Pair(path + "/pax", "2"),
                                                 Pair("plain", "4"), Pair("prefix/name", "3")));
}

TEST(ReadTar, PathsAreOnlyKeys) {
  EXPECT_THAT(read_tar(entry("../../etc/passwd", "x") + entry("link", "", '2') + kEnd).value(),
              ElementsAre(Pair("../../etc/passwd", "x")));
}

TEST(ReadTar, DamageIsAnError) {
  const std::string tar = entry("a", std::string(2000, 'a')) + entry("b", "b") + kEnd;
  EXPECT_THAT(read_tar(tar.substr(0, 1024)).error().text(), HasSubstr("ends inside"));
  // between two entries, and in the padding behind one
  EXPECT_THAT(read_tar(tar.substr(0, 512 + 2048)).error().text(), HasSubstr("cut off"));
  EXPECT_THAT(read_tar(tar.substr(0, 512 + 2010)).error().text(), HasSubstr("cut off"));
  EXPECT_THAT(read_tar(gzip(tar.substr(0, 512 + 2048))).error().text(), HasSubstr("cut off"));
  EXPECT_TRUE(read_tar(tar.substr(0, tar.size() - 512)).ok());
  std::string flipped = tar;
  flipped[3] = 'z';
  EXPECT_THAT(read_tar(flipped).error().text(), HasSubstr("not a tar archive"));
  flipped = tar;
  flipped[512 + 2048 + 5] = 'z';
  EXPECT_THAT(read_tar(flipped).error().text(), HasSubstr("checksum"));
  EXPECT_FALSE(read_tar("").ok());
  EXPECT_FALSE(read_tar(std::string(5000, '\0')).ok());
  const std::string gz = gzip(tar);
  EXPECT_THAT(read_tar(gz.substr(0, gz.size() / 2)).error().text(), HasSubstr("too early"));
  std::string broken = gz;
  broken[gz.size() - 6] = static_cast<char>(broken[gz.size() - 6] ^ 1);
  EXPECT_THAT(read_tar(broken).error().text(), HasSubstr("damaged"));
}

TEST(ReadTar, GzipBombIsStopped) {
  const std::string bomb = gzip(std::string(limits::kMaxUnpackedArchiveBytes + 1, '\0'));
  ASSERT_LT(bomb.size(), 100000U);
  EXPECT_EQ(read_tar(bomb).error().code, Errc::limit_exceeded);
}

TEST(ReadTar, CountOfFilesIsBounded) {
  std::string tar;
  for (std::size_t i = 0; i <= limits::kMaxArchiveFiles + 1; ++i)
    tar += entry(std::to_string(i), "");
  EXPECT_EQ(read_tar(tar + kEnd).error().code, Errc::limit_exceeded);
}

TEST(ReadTar, RealKfdDumps) {
  const auto content = read_file(test::shared_data_path("topologies/kfd/mi210-xgmi-pcie.tar.gz"),
                                 limits::kMaxTopologyFileBytes);
  if (!content) GTEST_SKIP() << content.error().text();
  const auto tree = read_tar(*content);
  ASSERT_TRUE(tree.ok()) << tree.error().text();
  EXPECT_EQ(tree->size(), 100U);
}

}  // namespace
}  // namespace chipweave::io
