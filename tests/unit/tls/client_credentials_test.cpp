#include "common/tls/client_credentials.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "common/http/tls_context.hpp"
#include "tests/component/kube_api/certificates.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::tls {
namespace {

class ClientCredentialsTest : public testing::Test {
 protected:
  ClientCredentialsTest() {
    folder_.put("ca", pem_.ca);
    folder_.put("crt", pem_.certificate);
    folder_.put("key", pem_.key);
  }
  // The log lines of that many checks; used_ has what they found.
  std::string check(ClientCredentials& credentials, int times = 1) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < times; ++i) {
      credentials.check([this](const ClientPem& pem) {
        auto good = http::check_client_pem(pem);
        if (good) used_.push_back(pem);
        return good;
      });
    }
    return testing::internal::GetCapturedStderr();
  }

  io::TempFolder folder_;
  test::Pem authority_ = test::make_authority("a");
  test::Pem pair_ = test::make_certificate(authority_, "DNS:agent");
  test::Pem other_ = test::make_certificate(authority_, "DNS:agent");
  ClientPem pem_{authority_.certificate, pair_.certificate, pair_.key, "api"};
  std::vector<ClientPem> used_;
  ClientCredentials all_{{folder_.at("ca"), folder_.at("crt"), folder_.at("key")}, pem_, "server"};
};

TEST_F(ClientCredentialsTest, UnchangedFilesAreNoNews) {
  EXPECT_EQ(check(all_, 3), "");
  EXPECT_TRUE(used_.empty());
}

TEST_F(ClientCredentialsTest, APairIsTakenWhenBothFilesHaveChanged) {
  folder_.put("crt", other_.certificate);
  EXPECT_EQ(check(all_), "") << "the key may be about to follow";
  EXPECT_TRUE(used_.empty());
  folder_.put("key", other_.key);
  EXPECT_NE(check(all_, 2).find("TLS files changed"), std::string::npos);
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_.front().key, other_.key);
  EXPECT_EQ(used_.front().ca, authority_.certificate);
  EXPECT_EQ(used_.front().server_name, "api");
}

TEST_F(ClientCredentialsTest, WhatIsBadIsLoggedOnceAndThePreviousStays) {
  for (const char* text : {"", "no certificate"}) {
    folder_.put("ca", text);
    const std::string log = check(all_, 5);
    EXPECT_NE(log.find("keeping the previous"), std::string::npos) << log;
    EXPECT_EQ(log.find("keeping the previous"), log.rfind("keeping the previous")) << log;
  }
  std::filesystem::remove(folder_.at("ca"));
  EXPECT_NE(check(all_, 2).find(folder_.at("ca")), std::string::npos);
  folder_.put("ca", authority_.certificate);
  EXPECT_EQ(check(all_, 2), "") << "as before: nothing to take";
  EXPECT_TRUE(used_.empty());
}

TEST_F(ClientCredentialsTest, WhatHasNoFileStays) {
  ClientCredentials only_ca({folder_.at("ca"), "", ""}, pem_, "server");
  folder_.put("crt", other_.certificate);
  const test::Pem next = test::make_authority("b");
  folder_.put("ca", next.certificate);
  check(only_ca);
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_.front().ca, next.certificate);
  EXPECT_EQ(used_.front().certificate, pair_.certificate);
}

}  // namespace
}  // namespace chipweave::tls
