// kubectl chipweave: the scheduler through the API server's proxy of its Service, with the user's
// kubeconfig.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/component/kube_api/certificates.hpp"
#include "tests/component/kube_api/scripted_server.hpp"
#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kNotFound = 4;
const std::string kSecret(48, 's');
const std::string kProxy =
    "/api/v1/namespaces/chipweave-system/services/https:chipweave-scheduler-read:8443/proxy";
const std::string kServices =
    "/api/v1/services?labelSelector=chipweave.dev%2Fservice%3Dread&limit=100";
const std::string kCallers = "/api/v1/namespaces/chipweave-system/secrets/chipweave-callers";

std::string service(const std::string& ns, const std::string& name) {
  return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name +
         R"("},"spec":{"ports":[{"name":"webhook","port":8443,"appProtocol":"https"},{"name":"grpc","port":8081}]}})";
}

std::string status(int code, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
         R"(","code":)" + std::to_string(code) + "}";
}

struct Answer {
  int status = 200;
  std::string body;
};

// A fake API server, in the folder a kubeconfig for it, and what is requested for.
struct KubectlPlugin : ::testing::Test {
  const test::Pem ca = test::make_authority("cluster");
  const test::Pem other_ca = test::make_authority("other");
  io::TempFolder folder;
  std::map<std::string, Answer> answers = {
      {kServices,
       {200, R"({"items":[)" + service("chipweave-system", "chipweave-scheduler-read") + "]}"}},
      // 48 times "s"
      {kCallers,
       {200, R"({"data":{"reader":")" +
                 [] {
                   std::string text;
                   for (int i = 0; i < 16; ++i) text += "c3Nz";
                   return text;
                 }() +
                 R"("}})"}},
      {kProxy + "/callers/" + kSecret + "/api/v1/explain/team/train-0",
       {200, R"({"pod":"team/train-0","state":"bound"})"}},
      {kProxy + "/callers/" + kSecret + "/api/v1/explain/default/train-0",
       {200, R"({"pod":"default/train-0"})"}},
      {kProxy + "/callers/" + kSecret + "/api/v1/nodes?limit=2000", {200, R"({"items":[]})"}},
  };
  std::mutex mutex;
  std::vector<std::string> requests;  // whole heads
  test::ScriptedServer server{test::make_certificate(ca, "IP:127.0.0.1"),
                              [this](test::ScriptedServer::Talk& talk) {
                                while (const auto request = talk.request()) {
                                  const Answer answer = answer_to(*request);
                                  if (!talk.reply(answer.status, answer.body)) return;
                                }
                              }};

  Answer answer_to(const std::string& request) {
    const std::scoped_lock lock(mutex);
    requests.push_back(request);
    const std::size_t begin = request.find(' ') + 1;
    const std::string target = request.substr(begin, request.find(' ', begin) - begin);
    const auto known = answers.find(target);
    return known == answers.end()
               ? Answer{404, status(404, "the server could not find the requested resource")}
               : known->second;
  }

  void SetUp() override { put_config("config", "token: user-token"); }

  void put_config(const std::string& file, const std::string& user,
                  const std::string& authority = "") {
    folder.put("ca.crt", authority.empty() ? ca.certificate : authority);
    folder.put(file,
               "apiVersion: v1\nkind: Config\ncurrent-context: work\n"
               "clusters:\n- name: c\n  cluster: {server: 'https://127.0.0.1:" +
                   std::to_string(server.port()) +
                   "', certificate-authority: ca.crt}\n"
                   "users:\n- name: u\n  user: {" +
                   user +
                   "}\n"
                   "contexts:\n- name: work\n  context: {cluster: c, user: u, namespace: team}\n"
                   "- name: plain\n  context: {cluster: c, user: u}\n");
  }

  // Standard error behind standard output.
  Outcome start(const std::string& line, const std::string& environment = "") {
    return run("cd " + folder.path() +
               " && timeout 30 env -i PATH=/usr/bin:/bin HOME=" + folder.path() +
               " KUBECONFIG=config " + environment + " %B/" + line + " 2>&1 </dev/null");
  }

  bool has_asked_for(const std::string& text) {
    const std::scoped_lock lock(mutex);
    return std::any_of(requests.begin(), requests.end(),
                       [&](const std::string& one) { return one.find(text) != std::string::npos; });
  }
};

TEST_F(KubectlPlugin, UsesTheUsersKubeconfigContextAndNamespace) {
  const Outcome out = start("kubectl-chipweave explain train-0");
  EXPECT_EQ(out.code, 0) << out.text;
  EXPECT_THAT(out.text, HasSubstr("team/train-0"));
  EXPECT_TRUE(has_asked_for("Authorization: Bearer user-token"));
  EXPECT_FALSE(has_asked_for("Bearer " + kSecret));
  EXPECT_THAT(start("kubectl-chipweave explain train-0 --context plain").text,
              HasSubstr("default/train-0"));
  EXPECT_THAT(start("kubectl-chipweave explain train-0 -n default").text,
              HasSubstr("default/train-0"));
  EXPECT_THAT(start("kubectl-chipweave explain team/train-0 --context plain -o json").text,
              HasSubstr(R"({"pod":"team/train-0","state":"bound"})"));
  EXPECT_THAT(start("kubectl-chipweave nodes").text, HasSubstr("NODE"));
}

TEST_F(KubectlPlugin, TheSameFlagsWorkWithoutKubectl) {
  EXPECT_THAT(start("chipweave explain train-0 --kubeconfig config").text,
              HasSubstr("team/train-0"));
  EXPECT_THAT(start("chipweave explain train-0 --context work").text, HasSubstr("team/train-0"));
  const Outcome named =
      start("chipweave nodes --scheduler-service chipweave-system/chipweave-scheduler-read");
  EXPECT_EQ(named.code, kUnreadable) << "the fake has no such object";
  EXPECT_THAT(named.text, HasSubstr("Service chipweave-system/chipweave-scheduler-read not found"));
  answers["/api/v1/namespaces/a/services/b-scheduler-read"] = {200,
                                                               service("a", "b-scheduler-read")};
  answers
      ["/api/v1/namespaces/a/services/https:b-scheduler-read:8443/proxy/api/v1/nodes?limit=2000"] =
          {200, R"({"items":[]})"};
  EXPECT_EQ(start("chipweave nodes --scheduler-service a/b-scheduler-read").code, 0)
      << "without a Secret";
}

TEST_F(KubectlPlugin, FlagsThatContradictEachOtherAreRefused) {
  EXPECT_EQ(start("chipweave nodes --scheduler 127.0.0.1:1 --kubeconfig config").code, kWrongUsage);
  EXPECT_EQ(start("chipweave nodes --scheduler-service scheduler").code, kWrongUsage);
  // The environment is for all commands, so what a command says itself counts more.
  EXPECT_EQ(start("chipweave nodes --context work", "CHIPWEAVE_SCHEDULER=http://127.0.0.1:1").code,
            0);
  EXPECT_EQ(start("kubectl-chipweave nodes", "CHIPWEAVE_SCHEDULER=http://127.0.0.1:1").code, 0);
  EXPECT_THAT(start("chipweave nodes", "CHIPWEAVE_SCHEDULER=http://127.0.0.1:1").text,
              HasSubstr("cannot connect"));
  EXPECT_THAT(start("kubectl-chipweave nodes --scheduler http://127.0.0.1:1").text,
              HasSubstr("cannot connect"));
}

TEST_F(KubectlPlugin, AnUnknownPodIsNotFoundWithTheOneThatIsMeant) {
  const std::string base = kProxy + "/callers/" + kSecret;
  answers[base + "/api/v1/explain/team/trian-0"] = {
      404, R"({"error":{"code":"not_found","message":"pod team/trian-0 is not known"}})"};
  answers[base + "/api/v1/pods?limit=2000"] = {
      200, R"({"items":[{"namespace":"team","name":"train-0"}]})"};
  const Outcome out = start("kubectl-chipweave explain trian-0");
  EXPECT_EQ(out.code, kNotFound);
  EXPECT_EQ(out.text,
            "chipweave: pod \"team/trian-0\" not found (did you mean \"team/train-0\"?)\n");
}

TEST_F(KubectlPlugin, AnotherAuthorityIsNotTrusted) {
  put_config("config", "token: user-token", other_ca.certificate);
  const Outcome out = start("kubectl-chipweave explain train-0");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text,
              AllOf(HasSubstr("API server https://127.0.0.1:"), HasSubstr("certificate")));
  EXPECT_FALSE(has_asked_for("Bearer")) << "the token went to a server that is not the cluster's";
}

TEST_F(KubectlPlugin, SaysWhatTheUserMayNotDo) {
  answers[kServices] = {403,
                        status(403, "services is forbidden: User u cannot list resource services")};
  const std::string one = "/api/v1/namespaces/chipweave-system/services/chipweave-scheduler-read";
  answers[one] = {403, status(403, "services is forbidden")};
  EXPECT_EQ(start("kubectl-chipweave explain train-0").code, 0)
      << "the chart's default name, and the proxy is allowed";
  answers[kProxy + "/callers/" + kSecret + "/api/v1/explain/team/train-0"] = {
      403, status(403, "User u cannot get resource services/proxy")};
  const Outcome out = start("kubectl-chipweave explain train-0");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text,
              AllOf(HasSubstr("the API server refuses: User u cannot get resource services/proxy"),
                    Not(HasSubstr(kSecret))));
  answers[kServices] = {401, status(401, "Unauthorized")};
  EXPECT_THAT(start("kubectl-chipweave explain train-0").text, HasSubstr("Unauthorized"));
}

TEST_F(KubectlPlugin, SaysThatThereIsNoSchedulerOrThatThereAreSeveral) {
  answers[kServices] = {200, R"({"items":[]})"};
  Outcome out = start("kubectl-chipweave nodes");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, HasSubstr("no scheduler found: no Service of the cluster has the label"));
  answers[kServices] = {200, R"({"items":[)" + service("a", "x") + "," + service("b", "y") + "]}"};
  out = start("kubectl-chipweave nodes");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, HasSubstr("choose one with --scheduler-service: a/x, b/y"));
}

TEST_F(KubectlPlugin, SaysThatNoReplicaIsReady) {
  answers[kProxy + "/callers/" + kSecret + "/api/v1/nodes?limit=2000"] = {
      503, status(503, "no endpoints available for service")};
  const Outcome out = start("kubectl-chipweave nodes");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, HasSubstr("the API server cannot reach it: no endpoints available"));
}

TEST_F(KubectlPlugin, WithoutTheRightToReadTheSecretItTakesOneFromAFile) {
  answers[kCallers] = {403, status(403, "secrets is forbidden")};
  answers[kProxy + "/api/v1/nodes?limit=2000"] = {
      401,
      R"({"error":{"code":"unauthenticated","message":"this path requires a client certificate"}})"};
  const Outcome out = start("kubectl-chipweave nodes");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, HasSubstr("requires the secret of a reader: give --token-file"));
  folder.put("reader", kSecret + "\n");
  EXPECT_EQ(start("kubectl-chipweave nodes --token-file reader").code, 0);
}

TEST_F(KubectlPlugin, KubeconfigsThatCannotBeUsedAreNamed) {
  put_config("exec", "exec: {command: aws}");
  Outcome out = start("kubectl-chipweave nodes --kubeconfig exec");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, AllOf(HasSubstr("file exec: "), HasSubstr("exec is not supported here")));
  out = start("kubectl-chipweave nodes --context nothing");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, HasSubstr("contexts has no entry named \"nothing\""));
  out = start("kubectl-chipweave nodes", "KUBECONFIG=");
  EXPECT_EQ(out.code, kUnreadable);
  EXPECT_THAT(out.text, HasSubstr("no kubeconfig: give --kubeconfig"));
  EXPECT_EQ(start("kubectl-chipweave nodes", "KUBECONFIG=missing:config").code, 0)
      << "the first that exists";
  EXPECT_THAT(start("kubectl-chipweave nodes", "KUBECONFIG=missing").text,
              HasSubstr("none of its files exists"));
  EXPECT_EQ(run("mkdir -p " + folder.path() + "/.kube && cp " + folder.path() + "/config " +
                folder.path() + "/ca.crt " + folder.path() + "/.kube")
                .code,
            0);
  EXPECT_EQ(start("kubectl-chipweave nodes", "KUBECONFIG=").code, 0) << "~/.kube/config";
}

TEST_F(KubectlPlugin, HelpAndErrorsHaveItsName) {
  EXPECT_THAT(start("kubectl-chipweave help explain").text,
              HasSubstr("Usage: kubectl chipweave explain"));
  EXPECT_THAT(start("kubectl-chipweave explain").text,
              HasSubstr("see 'kubectl chipweave explain --help'"));
  EXPECT_THAT(start("kubectl-chipweave __complete expl ''").text, HasSubstr(":4\n"));
}

TEST_F(KubectlPlugin, KubectlFindsItAndItsCompletion) {
  if (run("command -v kubectl >/dev/null").code != 0) GTEST_SKIP() << "kubectl is not installed";
  const std::string kubectl =
      "cd " + folder.path() +
      " && timeout 30 env -i PATH=%B:/usr/bin:/bin:/usr/local/bin HOME=" + folder.path() +
      " KUBECONFIG=config kubectl ";
  EXPECT_THAT(run(kubectl + "chipweave explain train-0 2>&1").text, HasSubstr("team/train-0"));
  EXPECT_EQ(run(kubectl + "chipweave explain train-9 >/dev/null 2>&1").code, kUnreadable);
  EXPECT_THAT(run(kubectl + "__complete chipweave expl 2>/dev/null").text,
              HasSubstr("explain\twhy a pod is"));
}

TEST(KrewManifest, NamesTheProgramOfTheArchiveAndItsChecksum) {
  const io::TempFolder folder;
  const std::string root = test::source_path("packaging/krew/build");
  ASSERT_EQ(run(root + " %B v1.2.3 https://example.com/v1.2.3 https://example.com " +
                folder.path() + " 2>&1")
                .code,
            0);
  const std::string manifest = run("cat " + folder.path() + "/chipweave.yaml").text;
  EXPECT_THAT(manifest, HasSubstr("apiVersion: krew.googlecontainertools.github.com/v1alpha2\n"));
  EXPECT_THAT(manifest, AllOf(HasSubstr("\n  version: v1.2.3\n"),
                              HasSubstr("\n    bin: kubectl-chipweave\n")));
  const std::string sum =
      run("cat " + folder.path() + "/kubectl-chipweave-linux-*.tar.gz | sha256sum")
          .text.substr(0, 64);
  EXPECT_THAT(manifest, HasSubstr("    sha256: " + sum + "\n"));
  EXPECT_THAT(
      run("cd " + folder.path() + " && tar xzf *.tar.gz && ./kubectl-chipweave --version").text,
      HasSubstr("chipweave "));
  EXPECT_EQ(run(root + " %B 1.2.3 u h " + folder.path() + " 2>&1").code, kWrongUsage);
}

}  // namespace
}  // namespace chipweave
