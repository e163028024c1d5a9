// FakeKubelet — the PodResources service of a kubelet on a Unix socket; its answers are set by the
// test.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/server.h>
#include <grpcpp/server_context.h>

#include "kubelet/pod_resources.grpc.pb.h"

namespace chipweave::agent {

using PodList = ::v1::ListPodResourcesResponse;

// Adds a pod with one container, in the form of kubelets of 1.36: one entry per device.
void add_pod(PodList& list, const std::string& name, const std::string& resource,
             const std::vector<std::string>& ids);

class FakeKubelet final : public ::v1::PodResourcesLister::Service {
 public:
  explicit FakeKubelet(std::string socket) : socket_(std::move(socket)) { start(); }
  ~FakeKubelet() override { stop(); }
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  // stop() and start() are a restart of the kubelet: the socket vanishes and comes back.
  void start();
  void stop();
  bool runs() const { return server_ != nullptr; }

  void set_list(PodList list);
  void refuse(grpc::Status status);
  // While true, calls wait until they are cancelled.
  void set_hanging(bool yes);
  int calls();

  grpc::Status List(grpc::ServerContext* context, const ::v1::ListPodResourcesRequest* request,
                    PodList* answer) override;

 private:
  std::string socket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  PodList list_;
  grpc::Status status_;
  bool hanging_ = false;
  int calls_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace chipweave::agent
