// Authentication of HTTP callers over real sockets: which proofs are accepted where, over TLS and
// plain, and that no secret shows in an answer, a metric or the log.
#include <gmock/gmock.h>

#include "common/codec/kube/base64.hpp"
#include "tests/component/sched_http/sched_http.hpp"
#include "tests/unit/http/tls_socket.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kKubeSecret(48, 'k');
const std::string kOtherSecret(48, 'o');
const std::string kReaderSecret(48, 'r');
const std::string kVolcanoSecret(48, 'v');

const CallerSecrets& known_secrets() {
  static const CallerSecrets secrets = [] {
    CallerSecrets out;
    out.replace({CallerSecrets::read("kube-scheduler", kKubeSecret).value(),
                 CallerSecrets::read("kube-scheduler-2", kOtherSecret).value(),
                 CallerSecrets::read("reader", kReaderSecret).value(),
                 CallerSecrets::read("volcano", kVolcanoSecret).value()});
    return out;
  }();
  return secrets;
}

std::string posted(const std::string& path, const std::string& field = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + field + "Content-Length: 2\r\n\r\n{}";
}

// Listens on loopback with the rules of a server that does not.
struct OffLoopback : SchedHttp {
  OffLoopback() : SchedHttp({false, false, {}, &known_secrets()}) {}
};

TEST_F(OffLoopback, EveryDecisionRouteIsClosedWithoutAProof) {
  for (const char* path : {"/kube/filter",
                           "/kube/prioritize",
                           "/kube/bind",
                           "/kube/preempt",
                           "/volcano/predicate",
                           "/volcano/prioritize",
                           "/volcano/allocate",
                           "/volcano/deallocate",
                           "/volcano/preemptable",
                           "/volcano/reclaimable",
                           "/volcano/onSessionOpen",
                           "/volcano/onSessionClose",
                           "/volcano/jobReady",
                           "/volcano/jobEnqueueable",
                           "/volcano/jobEnqueued",
                           "/volcano/queueOverused",
                           "/admission/binding",
                           "/admission/gate",
                           "/standalone/pods",
                           "/kube/nothing"}) {
    const auto reply = call("POST", path, "{}");
    EXPECT_EQ(reply.status, 401) << path;
    EXPECT_EQ(Json::parse(reply.body)["error"]["code"], "unauthenticated") << path;
  }
  EXPECT_EQ(call("DELETE", "/standalone/pods/ns/p").status, 401);
  EXPECT_EQ(call("GET", "/kube/filter").status, 401) << "405 would tell that it exists";
  for (const char* path : {"/healthz", "/readyz", "/version", "/metrics", "/api/v1/nodes",
                           "/api/v1/pods", "/standalone/pods"})
    EXPECT_EQ(call("GET", path).status, 200) << path << " from this machine";
}

// As for a caller from elsewhere.
struct ClosedToReaders : SchedHttp {
  ClosedToReaders() : SchedHttp({false, false, {}, &known_secrets(), false}) {}
};

TEST_F(ClosedToReaders, ReadingNeedsAReadersSecret) {
  for (const char* path : {"/version", "/metrics", "/api/v1/nodes", "/api/v1/nodes/n",
                           "/api/v1/pods", "/api/v1/explain/a/b", "/standalone/pods", "/none"}) {
    EXPECT_EQ(call("GET", path).status, 401) << path;
    EXPECT_NE(call("GET", "/callers/" + kReaderSecret + path).status, 401) << path;
    EXPECT_EQ(call("GET", "/callers/" + kKubeSecret + path).status, 401) << path;
  }
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(call("GET", path).status, 200) << path;
  const auto reads = [&](const std::string& token, const std::string& path) {
    auto reader = http::Client::connect_to("127.0.0.1:" + std::to_string(port_), {}, token).value();
    return reader.call("GET", path, "").value().status;
  };
  EXPECT_EQ(reads(kReaderSecret, "/metrics"), 200) << "as Prometheus and the command line do";
  EXPECT_EQ(reads(kReaderSecret, "/api/v1/nodes"), 200);
  EXPECT_EQ(reads(kReaderSecret + "x", "/metrics"), 401);
  EXPECT_EQ(reads(kKubeSecret, "/metrics"), 401);
  EXPECT_EQ(call("POST", "/callers/" + kReaderSecret + "/kube/filter", "{}").status, 401);
}

TEST_F(OffLoopback, ASecretInThePathOrAsPasswordOpensItsRoutes) {
  add_node("n1", "hgx-v100-8");
  const std::string prefix = "/callers/" + kKubeSecret;
  const std::string body = args(pod("p", 2), {"n1"});
  const auto reply = call("POST", prefix + "/kube/filter", body);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(Json::parse(reply.body)["NodeNames"], Json::array({"n1"})) << reply.body;
  EXPECT_EQ(call("GET", prefix + "/kube/filter").status, 405) << "who may call is told";
  EXPECT_EQ(call("POST", prefix + "/kube/nothing").status, 404);
  EXPECT_EQ(call("POST", prefix + "/volcano/predicate", body).status, 401);
  EXPECT_EQ(call("POST", "/callers/" + kVolcanoSecret + "/volcano/jobReady", "{}").status, 200);

  const std::string good =
      "Authorization: Basic " + codec::encode_base64("kube-scheduler:" + kKubeSecret) + "\r\n";
  http::RawSocket raw(port_);
  raw.send(posted("/kube/filter", good));
  EXPECT_EQ(http::status_of(raw.read_reply()), "HTTP/1.1 200");
  raw.send(posted("/kube/filter"));
  EXPECT_EQ(http::status_of(raw.read_reply()), "HTTP/1.1 401") << "not kept for the connection";
  http::RawSocket twice(port_);
  twice.send(posted("/kube/filter", good + good));
  EXPECT_EQ(http::status_of(twice.read_reply()), "HTTP/1.1 401");
}

TEST_F(OffLoopback, APodIsBoundOnlyForTheCallerThatAskedAboutIt) {
  add_node("n1", "hgx-v100-8");
  const std::string mine = "/callers/" + kKubeSecret;
  const std::string theirs = "/callers/" + kOtherSecret;
  const auto put = [&](const std::string& name, int chips, const std::string& scheduler) {
    ClusterPod entry;
    entry.request.key = {"ns", name};
    entry.request.uid = "uid-" + name;
    entry.request.resource = chips > 0 ? "nvidia.com/gpu" : "";
    entry.request.chips = chips;
    entry.scheduler = scheduler;
    post_and_wait(loop_, [&] { ASSERT_TRUE(cluster_.add(entry, "{}").ok()); });
    Json out = pod(name, chips);
    out["metadata"]["uid"] = entry.request.uid;
    return out;
  };
  const auto bind = [&](const std::string& caller, const Json& p) {
    return Json::parse(call("POST", caller + "/kube/bind", binding(p, "n1")).body)["Error"]
        .get<std::string>();
  };
  const Json plain = put("plain", 0, "default-scheduler");
  EXPECT_THAT(bind(mine, plain), HasSubstr("caller \"kube-scheduler\" has not asked about it"));
  EXPECT_EQ(call("POST", mine + "/kube/filter", args(plain, {"n1"})).status, 200);
  EXPECT_THAT(bind(theirs, plain), HasSubstr("\"kube-scheduler-2\" has not asked about it"));
  EXPECT_EQ(bind(mine, plain), "");
  const Json chips = put("chips", 2, "default-scheduler");
  EXPECT_EQ(call("POST", mine + "/kube/prioritize", args(chips, {"n1"})).status, 200);
  EXPECT_THAT(bind(mine, put("held", 2, "default-scheduler")), HasSubstr("has not asked about it"));
  EXPECT_EQ(bind(mine, chips), "");
}

struct WithChangingSecrets : SchedHttp {
  WithChangingSecrets() : SchedHttp({false, false, {}, &secrets}) {
    secrets.replace({CallerSecrets::read("kube-scheduler", kKubeSecret).value()});
  }
  inline static CallerSecrets secrets;
};

TEST_F(WithChangingSecrets, ASecretThatIsRemovedWhileTheBodyArrivesOpensNothing) {
  http::RawSocket raw(port_);
  raw.send("POST /callers/" + kKubeSecret +
           "/kube/filter HTTP/1.1\r\nHost: x\r\n"
           "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(http::status_of(raw.read_reply()), "HTTP/1.1 100") << "the head was accepted";
  post_and_wait(loop_, [&] { secrets.replace({}); });
  raw.send("{}");
  EXPECT_EQ(http::status_of(raw.read_reply()), "HTTP/1.1 401");
}

// The body is announced and never sent.
TEST_F(OffLoopback, ACallerIsRefusedBeforeItsBodyIsRead) {
  for (const char* path : {"/kube/filter", "/callers/x/kube/filter"}) {
    http::RawSocket raw(port_);
    raw.send(std::string("POST ") + path +
             " HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n");
    EXPECT_EQ(http::status_of(raw.read_reply()), "HTTP/1.1 401") << path;
  }
}

TEST_F(OffLoopback, NoSecretShowsInAnAnswerAMetricOrTheLog) {
  const std::string wrong(48, 'q');
  std::string seen;
  ::testing::internal::CaptureStderr();
  for (const std::string& secret : {kKubeSecret, wrong}) {
    for (const std::string path :
         {"/kube/filter", "/kube/nothing", "/kube", "", "/volcano/predicate", "/api/v1/explain/a/b",
          "/metrics", "/callers/x/kube/bind"}) {
      for (const char* method : {"POST", "GET", "DELETE"})
        seen += call(method, "/callers/" + secret + path, method[0] == 'P' ? "{" : "").body;
    }
  }
  seen += call("GET", "/metrics").body;
  seen += call("GET", "/api/v1/pods").body;
  seen += ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(seen, HasSubstr("refused a caller"));
  EXPECT_THAT(seen, HasSubstr("path=/kube/filter"));
  EXPECT_THAT(seen, HasSubstr("from=127.0.0.1"));
  EXPECT_THAT(seen, HasSubstr("caller=kube-scheduler reason=\"the secret is another caller's"));
  EXPECT_THAT(seen, HasSubstr("chipweave_refused_callers_total{reason=\"unknown_secret\"} 24"));
  EXPECT_THAT(seen, HasSubstr("chipweave_refused_callers_total{reason=\"wrong_path\"} 3"));
  EXPECT_THAT(seen, Not(HasSubstr(kKubeSecret)));
  EXPECT_THAT(seen, Not(HasSubstr(wrong)));
}

// The certificates of a server that asks its clients for theirs.
struct CallerCertificates {
  const chipweave::test::Pem ca = chipweave::test::make_authority("CA");
  const chipweave::test::Pem own = chipweave::test::make_certificate(ca, "IP:127.0.0.1");
  const chipweave::test::Pem scheduler =
      chipweave::test::make_certificate(ca, "DNS:kube-scheduler");
  const chipweave::test::Pem other =
      chipweave::test::make_certificate(ca, "DNS:node-7,URI:spiffe://kube-scheduler");

  http::ServerOptions server() const {
    http::ServerOptions out;
    out.tls = http::TlsContext::make({own.certificate, own.key, ca.certificate}).value();
    return out;
  }
};

struct OverTls : CallerCertificates, SchedHttp {
  OverTls()
      : SchedHttp({false, true, {"kube-scheduler"}, &known_secrets()},
                  CallerCertificates::server()) {}
  std::string status(const chipweave::test::Pem* certificate, const std::string& request) {
    http::TlsWish wish;
    wish.ca = ca.certificate;
    if (certificate != nullptr) wish.own = *certificate;
    http::TlsSocket socket(port_, wish);
    socket.send(request);
    return http::status_of(socket.read_reply());
  }
};

TEST_F(OverTls, ACertificateWithAListedNameOrASecretOpensADecisionRoute) {
  const std::string filter = posted("/kube/filter");
  EXPECT_EQ(status(nullptr, filter), "HTTP/1.1 401");
  EXPECT_EQ(status(&other, filter), "HTTP/1.1 401");
  EXPECT_EQ(status(&scheduler, filter), "HTTP/1.1 200");
  EXPECT_EQ(status(nullptr, posted("/callers/" + kKubeSecret + "/kube/filter")), "HTTP/1.1 200");
  EXPECT_EQ(status(&other, posted("/callers/" + kKubeSecret + "/kube/filter")), "HTTP/1.1 200");
  EXPECT_EQ(status(&scheduler, posted("/callers/" + kVolcanoSecret + "x/kube/filter")),
            "HTTP/1.1 401")
      << "a wrong secret is refused whatever else is shown";
  const std::string get = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(status(nullptr, get), "HTTP/1.1 401");
  EXPECT_EQ(status(&other, get), "HTTP/1.1 200") << "readers need any certificate of the CA";
  EXPECT_EQ(status(nullptr, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 200");
}

TEST_F(OverTls, ACertificateOfAnotherCaShowsInTheLogAndTheMetric) {
  const chipweave::test::Pem stranger = chipweave::test::make_certificate(
      chipweave::test::make_authority("another CA"), "DNS:kube-scheduler");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(status(&stranger, posted("/kube/filter")), "");
  http::TlsWish wish;
  wish.ca = ca.certificate;
  wish.own = scheduler;
  http::TlsSocket socket(port_, wish);
  socket.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.read_reply(),
              HasSubstr("chipweave_refused_callers_total{reason=\"untrusted_certificate\"} 1"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("path=other from=127.0.0.1 caller=unknown reason=\"tls-client-ca has not"));
}

// "localhost" may be any address; what counts is the one that the server listens on.
struct OnAllAddresses : SchedHttp {
  OnAllAddresses() : SchedHttp({}, on_all()) {}
  static http::ServerOptions on_all() {
    http::ServerOptions out;
    out.host = "0.0.0.0";
    return out;
  }
};

TEST_F(OnAllAddresses, NobodyDecidesWithoutAProof) {
  EXPECT_EQ(call("POST", "/kube/filter", "{}").status, 401);
  EXPECT_EQ(call("GET", "/version").status, 200);
}

TEST_F(OffLoopback, ProbesTakeNoBody) {
  for (const char* path : {"/healthz", "/readyz", "/readyz/standby"}) {
    for (const char* framing :
         {"Content-Length: 1\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1\r\n"}) {
      http::RawSocket raw(port_);
      raw.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n" + framing);
      EXPECT_EQ(http::status_of(raw.read_to_close()), "HTTP/1.1 413") << path << framing;
    }
  }
}

}  // namespace
}  // namespace chipweave::sched
