// Who may make which request: each proof where one is needed and where none is, with and without a
// client CA; and the log of refused callers.
#include "scheduler-plugin/server/caller_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/kube/base64.hpp"
#include "scheduler-plugin/server/caller_audit.hpp"

namespace chipweave::sched {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kKube(48, 'k');
const std::string kVolcano(48, 'v');
const std::string kWebhook(48, 'w');
const std::string kStandalone(48, 's');
const std::string kReader(48, 'r');

struct NamedPeer final : http::Peer {
  explicit NamedPeer(std::vector<std::string> n) : names_(std::move(n)) {}
  std::string address() const override { return address_; }
  const std::vector<std::string>& names() const override { return names_; }
  std::vector<std::string> names_;
  std::string address_ = "10.0.0.7";
};

struct Sent {
  std::string method = "POST";
  std::string path;
  bool trusted = true;
  std::vector<std::string> names{};
  std::string authorization{};
  std::string address = "10.0.0.7";
};

std::string basic(const std::string& name, const std::string& secret) {
  return "Basic " + codec::encode_base64(name + ":" + secret);
}

struct CallerChecks : ::testing::Test {
  CallerSecrets secrets;
  CallerChecks() {
    std::vector<CallerSecrets::Caller> all;
    for (const auto& [name, secret] : {std::pair{"kube-scheduler", kKube},
                                       {"volcano", kVolcano},
                                       {"webhook", kWebhook},
                                       {"standalone", kStandalone},
                                       {"reader-prometheus", kReader}})
      all.push_back(CallerSecrets::read(name, secret).value());
    secrets.replace(std::move(all));
  }
  CallerRules rules(bool open, bool client_ca = false, std::vector<std::string> names = {}) const {
    return {open, client_ca, std::move(names), &secrets};
  }
  // "" if it may go on.
  static std::string refused(const CallerRules& rules, const Sent& sent) {
    NamedPeer peer(sent.names);
    peer.address_ = sent.address;
    http::RequestHead request{sent.method, sent.path, ""};
    request.trusted = sent.trusted;
    request.authorization = sent.authorization;
    request.peer = &peer;
    const auto why = CallerCheck(rules).refuse(request, CallerPath(sent.path));
    return why ? std::string(to_string(*why)) : "";
  }
};

struct GuardedPath {
  const char* method;
  const char* path;
  const std::string& secret;
  const char* caller;
};
const std::vector<GuardedPath> kDecisions{
    {"POST", "/kube/filter", kKube, "kube-scheduler"},
    {"POST", "/kube/prioritize", kKube, "kube-scheduler"},
    {"POST", "/kube/bind", kKube, "kube-scheduler"},
    {"POST", "/kube/preempt", kKube, "kube-scheduler"},
    {"POST", "/volcano/predicate", kVolcano, "volcano"},
    {"POST", "/volcano/onSessionOpen", kVolcano, "volcano"},
    {"POST", "/volcano/jobReady", kVolcano, "volcano"},
    {"POST", "/admission/binding", kWebhook, "webhook"},
    {"POST", "/standalone/pods", kStandalone, "standalone"},
    {"DELETE", "/standalone/pods/ns/p", kStandalone, "standalone"},
    {"GET", "/kube/filter", kKube, "kube-scheduler"},  // no route: refused before routing tells
    {"PUT", "/standalone/x", kStandalone, "standalone"},
    {"POST", "/kube/nothing", kKube, "kube-scheduler"}};

TEST_F(CallerChecks, OffLoopbackEveryDecisionNeedsAProof) {
  for (const GuardedPath& d : kDecisions) {
    SCOPED_TRACE(d.path);
    const std::string with_secret = "/callers/" + d.secret + d.path;
    const CallerRules off = rules(false);
    EXPECT_EQ(refused(off, {d.method, d.path}), "no_credentials");
    EXPECT_EQ(refused({false, false, {}, nullptr}, {d.method, d.path}), "no_credentials");
    EXPECT_EQ(refused(off, {d.method, with_secret}), "");
    EXPECT_EQ(refused({false, false, {}, nullptr}, {d.method, with_secret}), "unknown_secret");
    EXPECT_EQ(refused(off, {d.method, d.path, true, {}, basic(d.caller, d.secret)}), "");
    EXPECT_EQ(refused(off, {d.method, d.path, true, {}, basic("x", d.secret)}), "unknown_secret");
    EXPECT_EQ(refused(off, {d.method, d.path, true, {}, "Bearer " + d.secret}), "no_credentials");
    const CallerRules ca = rules(false, true);
    EXPECT_EQ(refused(ca, {d.method, d.path, false}), "no_credentials");
    EXPECT_EQ(refused(ca, {d.method, d.path, true, {"any"}}), "");
    EXPECT_EQ(refused(ca, {d.method, with_secret, false}), "") << "a secret suffices";
    const CallerRules named = rules(false, true, {"spiffe://a/b", "kube-scheduler"});
    EXPECT_EQ(refused(named, {d.method, d.path, true, {"node-7"}}), "name_not_allowed");
    EXPECT_EQ(refused(named, {d.method, d.path, true, {}}), "name_not_allowed");
    EXPECT_EQ(refused(named, {d.method, d.path, true, {"x", "spiffe://a/b"}}), "");
    EXPECT_EQ(refused(named, {d.method, d.path, true, {std::string("kube-scheduler\0.x", 17)}}),
              "name_not_allowed");
  }
}

TEST_F(CallerChecks, StandaloneOnLoopbackWithoutAClientCaNoProofIsNeededButAWrongOneIsRefused) {
  for (const GuardedPath& d : kDecisions) {
    SCOPED_TRACE(d.path);
    EXPECT_EQ(refused(rules(true), {d.method, d.path}), "");
    EXPECT_EQ(refused(rules(true), {d.method, "/callers/" + d.secret + d.path}), "");
    EXPECT_EQ(refused(rules(true), {d.method, "/callers/x" + d.secret + d.path}), "unknown_secret");
    EXPECT_EQ(refused(rules(true), {d.method, d.path, true, {}, basic(d.caller, "no")}),
              "unknown_secret");
    EXPECT_EQ(refused(rules(true, true), {d.method, d.path, false}), "no_credentials");
    EXPECT_EQ(refused(rules(true, true), {d.method, d.path, true}), "");
  }
}

TEST_F(CallerChecks, ASecretIsGoodForItsOwnPathsOnly) {
  for (const bool loopback : {true, false}) {
    for (const GuardedPath& d : kDecisions) {
      for (const std::string& secret : {kKube, kVolcano, kWebhook, kStandalone}) {
        EXPECT_EQ(refused(rules(loopback), {d.method, "/callers/" + secret + d.path}),
                  secret == d.secret ? "" : "wrong_path")
            << d.path;
      }
    }
  }
}

const std::vector<std::string> kReads{"/version",
                                      "/metrics",
                                      "/api/v1/nodes",
                                      "/api/v1/explain/a/b",
                                      "/standalone/pods",
                                      "/nothing",
                                      "/",
                                      "/callers",
                                      "*"};

TEST_F(CallerChecks, ReadingNeedsAProofUnlessTheCallerIsOnThisMachine) {
  for (const std::string& path : kReads) {
    SCOPED_TRACE(path);
    EXPECT_EQ(refused(rules(false), {"GET", path}), "no_credentials");
    EXPECT_EQ(refused(rules(true), {"GET", path}), "") << "listens on loopback";
    Sent local{"GET", path};
    for (const char* address : {"127.0.0.1", "::1", "::ffff:127.0.0.1"}) {
      local.address = address;
      EXPECT_EQ(refused(rules(false), local), "") << address << ": kubectl port-forward";
    }
    for (const char* address : {"127.0.0.6", "127.0.0.11", "10.0.0.1", "::2", ""}) {
      local.address = address;
      EXPECT_EQ(refused(rules(false), local), "no_credentials") << address;
    }
    local.address = "127.0.0.1";
    CallerRules closed = rules(false);
    closed.read_from_loopback = false;
    EXPECT_EQ(refused(closed, local), "no_credentials");
    closed.open = true;
    EXPECT_EQ(refused(closed, local), "no_credentials");
    EXPECT_EQ(refused(rules(false, true), {"GET", path, false}), "no_credentials");
    local.trusted = false;
    EXPECT_EQ(refused(rules(false, true), local), "no_credentials") << "with a CA as before";
    EXPECT_EQ(refused(rules(false, true, {"x"}), {"GET", path, true, {"y"}}), "")
        << "any certificate of the CA";
  }
}

TEST_F(CallerChecks, AReadersSecretReadsAndNothingElse) {
  for (const bool client_ca : {false, true}) {
    const CallerRules off = rules(false, client_ca);
    for (const std::string& path : kReads) {
      if (path == "*" || path == "/callers") continue;
      SCOPED_TRACE(path);
      EXPECT_EQ(refused(off, {"GET", path, false, {}, "Bearer " + kReader}), "");
      EXPECT_EQ(refused(off, {"GET", path, false, {}, "bearer " + kReader}), "");
      EXPECT_EQ(refused(off, {"GET", path, false, {}, basic("reader-prometheus", kReader)}), "");
      EXPECT_EQ(refused(off, {"GET", "/callers/" + kReader + path, false}), "");
      EXPECT_EQ(refused(off, {"GET", path, false, {}, basic("reader", kReader)}), "unknown_secret");
      for (const std::string& field :
           {"Bearer " + kReader + "x", std::string("Bearer "), std::string("Bearer"),
            "Bearer " + std::string(2000, 'r'), "Digest " + kReader, kReader})
        EXPECT_NE(refused(off, {"GET", path, false, {}, field}), "") << field;
      if (path == "/standalone/pods") continue;
      EXPECT_EQ(refused(off, {"GET", path, false, {}, "Bearer " + kKube}), "wrong_path");
    }
    EXPECT_EQ(
        refused(off, {"GET", "/standalone/pods", false, {}, basic("standalone", kStandalone)}), "");
    for (const GuardedPath& d : kDecisions) {
      EXPECT_NE(refused(off, {d.method, d.path, false, {}, "Bearer " + kReader}), "") << d.path;
      EXPECT_NE(refused(off, {d.method, "/callers/" + kReader + d.path, false}), "") << d.path;
    }
  }
  EXPECT_EQ(refused(rules(true), {"GET", "/metrics", true, {}, basic("a", "b")}), "")
      << "a field for somebody else does not matter where none is needed";
}

TEST_F(CallerChecks, ProbesAreOpen) {
  for (const bool loopback : {true, false}) {
    for (const char* path : {"/healthz", "/readyz", "/readyz/standby"})
      EXPECT_EQ(refused(rules(loopback, true), {"GET", path, false}), "") << path;
  }
  EXPECT_EQ(refused(rules(true), {"GET", "/callers/wrong/healthz"}), "unknown_secret");
  EXPECT_EQ(refused(rules(false, true), {"GET", "/callers/" + kKube + "/metrics", false}),
            "wrong_path");
}

// How the log names the sender, by one of the two rules.
auto name_by(std::string (CallerCheck::*rule)(const http::RequestHead&, const CallerPath&) const) {
  return [rule](const CallerRules& rules, const Sent& sent) {
    const NamedPeer peer(sent.names);
    http::RequestHead request{sent.method, sent.path, ""};
    request.trusted = sent.trusted;
    request.authorization = sent.authorization;
    request.peer = &peer;
    return (CallerCheck(rules).*rule)(request, CallerPath(sent.path));
  };
}

TEST_F(CallerChecks, ACallerHasTheNameOfItsSecretOrCertificate) {
  const auto name = name_by(&CallerCheck::name_of);
  const std::string in_path = "/callers/" + kKube + "/kube/bind";
  EXPECT_EQ(name(rules(true), {"POST", "/kube/bind"}), "") << "on loopback";
  EXPECT_EQ(name(rules(true), {"POST", in_path}), "kube-scheduler");
  EXPECT_EQ(name(rules(false), {"POST", "/kube/bind", true, {}, basic("kube-scheduler", kKube)}),
            "kube-scheduler");
  EXPECT_EQ(name(rules(false, true), {"POST", "/kube/bind", true, {"a", "b"}}), "certificate a");
  EXPECT_EQ(name(rules(false, true, {"b", "c"}), {"POST", "/kube/bind", true, {"a", "b"}}),
            "certificate b");
  EXPECT_EQ(name(rules(false, true), {"POST", "/kube/bind", true, {}}), "certificate");
  EXPECT_EQ(name(rules(false, true), {"POST", in_path, true, {"a"}}), "kube-scheduler");
  secrets.replace({});
  EXPECT_EQ(name(rules(true), {"POST", in_path}), "unknown secret")
      << "removed since the check: not a client without a name";
}

TEST_F(CallerChecks, HostileCredentials) {
  for (const std::string& path :
       {std::string("/callers/"), std::string("/callers//kube/bind"), "/callers/" + kKube.substr(1),
        "/callers/" + kKube + "x/kube/bind", "/callers/%6b" + kKube.substr(1) + "/kube/bind",
        "/callers/" + std::string(8000, 'k') + "/kube/bind"})
    EXPECT_EQ(refused(rules(false), {"POST", path}), "unknown_secret") << path;
  EXPECT_EQ(refused(rules(false), {"POST", "//callers/" + kKube + "/kube/bind"}), "no_credentials")
      << "no such path";
  EXPECT_EQ(
      refused(rules(false), {"POST", "/callers/" + kKube + "/callers/" + kKube + "/kube/bind"}),
      "wrong_path")
      << "no such path either";
  for (const std::string& field :
       {std::string("Basic !!!!"), std::string("Basic "), "Basic " + codec::encode_base64(kKube),
        "Basic " + codec::encode_base64(":" + kKube),
        "Basic " + codec::encode_base64(std::string(5000, 'k'))})
    EXPECT_NE(refused(rules(false), {"POST", "/kube/bind", true, {}, field}), "") << field;
}

TEST_F(CallerChecks, ARefusedCallerHasThatNameIfItIsKnown) {
  const auto name = name_by(&CallerCheck::known_name);
  const CallerRules off = rules(false, true, {"kube-scheduler"});
  EXPECT_EQ(name(off, {"POST", "/callers/" + kVolcano + "/kube/bind", false}), "volcano");
  EXPECT_EQ(name(off, {"GET", "/metrics", false, {}, "Bearer " + kVolcano}), "volcano");
  EXPECT_EQ(name(off, {"POST", "/kube/bind", true, {"node-7", "x"}}), "certificate node-7");
  EXPECT_EQ(name(off, {"POST", "/callers/x/kube/bind", true, {"node-7"}}), "certificate node-7");
  EXPECT_EQ(name(off, {"POST", "/kube/bind", false}), "");
  EXPECT_EQ(name(off, {"POST", "/kube/bind", false, {}, basic("volcano", "no")}), "") << "claimed";
  EXPECT_EQ(name(rules(false), {"POST", "/kube/bind"}), "");
}

TEST(CallerAudit, TenLinesAMinuteThenACount) {
  CallerAudit audit;
  const NamedPeer peer({});
  const Clock::Steady begin = Clock::Steady() + std::chrono::hours(1);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 25; ++i)
    audit.refused({CallerRefusal::wrong_path, "/kube/bind", "volcano", &peer}, begin);
  audit.tick(begin + std::chrono::seconds(59));
  const std::string first = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 10) << first;
  EXPECT_THAT(first, HasSubstr("level=warn msg=\"refused a caller\" path=/kube/bind from=10.0.0.7 "
                               "caller=volcano reason=\"the secret is another caller's"));
  ::testing::internal::CaptureStderr();
  audit.tick(begin + std::chrono::seconds(60));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not_logged=15"));
  ::testing::internal::CaptureStderr();
  audit.refused({CallerRefusal::no_credentials, "other"}, begin + std::chrono::minutes(2));
  audit.tick(begin + std::chrono::minutes(4));
  const std::string last = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(last, HasSubstr("path=other from=unknown caller=unknown"));
  EXPECT_THAT(last, Not(HasSubstr("not_logged")));
}

TEST(CallerAudit, ManyOfOneReasonDoNotHideAnother) {
  CallerAudit audit;
  const Clock::Steady begin = Clock::Steady() + std::chrono::hours(1);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) audit.refused({CallerRefusal::no_credentials, "other"}, begin);
  audit.refused({CallerRefusal::unknown_secret, "/kube/bind", std::string(5000, 'n')}, begin);
  audit.tick(begin + std::chrono::minutes(1));
  const std::string lines = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 12) << lines;
  EXPECT_THAT(lines, HasSubstr("reason=\"no caller has this secret\""));
  EXPECT_THAT(lines, HasSubstr("client certificate or a caller's secret\" not_logged=990"));
  EXPECT_LT(lines.size(), 4000U) << "names are shortened";
}

}  // namespace
}  // namespace chipweave::sched
