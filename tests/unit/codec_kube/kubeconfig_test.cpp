#include "common/codec/kube/kubeconfig.hpp"

#include <gtest/gtest.h>

#include "common/codec/kube/base64.hpp"

namespace chipweave::codec {
namespace {

// The parts of a kubeconfig that the tests vary.
struct Parts {
  std::string cluster = "server: https://10.0.0.1:6443/\n    certificate-authority: ca.crt";
  std::string user = "token: secret";
  std::string current = "current-context: here\n";
};
std::string kubeconfig(const Parts& parts) {
  return "apiVersion: v1\nkind: Config\n" + parts.current +
         "contexts:\n- name: other\n  context: {cluster: c2, user: u}\n"
         "- name: here\n  context: {cluster: c, user: u, namespace: team}\n"
         "clusters:\n- name: c2\n  cluster: {server: 'https://[fd00::1]:6443'}\n"
         "- name: c\n  cluster:\n    " +
         parts.cluster + "\nusers:\n- name: u\n  user:\n    " + parts.user + "\n";
}
std::string kubeconfig_error(const Parts& parts, const char* context = "") {
  const auto access = read_kubeconfig(kubeconfig(parts), context);
  return access ? "" : access.error().text();
}

TEST(Kubeconfig, ReadsTheCurrentContextOrTheOneThatIsNamed) {
  auto access = read_kubeconfig(kubeconfig({}));
  ASSERT_TRUE(access.ok()) << access.error().text();
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->ca.file, "ca.crt");
  EXPECT_EQ(access->token, "secret");
  EXPECT_EQ(access->ns, "team");
  EXPECT_FALSE(access->insecure);
  access = read_kubeconfig(kubeconfig({}), "other");
  ASSERT_TRUE(access.ok()) << access.error().text();
  EXPECT_EQ(access->server, "https://[fd00::1]:6443");
  EXPECT_FALSE(access->ca.given());
}

TEST(Kubeconfig, DataWinsOverFilesAndATokenOverItsFile) {
  Parts parts;
  parts.cluster += "\n    certificate-authority-data: LS0tIENBIC0tLQ==";
  parts.user = "{token: a, tokenFile: /t, client-certificate-data: Y2VydA==, client-key: key.pem}";
  const auto access = read_kubeconfig(kubeconfig(parts));
  ASSERT_TRUE(access.ok()) << access.error().text();
  EXPECT_EQ(access->ca.pem, "--- CA ---");
  EXPECT_EQ(access->ca.file, "");
  EXPECT_EQ(access->token, "a");
  EXPECT_EQ(access->token_file, "");
  EXPECT_EQ(access->client_certificate.pem, "cert");
  EXPECT_EQ(access->client_key.file, "key.pem");
}

TEST(Kubeconfig, WhatIsNotDoneIsSaid) {
  for (const char* user : {"exec: {command: aws}", "auth-provider: {name: gcp}",
                           "{username: a, password: b}", "as: root"}) {
    Parts parts;
    parts.user = user;
    const auto access = read_kubeconfig(kubeconfig(parts));
    ASSERT_FALSE(access.ok()) << user;
    EXPECT_EQ(access.error().code, Errc::unsupported);
    EXPECT_NE(access.error().text().find("user \"u\": "), std::string::npos)
        << access.error().text();
  }
  Parts parts;
  parts.cluster += "\n    proxy-url: http://proxy:3128";
  EXPECT_NE(kubeconfig_error(parts).find("proxy-url is not supported"), std::string::npos);
}

TEST(Kubeconfig, WhatIsWrongIsNamed) {
  const auto with_cluster = [](const char* text) {
    return Parts{text, "token: a", Parts().current};
  };
  const auto with_user = [](const char* text) {
    return Parts{Parts().cluster, text, Parts().current};
  };
  EXPECT_EQ(kubeconfig_error({Parts().cluster, "token: a", ""}),
            "current-context is not set; name a context");
  EXPECT_EQ(kubeconfig_error({}, "nowhere"), "contexts has no entry named \"nowhere\"");
  EXPECT_EQ(kubeconfig_error(with_cluster("server: 10.0.0.1")),
            "cluster \"c\": server must be an https:// URL");
  EXPECT_EQ(kubeconfig_error(with_cluster("server: 5")),
            "cluster \"c\": server: expected a string, got 5");
  EXPECT_EQ(kubeconfig_error(with_cluster("{server: 'https://a', insecure-skip-tls-verify: 1}")),
            "cluster \"c\": insecure-skip-tls-verify: expected true or false, got 1");
  EXPECT_NE(kubeconfig_error(with_cluster("{server: 'https://a', insecure-skip-tls-verify: true, "
                                          "certificate-authority: x}"))
                .find("cannot be combined"),
            std::string::npos);
  EXPECT_NE(kubeconfig_error(with_cluster("{server: 'https://a', certificate-authority-data: '?'}"))
                .find("certificate-authority-data: this is not base64"),
            std::string::npos);
  EXPECT_NE(kubeconfig_error(with_user("client-key: k")).find("needs its key"), std::string::npos);
  for (const char* text : {"", "[]", "5", "a: [", "contexts: 5\ncurrent-context: a",
                           "contexts: [5]\ncurrent-context: a",
                           "contexts: [{name: a}]\ncurrent-context: a", "---\na: 1\n---\nb: 2"}) {
    EXPECT_FALSE(read_kubeconfig(text).ok()) << text;
  }
}

TEST(Base64, ReadsWhatIsWholeOnly) {
  const auto text = [](const char* of) { return decode_base64(of).value(); };
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("Zg=="), "f");
  EXPECT_EQ(text("Zm8="), "fo");
  EXPECT_EQ(text("Zm9v"), "foo");
  EXPECT_EQ(text("Zm9v\r\nYg=="), "foob");
  EXPECT_EQ(text("/+8="), "\xff\xef");
  for (const char* bad :
       {"Z", "Zg", "Zg=", "Z===", "=", "Zg==Zg==", "Zg=a", "Zm9v!", "Zm 9v", "-_8="})
    EXPECT_FALSE(decode_base64(bad).ok()) << bad;
}

}  // namespace
}  // namespace chipweave::codec
