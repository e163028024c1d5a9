#include "scheduler-plugin/config.hpp"
#include "scheduler-plugin/setting_values.hpp"

#include <gtest/gtest.h>

namespace chipweave::sched {
namespace {

std::string error_of(const std::string& text) {
  Config config;
  auto read = apply_config_text(text, config);
  return read ? "" : read.error().text();
}

TEST(Config, PrintedConfigReadsBackToTheSame) {
  Config config;
  config.standalone = true;
  config.port_file = "a \"b\".json";
  Config again;
  const std::string text = print_config(config);
  ASSERT_TRUE(apply_config_text(text, again).ok()) << text;
  EXPECT_EQ(print_config(again), text);
  EXPECT_EQ(again.port_file, config.port_file);
}

TEST(Config, TheDefaultsPrintAndReadBackToTheSame) {
  const std::string text = print_config({});
  Config again;
  again.resources.shared.clear();
  const auto read = apply_config_text(text, again);
  ASSERT_TRUE(read.ok()) << read.error().text() << "\n" << text;
  EXPECT_EQ(print_config(again), text);
  EXPECT_EQ(again.resources.shared, Config().resources.shared);
}

TEST(Config, FrameworksWhosePodsWaitBehindAGate) {
  Config config;
  ASSERT_TRUE(apply_config_text("gate-frameworks: [volcano, job]\ninject-rank: true", config).ok());
  EXPECT_EQ(config.gate.frameworks, (std::vector<std::string>{"volcano", "job"}));
  EXPECT_TRUE(config.gate.inject_rank);
  ASSERT_TRUE(apply_config_text("gate-frameworks: []", config).ok());
  EXPECT_TRUE(config.gate.frameworks.empty());
  const std::string error = error_of("gate-frameworks: [volcan]");
  EXPECT_NE(error.find("\"volcano\""), std::string::npos) << error;
}

TEST(Config, UnknownKeysAreErrorsThatNameTheLine) {
  const std::string error = error_of("http: 127.0.0.1:1\n\nreservation_ttl: 3s\n");
  EXPECT_NE(error.find("line 3"), std::string::npos) << error;
  EXPECT_NE(error.find("reservation_ttl"), std::string::npos) << error;
}

TEST(Config, BadValuesNameKeyAndLine) {
  for (const char* text : {"http: here",
                           "http: 127.0.0.1:65536",
                           "reservation-ttl: 0s",
                           "reservation-ttl: 3 weeks",
                           "log-level: loud",
                           "grpc-auth: yes",
                           "grpc-users: alice",
                           "grpc-users: [\"a\\nb\"]",
                           "grpc-users: [\"\"]",
                           "grpc-users: [\"group:\"]",
                           "grpc-audience: \"\"",
                           "max-connections: -1",
                           "accelerators: nvidia.com/gpu",
                           "accelerators: [gpu]",
                           "standalone: maybe",
                           "gang-kinds: volcano",
                           "gang-kinds: [volcan]",
                           "gang-kinds: [\"\"]",
                           "gate-frameworks: lws",
                           "gate-frameworks: [volcan]",
                           "gate-frameworks: [ack]",
                           "gang-preemption: 1",
                           "fault-scheduling: force",
                           "gang-hostfiles: hosts",
                           "dlrover-topology: team",
                           "dlrover-topology: [team/node-topology-config]",
                           "inject-rank: 1",
                           "bandwidth-tolerance: 5",
                           "bandwidth-tolerance: -1%",
                           "bandwidth-tolerance: 100%",
                           "bandwidth-tolerance: nan%",
                           "useful-gbps-per-peer: -1",
                           "useful-gbps-per-peer: inf",
                           "http: [a]",
                           "http: {a: b}",
                           "http: 1.1.1.1:1\nhttp: 1.1.1.1:1",
                           "- a"}) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find("line "), std::string::npos) << text << " → " << error;
  }
  EXPECT_NE(error_of("http: [").find("line 1"), std::string::npos);
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("# only a comment\n"), "");
}

TEST(Config, GangKinds) {
  Config config;
  ASSERT_TRUE(apply_config_text("gang-kinds: [volcano, kueue]", config).ok());
  EXPECT_TRUE(config.gang_plans);
  ASSERT_TRUE(apply_config_text("gang-plans: false", config).ok());
  EXPECT_FALSE(config.gang_plans);
  EXPECT_EQ(config.gang_kinds, (std::vector<std::string>{"volcano", "kueue"}));
  EXPECT_NE(error_of("gang-kinds: [volcan]").find("volcano"), std::string::npos);
  config.standalone = true;
  EXPECT_NE(check_config(config).error().text().find("--gang-kinds cannot be combined"),
            std::string::npos);
}

TEST(Config, GangPreemption) {
  Config config;
  EXPECT_NE(print_config(config).find("gang-preemption: \"false\""), std::string::npos);
  ASSERT_TRUE(apply_config_text("gang-preemption: true", config).ok());
  EXPECT_TRUE(config.gang_preemption);
  EXPECT_NE(print_config(config).find("gang-preemption: \"true\""), std::string::npos);
  config.standalone = true;
  EXPECT_NE(check_config(config).error().text().find("--gang-preemption cannot be combined"),
            std::string::npos);
}

TEST(Config, SparesOfGangs) {
  Config config;
  EXPECT_EQ(config.max_gang_spares, 0);
  ASSERT_TRUE(apply_config_text("max-gang-spares: 4", config).ok());
  EXPECT_EQ(config.max_gang_spares, 4);
  EXPECT_NE(print_config(config).find("max-gang-spares: \"4\""), std::string::npos);
  for (const char* wrong : {"17", "-1", "many", "1.5"}) {
    const auto set = apply_config_text(std::string("max-gang-spares: ") + wrong, config);
    ASSERT_FALSE(set.ok()) << wrong;
    EXPECT_NE(set.error().text().find("from 0 to 16"), std::string::npos) << set.error().text();
  }
}

TEST(Config, FaultScheduling) {
  Config config;
  EXPECT_NE(print_config(config).find("fault-scheduling: \"false\""), std::string::npos);
  ASSERT_TRUE(apply_config_text("fault-scheduling: true", config).ok());
  EXPECT_TRUE(config.fault_scheduling);
  config.standalone = true;
  EXPECT_NE(check_config(config).error().text().find("--fault-scheduling cannot be combined"),
            std::string::npos);
}

TEST(Config, GangHostfiles) {
  Config config;
  EXPECT_NE(print_config(config).find("gang-hostfiles: \"false\""), std::string::npos);
  ASSERT_TRUE(apply_config_text("gang-hostfiles: true", config).ok());
  EXPECT_TRUE(config.gang_hostfiles);
  config.standalone = true;
  EXPECT_NE(check_config(config).error().text().find("--gang-hostfiles cannot be combined"),
            std::string::npos);
}

TEST(Config, DlroverTopology) {
  Config config;
  EXPECT_NE(print_config(config).find("dlrover-topology: []"), std::string::npos);
  ASSERT_TRUE(apply_config_text("dlrover-topology: [team, other]", config).ok());
  EXPECT_EQ(config.dlrover_topology, (std::vector<std::string>{"team", "other"}));
  config.standalone = true;
  EXPECT_NE(check_config(config).error().text().find("--dlrover-topology cannot be combined"),
            std::string::npos);
}

TEST(Config, NodePreference) {
  Config config;
  EXPECT_DOUBLE_EQ(config.node_preference.tolerance, 0.05);
  EXPECT_NE(print_config(config).find("bandwidth-tolerance: \"5%\""), std::string::npos);
  EXPECT_NE(print_config(config).find("useful-gbps-per-peer: \"50\""), std::string::npos);
  ASSERT_TRUE(apply_config_text("bandwidth-tolerance: 7.5%\nuseful-gbps-per-peer: 0\n", config));
  EXPECT_DOUBLE_EQ(config.node_preference.tolerance, 0.075);
  EXPECT_DOUBLE_EQ(config.node_preference.useful_gbps_per_peer, 0);
  EXPECT_NE(print_config(config).find("bandwidth-tolerance: \"7.5%\""), std::string::npos);
}

TEST(Config, Durations) {
  EXPECT_EQ(parse_duration("500ms").value().count(), 500);
  EXPECT_EQ(parse_duration("2m").value().count(), 120000);
  for (const char* bad : {"", "0s", "5", "s", "25h", "1d", "-1s", "99999999999999h"})
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

TEST(Config, CertificateAndKeyGoTogether) {
  const auto fault = [](const char* cert, const char* key, const char* ca) {
    Config config;
    config.standalone = true;
    config.tls_cert = cert;
    config.tls_key = key;
    config.tls_client_ca = ca;
    const auto ok = check_config(config);
    return ok ? std::string() : ok.error().text();
  };
  EXPECT_EQ(fault("", "", ""), "");
  EXPECT_EQ(fault("a", "b", ""), "");
  EXPECT_EQ(fault("a", "b", "c"), "");
  EXPECT_NE(fault("a", "", "").find("--tls-cert requires --tls-key"), std::string::npos);
  EXPECT_NE(fault("", "b", "").find("--tls-key requires --tls-cert"), std::string::npos);
  EXPECT_NE(fault("", "", "c").find("requires --tls-cert"), std::string::npos);
}

TEST(Config, HowCallersShowWhoTheyAre) {
  const auto fault = [](const std::string& text, const std::string& more = "") {
    Config config;
    const auto read = apply_config_text(text + "\n" + more, config);
    if (!read) return read.error().text();
    const auto ok = check_config(config);
    return ok ? std::string() : ok.error().text();
  };
  const std::string tls = "tls-cert: a\ntls-key: b\n";
  const std::string ca = tls + "tls-client-ca: c\nclient-names: [a]\n";
  EXPECT_NE(fault("client-names: [a]", tls).find("requires --tls-client-ca"), std::string::npos);
  EXPECT_EQ(fault("client-names: [a, spiffe://b/c]", tls + "tls-client-ca: c"), "");
  EXPECT_NE(fault("publish-cluster-info: true", "standalone: true").find("cannot be combined"),
            std::string::npos);
  EXPECT_EQ(fault("publish-cluster-info: true"), "");
  for (const char* names : {"[\"\"]", "[\"a b\"]", "[\"a\\n\"]", "[\"\u00e4\"]"})
    EXPECT_NE(fault(std::string("client-names: ") + names), "") << names;
  EXPECT_EQ(fault("read-from-loopback: false"), "");
  EXPECT_NE(fault("read-from-loopback: never"), "");
  EXPECT_EQ(fault("scheduler-names: [default-scheduler, my.own]"), "");
  for (const char* names : {"[\"\"]", "[\"a b\"]", "[A]", "a"})
    EXPECT_NE(fault(std::string("scheduler-names: ") + names), "") << names;
  EXPECT_EQ(fault("caller-secrets: /x"), "") << "on loopback without TLS";
  EXPECT_EQ(fault("caller-secrets: /x", "http: 0.0.0.0:2\n" + ca), "");
  EXPECT_NE(fault("caller-secrets: /x", "http: 0.0.0.0:1").find("in clear text"),
            std::string::npos);
}

// "Any certificate of the CA" would be every node and user of a cluster's CA.
TEST(Config, OffLoopbackAClientCaNeedsTheNamesOfItsCallers) {
  const auto fault = [](const std::string& http, const std::string& names) {
    Config config;
    const auto read = apply_config_text(
        "standalone: true\ntls-cert: a\ntls-key: b\n"
        "tls-client-ca: c\nhttp: " +
            http + "\ngrpc: 127.0.0.1:2\nclient-names: " + names,
        config);
    if (!read) return read.error().text();
    const auto ok = check_config(config);
    return ok ? std::string() : ok.error().text();
  };
  EXPECT_EQ(fault("127.0.0.1:1", "[]"), "");
  EXPECT_EQ(fault("0.0.0.0:1", "[kube-scheduler]"), "");
  EXPECT_NE(fault("0.0.0.0:1", "[]").find("requires --client-names on 0.0.0.0:1"),
            std::string::npos);
}

std::string grpc_fault(const std::string& text, const std::string& more = "") {
  Config config;
  if (const auto read = apply_config_text(text + "\n" + more, config); !read)
    return read.error().text();
  const auto ok = check_config(config);
  return ok ? std::string() : ok.error().text();
}
constexpr const char* kTls = "tls-cert: a\ntls-key: b\ngrpc: 0.0.0.0:1\n";
constexpr const char* kMtls = "tls-cert: a\ntls-key: b\ngrpc: 0.0.0.0:1\ntls-client-ca: c\n";

TEST(Config, GrpcIsOffInAClusterAndOnLoopbackWithoutOne) {
  Config config;
  EXPECT_FALSE(config.grpc_address());
  config.standalone = true;
  ASSERT_TRUE(config.grpc_address());
  EXPECT_EQ(config.grpc_address()->text(), "127.0.0.1:8081");
  ASSERT_TRUE(apply_config_text("grpc: off", config));
  EXPECT_FALSE(config.grpc_address());
  EXPECT_NE(print_config(config).find("grpc: \"off\""), std::string::npos);
  ASSERT_TRUE(apply_config_text("grpc: 127.0.0.1:9", config));
  config.standalone = false;
  EXPECT_EQ(config.grpc_address()->text(), "127.0.0.1:9");
  EXPECT_NE(grpc_fault("grpc-auth: token").find("gRPC is off"), std::string::npos);
  EXPECT_NE(grpc_fault("grpc-auth: mtls", "tls-cert: a\ntls-key: b\ntls-client-ca: c")
                .find("requires --grpc HOST:PORT"),
            std::string::npos);
}

TEST(Config, GrpcCallersAreNamedExceptOnAStandaloneLoopback) {
  const std::string names = "grpc-client-names: [a]\n";
  const std::string readers = "grpc-reader-names: [\"spiffe://b/c\"]\n";
  for (const std::string& mode :
       {std::string("grpc-auth: none\n"), std::string("grpc-auth: mtls\n")}) {
    const std::string unnamed = grpc_fault(mode, kMtls);
    EXPECT_NE(unnamed.find("requires --grpc-client-names or --grpc-reader-names"),
              std::string::npos)
        << unnamed;
    EXPECT_NE(grpc_fault(mode, std::string(kMtls) + "standalone: true"), "");
    EXPECT_NE(grpc_fault(mode, std::string(kMtls) + "client-names: [a]"), "")
        << "client-names is for the HTTP side";
    EXPECT_EQ(grpc_fault(mode, kMtls + names), "");
    EXPECT_EQ(grpc_fault(mode, kMtls + readers), "");
    EXPECT_EQ(grpc_fault(mode, kMtls + names + "standalone: true"), "");
  }
  EXPECT_NE(grpc_fault("grpc-auth: none", kTls).find("anyone who reaches it could reserve chips"),
            std::string::npos);
  EXPECT_NE(grpc_fault("grpc: 127.0.0.1:1").find("anyone who reaches it could reserve chips"),
            std::string::npos)
      << "every process of a node, or of a pod, reaches loopback";
  EXPECT_EQ(grpc_fault("grpc: 127.0.0.1:1", "standalone: true"), "");
  EXPECT_NE(grpc_fault("grpc-auth: mtls", kTls).find("requires --tls-client-ca"),
            std::string::npos);
  for (const std::string& list : {names, readers})
    EXPECT_NE(grpc_fault(list, kTls).find("requires --tls-client-ca"), std::string::npos);
  for (const char* bad : {"[\"\"]", "[\"a b\"]"})
    EXPECT_NE(grpc_fault(std::string("grpc-reader-names: ") + bad), "") << bad;
}

TEST(Config, GrpcTokensNeedAnApiServerAndTls) {
  EXPECT_EQ(grpc_fault("grpc-auth: token", kTls), "")
      << "all callers are rejected, and the log says so";
  EXPECT_EQ(grpc_fault("grpc-auth: token", std::string(kMtls) + "grpc-users: [a, \"group:b\"]"),
            "");
  EXPECT_EQ(grpc_fault("grpc-auth: token", "grpc: 127.0.0.1:1"), "") << "on loopback without TLS";
  EXPECT_NE(grpc_fault("grpc-auth: token", "grpc: 0.0.0.0:1").find("requires --tls-cert"),
            std::string::npos);
  EXPECT_NE(grpc_fault("grpc-auth: token", "standalone: true")
                .find("cannot be combined with --standalone"),
            std::string::npos);
  for (const char* users : {"grpc-users: [a]", "grpc-reader-users: [a]"})
    EXPECT_NE(grpc_fault(users, kMtls).find("requires --grpc-auth token"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::sched
