// The driver's sockets, called as the kubelet calls them.
#include "node-agent/dra/server/plugin_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/rpc/channel.hpp"
#include "kubelet/dra.grpc.pb.h"
#include "kubelet/dra_health.grpc.pb.h"
#include "kubelet/plugin_registration.grpc.pb.h"
#include "tests/unit/agent_dra/machine.hpp"
#include "tests/unit/loop_thread.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent::dra {
namespace {

namespace pb = ::k8s::io::kubelet::pkg::apis::dra::v1;
using testing::ElementsAre;
using testing::HasSubstr;

void set_deadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
}

class PluginServerTest : public testing::Test {
 protected:
  PluginServerTest() { make(); }
  ~PluginServerTest() override {
    post_and_wait(thread_.loop, [this] { server_.reset(); });
  }
  void make() {
    PluginServer::Events events;
    events.prepare = [this](const std::vector<ClaimRef>& claims,
                            std::function<void(PreparedAnswer)> done) {
      if (hold_) return held_.add(std::move(done));
      PreparedAnswer answer;
      for (const ClaimRef& each : claims) {
        if (each.name == "bad") {
          answer.insert_or_assign(each.uid, make_error(Errc::conflict, "it is taken"));
        } else {
          answer.insert_or_assign(
              each.uid, std::vector<GivenDevice>{{"a", kNode, "gpu-3", {"kind=" + each.uid}}});
        }
      }
      done(std::move(answer));
    };
    events.unprepare = [](const std::vector<ClaimRef>& claims) {
      EndedAnswer answer;
      for (const ClaimRef& each : claims)
        answer.insert_or_assign(
            each.uid, each.name == "bad" ? Result<void>(make_error(Errc::unavailable, "disk full"))
                                         : Result<void>());
      return answer;
    };
    events.registered = [this](const std::string& problem) { registered_.add(problem); };
    server_ = std::make_unique<PluginServer>(
        thread_.loop, PluginServer::Options{kDriver, kNode, folder_.path()}, std::move(events));
  }
  std::string start() {
    std::string out;
    post_and_wait(thread_.loop, [&] {
      const auto ok = server_->start();
      out = ok ? "started" : ok.error().text();
    });
    return out;
  }
  void stop() {
    post_and_wait(thread_.loop, [this] { server_->stop(); });
  }
  bool in_place() {
    bool out = false;
    post_and_wait(thread_.loop, [&] { out = server_->in_place(); });
    return out;
  }
  // As the kubelet does: the endpoint is in the plugin's information.
  ::pluginregistration::PluginInfo info() {
    auto stub = ::pluginregistration::Registration::NewStub(
        rpc::make_socket_channel(server_->registration_socket(), 1 << 20));
    grpc::ClientContext context;
    set_deadline(context);
    ::pluginregistration::PluginInfo out;
    const auto status = stub->GetInfo(&context, {}, &out);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return out;
  }
  std::unique_ptr<pb::DRAPlugin::Stub> driver() {
    return pb::DRAPlugin::NewStub(rpc::make_socket_channel(info().endpoint(), 1 << 20));
  }

  io::TempFolder folder_;
  bool hold_ = false;
  Journal<std::function<void(PreparedAnswer)>> held_;
  Journal<std::string> registered_;
  LoopThread thread_;
  std::unique_ptr<PluginServer> server_;
};

pb::Claim* add_claim(auto& request, const std::string& name, const std::string& uid) {
  pb::Claim* claim = request.add_claims();
  claim->set_namespace_("team");
  claim->set_name(name);
  claim->set_uid(uid);
  return claim;
}

TEST_F(PluginServerTest, RegistersPreparesAndEnds) {
  ASSERT_EQ(start(), "started");
  const auto plugin = info();
  EXPECT_EQ(plugin.type(), "DRAPlugin");
  EXPECT_EQ(plugin.name(), kDriver);
  EXPECT_EQ(plugin.endpoint(), folder_.path() + "/plugins/gpu.chipweave.dev/dra.sock");
  EXPECT_THAT(plugin.supported_versions(), ElementsAre("v1.DRAPlugin"));
  EXPECT_TRUE(
      std::filesystem::exists(folder_.path() + "/plugins_registry/gpu.chipweave.dev-reg.sock"));
  const auto stub = driver();
  grpc::ClientContext context;
  set_deadline(context);
  pb::NodePrepareResourcesRequest request;
  add_claim(request, "good", "u1");
  add_claim(request, "bad", "u2");
  pb::NodePrepareResourcesResponse answer;
  ASSERT_TRUE(stub->NodePrepareResources(&context, request, &answer).ok());
  ASSERT_EQ(answer.claims_size(), 2);
  const pb::Device& device = answer.claims().at("u1").devices(0);
  EXPECT_THAT(device.request_names(), ElementsAre("a"));
  EXPECT_EQ(device.pool_name() + "/" + device.device_name(), "n1/gpu-3");
  EXPECT_THAT(device.cdi_device_ids(), ElementsAre("kind=u1"));
  EXPECT_EQ(answer.claims().at("u1").error(), "");
  EXPECT_THAT(answer.claims().at("u2").error(), HasSubstr("it is taken"));
  grpc::ClientContext second;
  set_deadline(second);
  pb::NodeUnprepareResourcesRequest end;
  add_claim(end, "good", "u1");
  add_claim(end, "bad", "u2");
  pb::NodeUnprepareResourcesResponse ended;
  ASSERT_TRUE(stub->NodeUnprepareResources(&second, end, &ended).ok());
  EXPECT_EQ(ended.claims().at("u1").error(), "");
  EXPECT_THAT(ended.claims().at("u2").error(), HasSubstr("disk full"));
}

TEST_F(PluginServerTest, HearsWhatTheKubeletMakesOfIt) {
  ASSERT_EQ(start(), "started");
  auto stub = ::pluginregistration::Registration::NewStub(
      rpc::make_socket_channel(server_->registration_socket(), 1 << 20));
  for (const bool yes : {true, false}) {
    grpc::ClientContext context;
    set_deadline(context);
    ::pluginregistration::RegistrationStatus status;
    status.set_plugin_registered(yes);
    if (!yes) status.set_error("no such version");
    ::pluginregistration::RegistrationStatusResponse answer;
    ASSERT_TRUE(stub->NotifyRegistrationStatus(&context, status, &answer).ok());
  }
  EXPECT_EQ(registered_.at(0), "");
  EXPECT_EQ(registered_.at(1), "no such version");
}

TEST_F(PluginServerTest, SocketsAreForTheOwnerOnly) {
  ASSERT_EQ(start(), "started");
  for (const std::string& path : {server_->driver_socket(), server_->registration_socket()}) {
    struct stat found {};
    ASSERT_EQ(::lstat(path.c_str(), &found), 0) << path;
    EXPECT_TRUE(S_ISSOCK(found.st_mode));
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
  }
}

// A socket that a killed process has left: no process listens on it.
void leave_socket(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(fd);
}

TEST_F(PluginServerTest, ReplacesSocketsOfTheDeadAndNotOfTheLiving) {
  leave_socket(server_->driver_socket());
  leave_socket(server_->registration_socket());
  ASSERT_EQ(start(), "started");
  EXPECT_EQ(info().name(), kDriver);
  PluginServer other(thread_.loop, {kDriver, kNode, folder_.path()}, {});
  post_and_wait(thread_.loop, [&] {
    const auto ok = other.start();
    ASSERT_FALSE(ok.ok());
    EXPECT_EQ(ok.error().code, Errc::conflict);
  });
  EXPECT_EQ(info().name(), kDriver);
  EXPECT_TRUE(in_place());
}

TEST_F(PluginServerTest, NoticesThatASocketIsGone) {
  EXPECT_FALSE(in_place());
  ASSERT_EQ(start(), "started");
  EXPECT_TRUE(in_place());
  std::filesystem::remove(server_->registration_socket());
  EXPECT_FALSE(in_place());
  stop();
  ASSERT_EQ(start(), "started");
  EXPECT_TRUE(in_place());
  EXPECT_EQ(info().name(), kDriver);
}

TEST_F(PluginServerTest, APathThatIsTooLongIsRefused) {
  PluginServer other(thread_.loop, {kDriver, kNode, folder_.path() + "/" + std::string(100, 'x')},
                     {});
  post_and_wait(thread_.loop, [&] {
    const auto ok = other.start();
    ASSERT_FALSE(ok.ok());
    EXPECT_EQ(ok.error().code, Errc::invalid_argument);
  });
}

TEST_F(PluginServerTest, TooManyClaimsAreRefused) {
  ASSERT_EQ(start(), "started");
  pb::NodePrepareResourcesRequest request;
  for (std::size_t i = 0; i <= kMaxClaimRefs; ++i) add_claim(request, "c", "u" + std::to_string(i));
  grpc::ClientContext context;
  set_deadline(context);
  pb::NodePrepareResourcesResponse answer;
  EXPECT_EQ(driver()->NodePrepareResources(&context, request, &answer).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(PluginServerTest, ItsEndEndsOpenCalls) {
  hold_ = true;
  ASSERT_EQ(start(), "started");
  const auto stub = driver();
  std::thread caller([&] {
    pb::NodePrepareResourcesRequest request;
    add_claim(request, "c", "u1");
    grpc::ClientContext context;
    set_deadline(context);
    pb::NodePrepareResourcesResponse answer;
    EXPECT_EQ(stub->NodePrepareResources(&context, request, &answer).error_code(),
              grpc::StatusCode::UNAVAILABLE);
  });
  const auto late = held_.at(0);
  ASSERT_TRUE(late);
  stop();
  caller.join();
  post_and_wait(thread_.loop, [&] { (*late)(PreparedAnswer()); });  // is ignored
}

TEST_F(PluginServerTest, StreamsTheHealthOfAllDevices) {
  ASSERT_EQ(start(), "started");
  post_and_wait(thread_.loop, [&] {
    server_->health({{"gpu-0", true, ""}, {"gpu-1", false, "xid.79"}});
  });
  auto stub = ::v1alpha1::DRAResourceHealth::NewStub(
      rpc::make_socket_channel(server_->driver_socket(), 1 << 20));
  grpc::ClientContext context;
  set_deadline(context);
  const auto stream = stub->NodeWatchResources(&context, {});
  ::v1alpha1::NodeWatchResourcesResponse list;
  ASSERT_TRUE(stream->Read(&list));
  ASSERT_EQ(list.devices_size(), 2);
  EXPECT_EQ(list.devices(0).device().pool_name() + "/" + list.devices(0).device().device_name(),
            "n1/gpu-0");
  EXPECT_EQ(list.devices(0).health(), ::v1alpha1::HEALTHY);
  EXPECT_EQ(list.devices(1).health(), ::v1alpha1::UNHEALTHY);
  EXPECT_EQ(list.devices(1).message(), "xid.79");
  EXPECT_GT(list.devices(1).last_updated_time(), 0);
  post_and_wait(thread_.loop, [&] { server_->health({{"gpu-0", false, "gone"}}); });
  ASSERT_TRUE(stream->Read(&list));
  EXPECT_EQ(list.devices(0).health(), ::v1alpha1::UNHEALTHY);
  stop();
  EXPECT_FALSE(stream->Read(&list));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace chipweave::agent::dra
