// VolcanoExtenderHandler — the verbs of Volcano's extender plugin over HTTP: reads the body, calls
// the decision core, writes the reply.
//
// All verbs are speculative; only allocate and deallocate change anything. Verbs about queues, jobs
// and sessions are answered "no opinion" without reading the body. Owner: the loop thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/requests/volcano.hpp"
#include "common/http/server.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"

namespace chipweave::sched {

class VolcanoExtenderHandler {
 public:
  // weight: scales scores to 0..100*weight points of Volcano's node order, like the weights of its
  // own plugins.
  VolcanoExtenderHandler(Scheduler& scheduler, const ResourceTable& resources, int weight)
      : scheduler_(scheduler), resources_(resources), weight_(weight) {}

  // Malformed requests: 400, which Volcano treats as an extender error.
  http::Response predicate(std::string& body);
  http::Response prioritize(std::string& body);
  http::Response allocate(std::string& body);
  http::Response deallocate(std::string& body);
  // preemptable, reclaimable: which of the evictees must end for the evictor to fit there.
  http::Response choose_victims(std::string& body);
  // onSessionOpen, onSessionClose: Volcano keeps the connection only if the reply is empty.
  static http::Response session_hook();
  static http::Response no_opinion(std::string_view reply);

 private:
  // Whether the cluster holds the pod, so that its request is known.
  bool known(const codec::VolcanoTask& task) const;
  CountedRequest request_of(const codec::VolcanoTask& task) const;
  bool can_wait_for_room(const PodRequest& pod) const;

  Scheduler& scheduler_;
  const ResourceTable& resources_;
  int weight_;
  codec::VolcanoReader reader_;
  codec::VolcanoTask task_;
  codec::VolcanoNode node_;
  std::vector<std::string_view> nodes_;
  std::vector<codec::VolcanoEvictee> evictees_;
};

}  // namespace chipweave::sched
