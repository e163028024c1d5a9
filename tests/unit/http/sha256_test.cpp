#include "common/http/sha256.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace chipweave::http {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    std::array<char, 3> pair{};
    std::snprintf(pair.data(), pair.size(), "%02x", static_cast<unsigned char>(c));
    out += pair.data();
  }
  return out;
}

// The examples of FIPS 180-2, B.1 and B.3.
TEST(Sha256, IsTheStandards) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, ComparesDigests) {
  EXPECT_TRUE(same_digest(sha256("a"), sha256("a")));
  EXPECT_FALSE(same_digest(sha256("a"), sha256("b")));
  EXPECT_FALSE(same_digest(sha256("a"), sha256("a").substr(1)));
  EXPECT_TRUE(same_digest("", ""));
}

}  // namespace
}  // namespace chipweave::http
