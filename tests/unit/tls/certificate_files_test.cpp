#include "common/tls/certificate_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/component/kube_api/certificates.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::tls {
namespace {

namespace fs = std::filesystem;
using chipweave::test::make_authority;
using chipweave::test::make_certificate;
using chipweave::test::Pem;

// Like a Secret volume: the files are links through ..data, which is swapped as a whole.
class SecretVolume {
 public:
  void publish(const Pem& pem) {
    const std::string version = "..v" + std::to_string(++versions_);
    folder_.put(version + "/tls.crt", pem.certificate);
    folder_.put(version + "/tls.key", pem.key);
    fs::create_directory_symlink(version, folder_.at("..next"));
    fs::rename(folder_.at("..next"), folder_.at("..data"));
    for (const std::string name : {"tls.crt", "tls.key"}) {
      if (!fs::exists(fs::symlink_status(folder_.at(name))))
        fs::create_symlink("..data/" + name, folder_.at(name));
    }
  }
  std::string at(const std::string& name) const { return folder_.at(name); }

 private:
  io::TempFolder folder_;
  int versions_ = 0;
};

struct CertificateFilesTest : ::testing::Test {
  SystemClock clock;
  const Pem ca = make_authority("CA");
  const Pem first = make_certificate(ca, "DNS:a");
  const Pem second = make_certificate(ca, "DNS:a", 7200);
  io::TempFolder folder;
  std::vector<ServerPem> changes;

  void put(const Pem& pem) const {
    folder.put("tls.crt", pem.certificate);
    folder.put("tls.key", pem.key);
  }
  std::unique_ptr<CertificateFiles> open(const std::string& client_ca = "") {
    auto files =
        CertificateFiles::open(clock, {folder.at("tls.crt"), folder.at("tls.key"), client_ca})
            .value();
    files->on_change = [this](const ServerPem& pem) { changes.push_back(pem); };
    return files;
  }
  // The log of `looks` checks.
  static std::string log_of(CertificateFiles& files, int looks) {
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < looks; ++i) files.check();
    return ::testing::internal::GetCapturedStderr();
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  }
};

TEST_F(CertificateFilesTest, ANewPairIsTakenAndTold) {
  put(first);
  const auto files = open();
  const auto before = files->context()->not_after();
  files->check();
  EXPECT_TRUE(changes.empty());
  put(second);
  files->check();
  files->check();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].certificate, second.certificate);
  EXPECT_EQ(files->pem().key, second.key);
  EXPECT_GT(files->context()->not_after(), before + std::chrono::minutes(50));
}

TEST_F(CertificateFilesTest, FollowsTheSwapOfASecretsVolume) {
  SecretVolume volume;
  volume.publish(first);
  const auto files =
      CertificateFiles::open(clock, {volume.at("tls.crt"), volume.at("tls.key"), ""}).value();
  EXPECT_EQ(files->pem().certificate, first.certificate);
  volume.publish(second);
  files->check();
  EXPECT_EQ(files->pem().certificate, second.certificate);
}

TEST_F(CertificateFilesTest, APairThatDoesNotFitIsToldOnceAndTheOldOneStays) {
  put(first);
  const auto files = open();
  const auto before = files->context()->not_after();
  folder.put("tls.crt", second.certificate);
  const std::string log = log_of(*files, 5);
  EXPECT_EQ(count(log, "level=error"), 1U) << log;
  EXPECT_NE(log.find("tls.key is not the key of"), std::string::npos) << log;
  EXPECT_EQ(files->pem().certificate, first.certificate);
  EXPECT_EQ(files->context()->not_after(), before);
  EXPECT_TRUE(changes.empty());
  // another invalid change is logged again
  folder.put("tls.crt", make_certificate(ca, "DNS:b").certificate);
  EXPECT_EQ(count(log_of(*files, 5), "level=error"), 1U);
  // and the other file makes the pair valid
  put(second);
  files->check();
  EXPECT_EQ(files->pem().certificate, second.certificate);
}

TEST_F(CertificateFilesTest, NothingIsSaidAboutFilesThatAreJustBeingReplaced) {
  put(first);
  const auto files = open();
  folder.put("tls.crt", second.certificate.substr(0, 100));
  std::string log = log_of(*files, 1);
  folder.put("tls.crt", second.certificate);
  log += log_of(*files, 1);
  fs::remove(folder.at("tls.key"));
  log += log_of(*files, 1);
  folder.put("tls.key", second.key);
  log += log_of(*files, 1);
  EXPECT_EQ(count(log, "level=error"), 0U) << log;
  EXPECT_EQ(files->pem().certificate, second.certificate);
}

TEST_F(CertificateFilesTest, FilesThatGoAwayLeaveTheOldOnes) {
  put(first);
  const auto files = open();
  fs::remove(folder.at("tls.crt"));
  const std::string log = log_of(*files, 4);
  EXPECT_EQ(count(log, "level=error"), 1U) << log;
  EXPECT_NE(log.find("tls.crt"), std::string::npos) << log;
  EXPECT_EQ(files->pem().certificate, first.certificate);
  put(first);
  EXPECT_EQ(log_of(*files, 2), "");
}

TEST_F(CertificateFilesTest, AnExpiredCertificateDoesNotReplaceAValidOne) {
  put(first);
  const auto files = open();
  put(make_certificate(ca, "DNS:a", -60));
  const std::string log = log_of(*files, 3);
  EXPECT_NE(log.find("has expired at"), std::string::npos) << log;
  EXPECT_EQ(files->pem().certificate, first.certificate);
}

TEST_F(CertificateFilesTest, StartsWithAnExpiredCertificateAndSaysSo) {
  put(make_certificate(ca, "DNS:a", -60));
  ::testing::internal::CaptureStderr();
  const auto files = open();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("has expired"), std::string::npos) << log;
  put(make_certificate(ca, "DNS:a", -30));  // also invalid, but different
  files->check();
  EXPECT_EQ(changes.size(), 1U);
}

TEST_F(CertificateFilesTest, TheClientAuthorityChangesToo) {
  put(first);
  const std::string client_ca = folder.put("ca.crt", ca.certificate);
  const auto files = open(client_ca);
  EXPECT_TRUE(files->context()->asks_clients());
  folder.put("ca.crt", "");
  EXPECT_EQ(count(log_of(*files, 3), "level=error"), 1U);
  EXPECT_EQ(files->pem().client_ca, ca.certificate);
  const Pem next = make_authority("next CA");
  folder.put("ca.crt", next.certificate);
  files->check();
  EXPECT_EQ(files->pem().client_ca, next.certificate);
  EXPECT_TRUE(files->context()->asks_clients());
}

TEST_F(CertificateFilesTest, OpeningNamesTheFileThatIsOfNoUse) {
  const auto error = [&](const http::PemNames& names) {
    const auto files = CertificateFiles::open(clock, names);
    return files.ok() ? std::string() : files.error().text();
  };
  put(first);
  const std::string crt = folder.at("tls.crt");
  const std::string key = folder.at("tls.key");
  EXPECT_EQ(error({crt, key, ""}), "");
  EXPECT_NE(error({folder.at("none"), key, ""}).find("none"), std::string::npos);
  EXPECT_NE(error({crt, crt, ""}).find(crt + " contains no PEM key"), std::string::npos);
  EXPECT_NE(error({crt, key, folder.put("empty", "")}).find("empty is empty"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::tls
