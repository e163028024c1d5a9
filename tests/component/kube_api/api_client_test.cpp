// The whole client over TLS: changing credentials, an interrupted watch, a copy that stays correct.
#include "common/kube/api_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>

#include "common/kube/reflector.hpp"
#include "tests/component/kube_api/on_loop.hpp"
#include "tests/component/kube_api/scripted_server.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using kube::ApiAccess;
using kube::ApiClient;
using test::Pem;
using test::ScriptedServer;
using Talk = ScriptedServer::Talk;

class Api : public test::OnLoop {
 protected:
  ~Api() override {
    post_and_wait(loop_, [this] {
      ticket_.reset();
      reflector_.reset();
      client_.reset();
    });
  }
  void use(ApiAccess access) {
    post_and_wait(loop_, [&] {
      auto made = ApiClient::make(loop_, std::move(access), "test/1");
      if (!made) throw std::runtime_error(made.error().text());
      client_ = std::move(*made);
    });
  }
  ApiAccess access_to(const ScriptedServer& server) const {
    ApiAccess access;
    access.origin.host = "127.0.0.1";
    access.origin.port = std::to_string(server.port());
    access.origin.pem.ca = authority_.certificate;
    return access;
  }
  int status_of(const std::string& target) {
    std::promise<int> promise;
    auto future = promise.get_future();
    loop_.post([&] {
      kube::Call call;
      call.target = target;
      ticket_ = client_->call(std::move(call), [&promise](const Result<kube::Reply>& reply) {
        promise.set_value(reply ? reply->status : -1);
      });
    });
    return got(std::move(future));
  }

  Pem authority_ = test::make_authority("cluster");
  Pem certificate_ = test::make_certificate(authority_, "IP:127.0.0.1");
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<kube::Ticket> ticket_;
  std::unique_ptr<kube::Reflector<codec::KubePod>> reflector_;
};

// 200 for the token that the server currently accepts.
ScriptedServer::Script guard(std::atomic<int>& valid) {
  return [&valid](Talk& talk) {
    while (const auto request = talk.request()) {
      const bool good = request->find("Authorization: Bearer t" + std::to_string(valid) + "\r\n") !=
                        std::string::npos;
      talk.reply(good ? 200 : 401, "{}");
    }
  };
}

TEST_F(Api, ATokenIsReadAgainAfterARefusal) {
  std::atomic<int> valid{1};
  const io::TempFolder folder;
  const ScriptedServer server(certificate_, guard(valid));
  ApiAccess access = access_to(server);
  access.token_file = folder.put("token", "t1\n");
  use(access);
  EXPECT_EQ(status_of("/api"), 200);
  valid = 2;
  folder.put("token", "t2\n");
  EXPECT_EQ(status_of("/api"), 401);
  EXPECT_EQ(status_of("/api"), 200);
  std::filesystem::remove(access.token_file);
  EXPECT_EQ(status_of("/api"), 200) << "the known one still works";
}

// Each request on a connection of its own.
void answer_one(Talk& talk) {
  if (talk.request()) talk.reply(200, "{}", "Connection: close\r\n");
}

TEST_F(Api, TheAuthorityIsReadAgainWhenItChanges) {
  const io::TempFolder folder;
  ScriptedServer server(certificate_, answer_one);
  ApiAccess access = access_to(server);
  access.files.ca = folder.put("ca.crt", authority_.certificate);
  use(access);
  EXPECT_EQ(status_of("/api"), 200);
  const Pem next = test::make_authority("next");
  server.use(test::make_certificate(next, "IP:127.0.0.1"));
  EXPECT_EQ(status_of("/api"), -1) << "nobody else may say that it is the API server";
  EXPECT_EQ(status_of("/api"), -1);
  folder.put("ca.crt", next.certificate);
  EXPECT_EQ(status_of("/api"), 200);

  testing::internal::CaptureStderr();
  const Pem last = test::make_authority("last");
  server.use(test::make_certificate(last, "IP:127.0.0.1"));
  folder.put("ca.crt", last.certificate.substr(0, last.certificate.size() / 2));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status_of("/api"), -1);
  folder.put("ca.crt", last.certificate);
  EXPECT_EQ(status_of("/api"), 200);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("cannot use the TLS files"), std::string::npos) << log;
  EXPECT_EQ(log.find("cannot use the TLS files"), log.rfind("cannot use the TLS files")) << log;
}

TEST_F(Api, AKubeconfigLeadsToItsServer) {
  std::atomic<int> valid{7};
  const io::TempFolder folder;
  const ScriptedServer server(certificate_, guard(valid));
  folder.put("ca.crt", authority_.certificate);
  const std::string path = folder.put(
      "config",
      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\n"
      "clusters: [{name: k, cluster: {server: 'https://127.0.0.1:" +
          std::to_string(server.port()) +
          "/base', certificate-authority: ca.crt}}]\nusers: [{name: u, user: {token: t7}}]\n");
  const auto access = kube::load_access({path, ""}, kube::process_environment());
  ASSERT_TRUE(access.ok()) << access.error().text();
  EXPECT_EQ(access->prefix, "/base");
  EXPECT_EQ(access->ns, "n");
  EXPECT_EQ(access->files.ca, folder.at("ca.crt"));
  EXPECT_EQ(access->files.certificate, "");
  use(*access);
  EXPECT_EQ(status_of("/api"), 200);
}

TEST_F(Api, TheServerReceivesTheAcceptedMediaTypes) {
  const ScriptedServer server(certificate_, [](Talk& talk) {
    while (const auto request = talk.request()) {
      const std::size_t at = request->find("\r\nAccept: ") + 10;
      talk.reply(200, request->substr(at, request->find("\r\n", at) - at));
    }
  });
  use(access_to(server));
  const auto accepted_by_call = [&](kube::Call call) {
    std::promise<std::string> promise;
    auto future = promise.get_future();
    loop_.post([&] {
      ticket_ = client_->call(std::move(call), [&promise](const Result<kube::Reply>& reply) {
        promise.set_value(reply ? reply->body : reply.error().text());
      });
    });
    return got(std::move(future));
  };
  kube::Call call = kube::call_of("GET", "/api/v1/nodes", "");
  EXPECT_EQ(accepted_by_call(call), "application/json");
  call.accept = "application/json;as=Table";
  EXPECT_EQ(accepted_by_call(call), "application/json;as=Table");

  std::promise<std::string> promise;
  auto future = promise.get_future();
  std::string received;
  loop_.post([&] {
    kube::StreamSink sink;
    sink.refused = [&](const kube::Reply& reply) { promise.set_value(reply.body); };
    sink.bytes = [&](std::string_view bytes) { received += bytes; };
    sink.ended = [&](const Result<void>&) { promise.set_value(received); };
    ticket_ = client_->stream({"/api/v1/nodes?watch=1", "text/plain", std::chrono::seconds(5)},
                              std::move(sink));
  });
  EXPECT_EQ(got(std::move(future)), "text/plain");
}

TEST(Access, OfAPodAndWhatIsMissing) {
  const io::TempFolder folder;
  std::map<std::string, std::string> variables;
  const kube::Environment environment = [&](const char* name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
  const auto load = [&] { return kube::load_access({}, environment, folder.path()); };
  EXPECT_NE(load().error().text().find("a kubeconfig is required"), std::string::npos);
  variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  EXPECT_NE(load().error().text().find("ca.crt"), std::string::npos) << load().error().text();
  folder.put("ca.crt", "PEM");
  folder.put("namespace", "team");
  const auto access = load();
  ASSERT_TRUE(access.ok()) << access.error().text();
  EXPECT_EQ(access->origin.host, "fd00::1");
  EXPECT_EQ(access->ns, "team");
  EXPECT_EQ(access->token_file, folder.path() + "/token");
  EXPECT_EQ(access->files.ca, folder.path() + "/ca.crt");
  for (const char* server : {"https://", "https://:443", "https://h:", "https://h:x",
                             "https://[::1", "https://[::1]443"}) {
    const std::string path = folder.put(
        "bad", std::string("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n") +
                   "clusters: [{name: k, cluster: {server: '" + server + "'}}]\n");
    EXPECT_FALSE(kube::load_access({path, ""}, environment).ok()) << server;
  }
}

std::string pod_event(const char* type, const std::string& name, int version) {
  return std::string(R"({"type":")") + type +
         R"(","object":{"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" + name +
         R"(","resourceVersion":")" + std::to_string(version) + R"("}}})" + "\n";
}

// A server that streams lists, cuts its first watch in the middle of an event, and resumes from the
// requested version.
TEST_F(Api, ACopyStaysRightThroughACut) {
  const ScriptedServer server(certificate_, [](Talk& talk) {
    while (const auto request = talk.request()) {
      const std::string line = request->substr(0, request->find("\r\n"));
      talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      if (line.find("sendInitialEvents=true") != std::string::npos) {
        talk.chunk(pod_event("ADDED", "a", 1) + pod_event("ADDED", "b", 2));
        talk.chunk(
            R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"3","annotations":)"
            R"({"k8s.io/initial-events-end":"true"}}}})"
            "\n");
        const std::string next = pod_event("ADDED", "c", 4);
        talk.chunk(next.substr(0, next.size() / 2));
        return talk.reset();
      }
      if (line.find("resourceVersion=3&") == std::string::npos &&
          line.find("resourceVersion=3 ") == std::string::npos) {
        return talk.reset();
      }
      talk.chunk(pod_event("ADDED", "c", 4));
      talk.chunk(pod_event("DELETED", "a", 5));
      talk.wait_for_end();
    }
  });
  ApiAccess access = access_to(server);
  access.token = "t";
  use(access);
  std::promise<std::string> done;
  auto future = done.get_future();
  std::map<std::string, std::string> pods;
  loop_.post([&] {
    kube::Reflector<codec::KubePod>::Options options;
    options.path = "/api/v1/pods";
    options.list_watch.first_wait = std::chrono::milliseconds(10);
    reflector_ = std::make_unique<kube::Reflector<codec::KubePod>>(
        *client_, options,
        kube::Reflector<codec::KubePod>::Events{
            {[&](codec::KubePod&& pod) { pods[pod.name] = pod.resource_version; },
             [&](const std::string& key) {
               pods.erase(key.substr(key.find('/') + 1));
               std::string names;
               for (const auto& [name, version] : pods) names += name + version;
               done.set_value(names);
             }},
            [] {},
            [](const kube::WatchFailure&) {}},
        [] { return 1.0; });
    reflector_->start();
  });
  EXPECT_EQ(got(std::move(future)), "b2c4");
}

std::string node_event(const char* type, int version, const std::string& allocatable) {
  return std::string(R"({"type":")") + type +
         R"(","object":{"metadata":{"name":"n1","uid":"u","resourceVersion":")" +
         std::to_string(version) + R"("},"status":{"images":[{"names":["i"]}],"allocatable":{)" +
         allocatable + "}}}}\n";
}

TEST_F(Api, NodesComeWholeWithWhatTheyHaveForPods) {
  std::atomic<bool> whole{true};
  const ScriptedServer server(certificate_, [&](Talk& talk) {
    const auto request = talk.request();
    if (!request) return;
    if (request->find("\r\nAccept: application/json\r\n") == std::string::npos) whole = false;
    talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    talk.chunk(node_event("ADDED", 1, R"("cpu":"95500m","memory":"1Ti")"));
    talk.chunk(node_event("MODIFIED", 2, R"("cpu":"64","memory":"1Ti")"));
    talk.wait_for_end();
  });
  ApiAccess access = access_to(server);
  access.token = "t";
  use(access);
  std::promise<std::string> done;
  auto future = done.get_future();
  std::string seen;
  std::unique_ptr<kube::Reflector<codec::KubeNode>> nodes;
  loop_.post([&] {
    kube::Reflector<codec::KubeNode>::Options options;
    options.path = "/api/v1/nodes";
    nodes = std::make_unique<kube::Reflector<codec::KubeNode>>(
        *client_, options,
        kube::Reflector<codec::KubeNode>::Events{{[&](codec::KubeNode&& node) {
                                                    seen += node.cpu + " " + node.memory + "; ";
                                                    if (node.resource_version == "2")
                                                      done.set_value(seen);
                                                  },
                                                  [](const std::string&) {}},
                                                 [] {},
                                                 [](const kube::WatchFailure&) {}},
        [] { return 1.0; });
    nodes->start();
  });
  EXPECT_EQ(got(std::move(future)), "95500m 1Ti; 64 1Ti; ");
  EXPECT_TRUE(whole);
  std::promise<std::string> ended;
  auto end = ended.get_future();
  loop_.post([&] {
    nodes.reset();
    ended.set_value("");
  });
  got(std::move(end));
}

}  // namespace
}  // namespace chipweave
