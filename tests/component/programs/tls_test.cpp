// The programs over TLS: scheduler, command line, agent and OpenSSL's own client, and their errors
// for unusable files and flags.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/kube_api/certificates.hpp"
#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using test::make_authority;
using test::make_certificate;
using test::Pem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLocal = "IP:127.0.0.1,DNS:localhost";

struct ProgramsTls : ::testing::Test {
  const Pem ca = make_authority("CA");
  const Pem own = make_certificate(ca, kLocal);
  const Pem other = make_certificate(ca, kLocal);
  const Pem client = make_certificate(ca, "DNS:client");
  const Pem of_n1 = make_certificate(ca, "DNS:n1");
  io::TempFolder folder;

  void SetUp() override {
    folder.put("ca.crt", ca.certificate);
    folder.put("own.crt", own.certificate);
    folder.put("own.key", own.key);
    folder.put("other.crt", other.certificate);
    folder.put("other.key", other.key);
    folder.put("client.crt", client.certificate);
    folder.put("client.key", client.key);
    folder.put("agent.crt", of_n1.certificate);
    folder.put("agent.key", of_n1.key);
    folder.put("empty", "");
  }
  // A shell script with the scheduler running as $S, its addresses as $H and $G; ends it.
  // get PATH [ADDRESS [FLAGS…]]: status line, fields and body of a path.
  Outcome with_scheduler(const std::string& flags, const std::string& script,
                         const std::string& listen = "127.0.0.1:0",
                         const std::string& grpc = "127.0.0.1:0") {
    return run("cd " + folder.path() +
               R"( && rm -f ports && {
get() {
  P=$1; A=$2; shift 2
  printf 'GET /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$P" |
    openssl s_client -quiet -verify_return_error -CAfile ca.crt -connect "$A" "$@" 2>/dev/null
}
%B/chipweave-scheduler --standalone --port-file ports --http )" +
               listen + " --grpc " + grpc + " " + flags + R"( 2>log & S=$!
while kill -0 $S 2>/dev/null && [ ! -s ports ]; do sleep 0.02; done
H=$(sed 's/.*"http":\([0-9]*\).*/127.0.0.1:\1/' ports)
G=$(sed 's/.*"grpc":\([0-9]*\).*/127.0.0.1:\1/' ports)
)" + script + "\nkill $S; wait $S; } 2>&1");
  }
  Outcome complaint_here(const std::string& arguments) {
    return run("cd " + folder.path() + " && %B/" + arguments + " 2>&1 >/dev/null </dev/null");
  }
};

const std::string kTls = "--tls-cert own.crt --tls-key own.key ";

TEST_F(ProgramsTls, OpensslAndTheCommandLineReachTheScheduler) {
  const Outcome out = with_scheduler(kTls, R"(
get version $H; echo
get metrics $H | grep -c ^chipweave_tls_certificate_expiry
%B/chipweave nodes --scheduler https://$H --ca ca.crt
%B/chipweave nodes --scheduler https://$H; echo "unverified: $?"
%B/chipweave nodes --scheduler http://$H; echo "in the clear: $?")");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr(R"({"name":"chipweave-scheduler")"));
  EXPECT_THAT(out.text, HasSubstr("\n1\n"));
  EXPECT_THAT(out.text, HasSubstr("MACHINE"));
  EXPECT_THAT(out.text, HasSubstr("certificate verify failed"));
  EXPECT_THAT(out.text, HasSubstr("unverified: 3"));
  EXPECT_THAT(out.text, HasSubstr("speaks HTTPS"));
  EXPECT_THAT(out.text, HasSubstr("in the clear: 3"));
}

TEST_F(ProgramsTls, ProbesNeedNoCertificateAndAllElseDoes) {
  const Outcome out = with_scheduler(kTls + "--tls-client-ca ca.crt", R"(
for p in healthz readyz version kube/filter nothing; do
  get $p $H | sed -n "s|^HTTP/1.1 \([0-9]*\).*|$p \1|p"
done
get version $H; echo
get version $H -cert client.crt -key client.key; echo
export CHIPWEAVE_CA=ca.crt CHIPWEAVE_CERT=client.crt CHIPWEAVE_KEY=client.key
CHIPWEAVE_SCHEDULER=https://$H %B/chipweave nodes)");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("healthz 200\nreadyz 200\nversion 401\nkube/filter 401\n"
                                  "nothing 401\n"));
  EXPECT_THAT(out.text, HasSubstr(R"({"error":{"code":"unauthenticated")"));
  EXPECT_THAT(out.text, HasSubstr(R"({"name":"chipweave-scheduler")"));
  EXPECT_THAT(out.text, HasSubstr("MACHINE"));
}

TEST_F(ProgramsTls, OffLoopbackDecisionsNeedASecretOrACertificateOfAListedCaller) {
  const std::string first(48, 'a');
  const std::string second(48, 'b');
  folder.put("callers/kube-scheduler", first + "\n");
  const std::string flags =
      kTls + "--tls-client-ca ca.crt --client-names client --caller-secrets callers";
  const Outcome out = with_scheduler(flags, R"sh(
post() {
  N=$1; P=$2; shift 2
  printf 'POST /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}' "$P" |
    openssl s_client -quiet -verify_return_error -CAfile ca.crt -connect "$H" "$@" 2>/dev/null |
    sed -n "s|^HTTP/1.1 \([0-9]*\).*|$N \1|p"
}
A=$(cat callers/kube-scheduler)
B=)sh" + second + R"sh(
post nobody kube/filter
post named kube/filter -cert client.crt -key client.key
post unnamed kube/filter -cert other.crt -key other.key
post first callers/$A/kube/filter
post elsewhere callers/$A/volcano/predicate
post second callers/$B/kube/filter
echo $B >callers/kube-scheduler-2
until post both callers/$B/kube/filter | grep 200; do sleep 0.1; done
post still callers/$A/kube/filter
rm callers/kube-scheduler
until post gone callers/$A/kube/filter | grep 401; do sleep 0.1; done
post new callers/$B/kube/filter
get metrics $H -cert client.crt -key client.key | grep '^chipweave_refused_callers_total.*name_not'
grep -c -e $A -e $B log
grep -m1 -o 'msg="refused a caller" path=/kube/filter from=127.0.0.1' log)sh",
                                     "0.0.0.0:0");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("nobody 401\nnamed 200\nunnamed 401\nfirst 200\nelsewhere 401\n"
                                  "second 401\nboth 200\nstill 200\ngone 401\nnew 200\n"));
  EXPECT_THAT(out.text, HasSubstr("{reason=\"name_not_allowed\"} 1\n0\nmsg="));
}

TEST_F(ProgramsTls, ReadersShowASecretWhereLoopbackIsNotEnough) {
  folder.put("callers/reader", std::string(48, 'r') + "\n");
  folder.put("callers/kube-scheduler", std::string(48, 'k'));
  folder.put("empty", "\n");
  const Outcome out =
      with_scheduler(kTls + "--caller-secrets callers --read-from-loopback=false", R"(
export CHIPWEAVE_SCHEDULER=https://$H CHIPWEAVE_CA=ca.crt
%B/chipweave nodes; echo "without: $?"
%B/chipweave nodes --token-file callers/reader; echo "reader: $?"
CHIPWEAVE_TOKEN_FILE=callers/reader %B/chipweave explain ns/p
%B/chipweave nodes --token-file callers/kube-scheduler; echo "another's: $?"
%B/chipweave nodes --token-file empty; echo "empty: $?"
%B/chipweave nodes --token-file none; echo "none: $?"
%B/chipweave nodes --scheduler http://$H --ca "" --token-file callers/reader; echo "plain: $?")",
                     "0.0.0.0:0");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("answered 401: this path requires"));
  EXPECT_THAT(out.text, HasSubstr("without: 3"));
  EXPECT_THAT(out.text, HasSubstr("MACHINE"));
  EXPECT_THAT(out.text, HasSubstr("reader: 0"));
  EXPECT_THAT(out.text, HasSubstr("pod \"ns/p\" not found"));
  EXPECT_THAT(out.text, HasSubstr("the secret is another caller's"));
  EXPECT_THAT(out.text, HasSubstr("another's: 3"));
  EXPECT_THAT(out.text, HasSubstr("file empty: expected one token"));
  EXPECT_THAT(out.text, HasSubstr("empty: 3"));
  EXPECT_THAT(out.text, HasSubstr("none: 3"));
  EXPECT_THAT(out.text, HasSubstr("--token-file: must be combined with an https:// URL"));
  EXPECT_THAT(out.text, HasSubstr("plain: 2"));
}

TEST_F(ProgramsTls, AnAgentReportsOverTlsAndShowsItsMetricsOverTls) {
  const Outcome out = with_scheduler(kTls + "--tls-client-ca ca.crt", R"(
%B/chipweave-agent --node n2 --probe profile:hgx-h100-8 --scheduler $G --tls-ca ca.crt \
  --tls-cert agent.crt --tls-key agent.key 2>other-log & O=$!
%B/chipweave-agent --node n1 --probe profile:hgx-h100-8 --scheduler $G --tls-ca ca.crt \
  --tls-cert agent.crt --tls-key agent.key --metrics 127.0.0.1:0 --port-file agent-port \
  --metrics-tls-cert own.crt --metrics-tls-key own.key 2>agent-log & A=$!
nodes() { %B/chipweave nodes --scheduler https://$H --ca ca.crt --cert client.crt --key client.key; }
until nodes | grep hgx-h100-8; do sleep 0.1; kill -0 $A || break; done
M=$(sed 's/.*:\([0-9]*\).*/127.0.0.1:\1/' agent-port)
until get metrics $M | grep '^chipweave_agent_connected 1'; do sleep 0.1; kill -0 $A || break; done
until grep 'refused a caller.*method=Report' log; do sleep 0.1; kill -0 $O || break; done
nodes | grep -c n2
kill $A $O; wait $A $O)");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("n1 "));
  EXPECT_THAT(out.text, HasSubstr("chipweave_agent_connected 1"));
  EXPECT_THAT(out.text, HasSubstr("caller=\"certificate n1\""));
  EXPECT_THAT(out.text, HasSubstr(R"(does not name node \"n2\":)"));
  EXPECT_THAT(out.text, HasSubstr("\n0\n")) << "n2 is not among the nodes";
}

TEST_F(ProgramsTls, ANewCertificateIsServedWithoutRestart) {
  const Outcome out = with_scheduler(kTls, R"sh(
print() { openssl x509 -noout -fingerprint; }
show() { openssl s_client -connect $1 </dev/null 2>/dev/null | print; }
H1=$(show $H); G1=$(show $G)
cp other.key own.key; sleep 0.1; cp other.crt own.crt
while [ "$(show $H)" = "$H1" ] || [ "$(show $G)" = "$G1" ]; do sleep 0.1; done
[ "$(show $H)" = "$(print <other.crt)" ] && echo changed
[ "$(show $G)" = "$(show $H)" ] && echo both)sh");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("changed\nboth\n"));
}

TEST_F(ProgramsTls, FilesThatDoNotFitAreNamed) {
  const std::string scheduler =
      "chipweave-scheduler --standalone --http 127.0.0.1:0 "
      "--grpc 127.0.0.1:0 ";
  const auto expect = [&](const std::string& arguments, int code, const std::string& words) {
    const Outcome out = complaint_here(arguments);
    EXPECT_EQ(out.code, code) << arguments << "\n" << out.text;
    EXPECT_THAT(out.text, HasSubstr(words)) << arguments;
  };
  expect(scheduler + "--tls-cert own.crt", 2, "--tls-cert requires --tls-key");
  expect(scheduler + "--tls-key own.key", 2, "--tls-key requires --tls-cert");
  expect(scheduler + "--tls-client-ca ca.crt", 2, "requires --tls-cert");
  expect(scheduler + "--tls-cert none.crt --tls-key own.key", 3, "none.crt");
  expect(scheduler + "--client-names a", 2, "--client-names requires --tls-client-ca");
  expect("chipweave-scheduler --standalone --http 0.0.0.0:0 --grpc 127.0.0.1:0 " + kTls +
             "--tls-client-ca ca.crt",
         2, "--tls-client-ca requires --client-names on 0.0.0.0:0");
  expect(
      "chipweave-scheduler --standalone --grpc 0.0.0.0:0 --client-names a --tls-client-ca ca.crt " +
          kTls,
      2, "--grpc 0.0.0.0:0 requires --grpc-client-names or --grpc-reader-names");
  expect("chipweave-scheduler --kubeconfig none --grpc 127.0.0.1:0", 2,
         "--grpc 127.0.0.1:0 requires --tls-client-ca or --grpc-auth token");
  expect(scheduler + "--caller-secrets none", 3, "--caller-secrets: file none");
  expect(scheduler + "--tls-cert own.crt --tls-key other.key", 3, "other.key is not the key of");
  expect(scheduler + kTls + "--tls-client-ca empty", 3, "empty is empty");
  const std::string agent =
      "chipweave-agent --node n --scheduler 127.0.0.1:1 "
      "--probe profile:hgx-h100-8 ";
  expect(agent + "--tls-cert client.crt --tls-key client.key", 2, "requires --tls-ca");
  expect(agent + "--tls-ca ca.crt --tls-cert client.crt", 2, "--tls-cert requires --tls-key");
  expect(agent + "--tls-ca none.crt", 3, "none.crt");
  expect(agent + "--tls-ca own.key", 3, "own.key");
  expect(agent + "--tls-ca ca.crt --tls-cert client.crt --tls-key own.key", 3, "own.key");
  expect(agent + "--metrics 127.0.0.1:0 --metrics-tls-cert own.crt", 2,
         "--metrics-tls-cert requires --metrics-tls-key");
  expect(agent + "--metrics-tls-cert own.crt --metrics-tls-key own.key", 2, "requires --metrics");
  expect(agent + "--metrics 127.0.0.1:0 --metrics-tls-cert own.crt --metrics-tls-key other.key", 3,
         "other.key is not the key of");
  expect("chipweave nodes --scheduler http://127.0.0.1:1 --ca ca.crt", 2, "https://");
  expect("chipweave nodes --scheduler https://127.0.0.1:1 --cert client.crt", 2,
         "--cert requires --key");
  expect("chipweave nodes --scheduler https://127.0.0.1:1 --ca none.crt", 3, "none.crt");
}

TEST_F(ProgramsTls, WithoutGrpcThePortFileNamesTheHttpPortOnly) {
  const Outcome out = with_scheduler("", "cat ports", "127.0.0.1:0", "off");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, ::testing::ContainsRegex("^\\{\"http\":[0-9]+\\}\n"));
}

TEST_F(ProgramsTls, AnOpenPortInTheClearIsWarnedOf) {
  const auto log = [this](const std::string& flags, const std::string& listen) {
    const Outcome out = with_scheduler(flags, "cat log", listen);
    EXPECT_EQ(out.code, 0);
    return out.text;
  };
  EXPECT_THAT(log("", "0.0.0.0:0"), AllOf(HasSubstr("level=warn"), HasSubstr("--tls-cert")));
  EXPECT_THAT(log("", "127.0.0.1:0"), Not(HasSubstr("level=warn")));
  EXPECT_THAT(log(kTls, "0.0.0.0:0"), HasSubstr("no caller can authenticate"));
  EXPECT_THAT(log(kTls + "--tls-client-ca ca.crt --client-names client", "0.0.0.0:0"),
              Not(HasSubstr("level=warn")));
}

}  // namespace
}  // namespace chipweave
