#include "bench/loop_hold_api.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/http_socket.hpp"

namespace chipweave::bench {
namespace {

constexpr std::size_t kChunk = 64U << 10U;
constexpr int kPageOfPods = 500;

// An API server adds it to every object; the scheduler skips it.
std::string managed_fields(const char* manager) {
  std::string out = R"({"manager":")" + std::string(manager) +
                    R"(","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z",)"
                    R"("fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{)";
  for (int i = 0; i < 14; ++i) {
    out += (i > 0 ? ",\"f:field-" : "\"f:field-") + std::to_string(i) +
           R"(":{"f:nested":{},"f:other":{"k:{\"name\":\"container\"}":{".":{}}}})";
  }
  return out + "}}}";
}

const std::string kManaged =
    "[" + managed_fields("kube-controller-manager") + "," + managed_fields("kubelet") + "]";

// What a kubelet renews: CPU and memory for pods, and 50 images.
std::string status_of_node() {
  std::string out =
      R"("allocatable":{"cpu":"128","memory":"1Ti","pods":"110","nvidia.com/gpu":"8"},)"
      R"("images":[)";
  const std::string digest(64, 'd');
  for (int i = 0; i < 50; ++i) {
    const std::string name = "registry.example.com/team/training-image-" + std::to_string(i);
    out += (i > 0 ? "," : "") + std::string(R"({"names":[")") + name + "@sha256:" + digest +
           R"(",")" + name + R"(:2026.01"],"sizeBytes":21474836480})";
  }
  return out + "]";
}

const std::string kStatusOfNode = status_of_node();

std::string limits_of(int chips) {
  return R"({"cpu":"4","memory":"16Gi","nvidia.com/gpu":")" + std::to_string(chips) + "\"}";
}

std::string placement_of_pod(const FakeCluster& c, int pod) {
  const std::string chip = std::to_string(c.chip_of(pod));
  return R"({\"v\":1,\"node\":\")" + node_name(c.node_of(pod)) + R"(\",\"podUid\":\")" +
         pod_uid(pod) + R"(\",\"resource\":\"nvidia.com/gpu\",\"chips\":[{\"index\":)" + chip +
         R"(,\"id\":\"\"}],\"gbps\":0,\"decision\":\"d-)" + std::to_string(pod) +
         R"(\",\"time\":\"2026-01-02T03:04:05Z\"})";
}

// The server's side: runs in the child.
class Service {
 public:
  explicit Service(FakeCluster cluster) : c_(std::move(cluster)) {}

  void serve(int fd) {
    std::string seen;
    std::array<char, 16384> bytes{};
    for (;;) {
      std::size_t end = 0;
      while ((end = seen.find("\r\n\r\n")) == std::string::npos) {
        const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), 0);
        if (n <= 0) return leave(fd);
        seen.append(bytes.data(), static_cast<std::size_t>(n));
      }
      const std::string head = seen.substr(0, end + 2);
      seen.erase(0, end + 4);
      std::size_t length = 0;
      if (const std::size_t at = head.find("Content-Length: "); at != std::string::npos)
        length = std::strtoull(head.c_str() + at + 16, nullptr, 10);
      while (seen.size() < length) {
        const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), 0);
        if (n <= 0) return leave(fd);
        seen.append(bytes.data(), static_cast<std::size_t>(n));
      }
      const std::string body = seen.substr(0, length);
      seen.erase(0, length);
      const std::size_t space = head.find(' ');
      const std::string target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
      if (!answer(fd, head, target, body)) return leave(fd);
    }
  }

 private:
  bool answer(int fd, const std::string& head, const std::string& target, const std::string& body) {
    const std::string method = head.substr(0, head.find(' '));
    if (target == "/bench/leader/gap") return reply(fd, 200, longest_gap());
    if (target.rfind("/bench/", 0) == 0) return reply(fd, 200, run_storm(target, body));
    if (target.find("/leases/scheduler") != std::string::npos ||
        (method == "POST" && target.find("/leases") != std::string::npos))
      return leader_lease(fd, method, body);
    const std::string collection = collection_of(target);
    if (method == "GET" && target.find("watch=1") != std::string::npos && !collection.empty())
      return stream(fd, head, target, collection);
    if (method == "GET" && collection == "pods" && target.find("limit=") != std::string::npos)
      return reply(fd, 200, page_of_pods(target));
    if (method == "PATCH" || method == "POST") return reply(fd, 201, "{}");
    return reply(fd, 404, R"({"kind":"Status","code":404,"message":"not here"})");
  }

  static std::string collection_of(const std::string& target) {
    for (const auto& [part, name] :
         {std::pair{"/nodeinventories", "inventories"}, std::pair{"/leases", "leases"},
          std::pair{"/api/v1/nodes", "nodes"}, std::pair{"/api/v1/pods", "pods"}})
      if (target.find(part) != std::string::npos) return name;
    return {};
  }

  static bool reply(int fd, int status, const std::string& body) {
    return write_all(fd, "HTTP/1.1 " + std::to_string(status) +
                             " X\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  bool leader_lease(int fd, const std::string& method, const std::string& body) {
    const std::lock_guard lock(lease_);
    if (method == "PUT" && body.find(version_of_lease()) == std::string::npos)
      return reply(fd, 409, R"({"kind":"Status","code":409})");
    if (method == "PUT") count_gap();
    if (method != "GET") {
      std::string stored = body;
      const std::size_t at = stored.find("\"metadata\":{") + 12;
      if (const std::size_t old = stored.find("\"resourceVersion\":\""); old != std::string::npos)
        stored.erase(old, stored.find(',', old) - old + 1);
      stored.insert(
          at, "\"uid\":\"lease\",\"resourceVersion\":\"" + std::to_string(++version_) + "\",");
      leader_ = stored;
    }
    if (leader_.empty()) return reply(fd, 404, R"({"kind":"Status","code":404})");
    return reply(fd, method == "POST" ? 201 : 200, leader_);
  }

  void count_gap() {
    const auto now = std::chrono::steady_clock::now();
    if (renewed_) longest_gap_ = std::max(longest_gap_, now - *renewed_);
    renewed_ = now;
  }

  std::string longest_gap() {
    const std::lock_guard lock(lease_);
    return std::to_string(std::chrono::duration<double, std::milli>(longest_gap_).count());
  }

  std::string version_of_lease() const {
    const std::size_t at = leader_.find("\"resourceVersion\":\"");
    return at == std::string::npos ? "" : leader_.substr(at, leader_.find(',', at) - at);
  }

  // Another replica takes the Lease and dies.
  std::string steal_lease() {
    const std::lock_guard lock(lease_);
    const std::size_t at = leader_.find("\"holderIdentity\":\"");
    if (at == std::string::npos) return "nobody leads";
    renewed_.reset();  // the time until it is taken back is not a gap between renewals
    leader_.insert(at + 18, "thief-");
    leader_.insert(leader_.find(version_of_lease()) + 19, "9");
    return "sent";
  }

  std::string object(const std::string& collection, int i) {
    const std::string version = std::to_string(++version_);
    const std::string name = node_name(i);
    const std::string meta = R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" +
                             version + R"(","uid":")" + collection.substr(0, 1) + "-" +
                             std::to_string(i) + "\"";
    if (collection == "pods") return pod_object(c_, i, version);
    if (collection == "nodes" && nodes_as_metadata_)
      return R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)" + meta.substr(1) +
             R"(,"managedFields":)" + kManaged + "}}";
    if (collection == "nodes")
      return meta + R"(,"managedFields":)" + kManaged +
             R"(},"status":{"capacity":{"nvidia.com/gpu":"8"},)" + kStatusOfNode + "}}";
    if (collection == "leases")
      return meta + R"(,"namespace":"bench","labels":{"chipweave.dev/component":"agent"}},)" +
             R"("spec":{"holderIdentity":"boot-)" + std::to_string(i) + "\"}}";
    std::string topology = i < c_.wide ? c_.wide_topology : c_.topology;
    if (sick_ % 2 == 1) {
      const std::string chip = R"("index":7,)";
      if (const std::size_t at = topology.find(chip); at != std::string::npos)
        topology.insert(at, R"("health":"unhealthy",)");
    }
    return meta + R"(},"status":{"bootId":"boot-)" + std::to_string(i) + R"(","sequence":)" +
           version + R"(,"machine":"bench","resources":["nvidia.com/gpu"],"chips":)" +
           (i < c_.wide ? "16" : "8") + R"(,"unhealthy":0,"topology":)" + topology + "}}";
  }

  std::string event(const char* kind, const std::string& object) {
    return R"({"type":")" + std::string(kind) + R"(","object":)" + object + "}\n";
  }

  int size_of(const std::string& collection) const {
    return collection == "pods" ? c_.bound + c_.pending : c_.nodes;
  }

  bool stream(int fd, const std::string& head, const std::string& target,
              const std::string& collection) {
    const std::lock_guard lock(streams_);
    if (collection == "nodes")
      nodes_as_metadata_ = head.find(";as=PartialObjectMetadata;") != std::string::npos;
    if (refuse_ && target.find("sendInitialEvents") != std::string::npos)
      return reply(fd, 422, R"({"kind":"Status","code":422,"message":"no streaming lists"})");
    open_.erase(collection);
    std::string out =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (!write_all(fd, out)) return false;
    out.clear();
    if (target.find("sendInitialEvents=true") != std::string::npos) {
      const int count = size_of(collection);
      for (int i = 0; i < count; ++i) {
        out += event("ADDED", object(collection, i));
        if (out.size() > kChunk && !flush(fd, out)) return false;
      }
      out += event("BOOKMARK", R"({"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},)"
                               R"("resourceVersion":")" +
                                   std::to_string(++version_) + "\"}}");
    }
    if (!flush(fd, out)) return false;
    open_[collection] = fd;
    return true;
  }

  static bool flush(int fd, std::string& out) {
    if (out.empty()) return true;
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", out.size());
    const bool good = write_all(fd, size.data() + out + "\r\n");
    out.clear();
    return good;
  }

  std::string page_of_pods(const std::string& target) {
    int first = 0;
    if (const std::size_t at = target.find("continue="); at != std::string::npos)
      first = std::atoi(target.c_str() + at + 9);
    const int end = std::min(first + kPageOfPods, size_of("pods"));
    std::string items;
    for (int i = first; i < end; ++i) items += (i > first ? "," : "") + object("pods", i);
    std::string out =
        R"({"kind":"PodList","metadata":{"resourceVersion":")" + std::to_string(++version_) + "\"";
    if (end < size_of("pods")) out += R"(,"continue":")" + std::to_string(end) + "\"";
    return out + R"(},"items":[)" + items + "]}";
  }

  void leave(int fd) {
    const std::lock_guard lock(streams_);
    for (auto it = open_.begin(); it != open_.end();)
      it = it->second == fd ? open_.erase(it) : std::next(it);
    ::close(fd);
  }

  // Events of one collection: MODIFIED for objects in turn, DELETED and ADDED for churn, or an
  // expired version ("gone") that makes the client list again.
  std::string run_storm(const std::string& target, const std::string& count_text) {
    const std::lock_guard lock(streams_);
    const int count = std::atoi(count_text.c_str());
    const std::string what = target.substr(7);  // COLLECTION/KIND
    const std::string collection = what.substr(0, what.find('/'));
    const std::string kind = what.substr(what.find('/') + 1);
    if (collection == "leader") return steal_lease();
    const auto to = open_.find(collection);
    if (to == open_.end()) return "no stream";
    ++sick_;
    std::string out;
    if (kind == "gone" || kind == "gone-paged") {
      refuse_ = kind == "gone-paged";
      out = event("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})");
      flush(to->second, out);
      open_.erase(to);
      return "sent";
    }
    for (int i = 0; i < count; ++i) {
      const int at = i % size_of(collection);
      if (kind == "churn") out += event("DELETED", object(collection, at));
      out += event(kind == "churn" ? "ADDED" : "MODIFIED", object(collection, at));
      if (out.size() > kChunk && !flush(to->second, out)) return "cut";
    }
    flush(to->second, out);
    return "sent";
  }

  FakeCluster c_;
  std::mutex lease_;
  std::mutex streams_;
  std::string leader_;
  std::optional<std::chrono::steady_clock::time_point> renewed_;
  std::chrono::steady_clock::duration longest_gap_{};
  std::atomic<std::uint64_t> version_{1000};
  std::map<std::string, int> open_;  // the watch of each collection
  bool nodes_as_metadata_ = false;   // what the watch of nodes accepts
  bool refuse_ = false;              // streaming lists
  int sick_ = 0;                     // odd: inventories have an unhealthy chip
};

[[noreturn]] void run_child(int listener, FakeCluster cluster) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Service service(std::move(cluster));
  for (;;) {
    const int fd = ::accept(listener, nullptr, nullptr);
    if (fd < 0) std::_Exit(1);
    set_no_delay(fd);
    std::thread([&service, fd] { service.serve(fd); }).detach();
  }
}

}  // namespace

int FakeCluster::node_of(int pod) const {
  if (pod >= bound) return -1;
  return pod < wide_pods() ? pod / 16 : wide + (pod - wide_pods()) % (nodes - wide);
}
int FakeCluster::chip_of(int pod) const {
  return pod < wide_pods() ? pod % 16 : (pod - wide_pods()) / (nodes - wide);
}

std::string node_name(int node) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "gpu-node-%05d", node);
  return name.data();
}

std::string pod_uid(int pod) {
  std::array<char, 48> uid{};
  std::snprintf(uid.data(), uid.size(), "00000000-0000-4000-8000-%012d", pod);
  return uid.data();
}

std::string pod_object(const FakeCluster& c, int pod, std::string_view version) {
  const bool bound = c.node_of(pod) >= 0;
  std::string out = R"({"metadata":{"name":"training-job-worker-)" + std::to_string(pod) +
                    R"(","namespace":"team-)" + std::to_string(pod % 50) + R"(","uid":")" +
                    pod_uid(pod) + R"(","resourceVersion":")" + std::string(version) +
                    R"(","annotations":{)";
  if (bound) out += R"("chipweave.dev/placement":")" + placement_of_pod(c, pod) + "\"";
  out += R"(},"labels":{"app":"training","batch.kubernetes.io/job-name":"job-)" +
         std::to_string(pod / 8) + R"(","controller-uid":")" + pod_uid(pod) +
         R"("},"managedFields":)" + kManaged + R"(},"spec":{"priority":)" +
         std::to_string(bound ? pod * 7919 % 100 : 100) +
         R"(,"schedulerName":"default-scheduler",)";
  if (bound) out += R"("nodeName":")" + node_name(c.node_of(pod)) + "\",";
  out += R"("containers":[{"name":"c","image":"registry.example/training:1.2.3","env":[)";
  for (int i = 0; i < 12; ++i)
    out += (i > 0 ? ",{\"name\":\"VARIABLE_" : "{\"name\":\"VARIABLE_") + std::to_string(i) +
           R"(","value":"something"})";
  return out + R"(],"resources":{"limits":)" + limits_of(bound || pod % 2 == 1 ? 1 : 8) +
         R"(}}]},"status":{"phase":")" + (bound ? "Running" : "Pending") + "\"}}";
}

FakeApi::FakeApi(const FakeCluster& cluster) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
      ::listen(listener, 64) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error("cannot listen on 127.0.0.1");
  port_ = ntohs(at.sin_port);
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("cannot fork");
  if (child_ == 0) run_child(listener, cluster);
  ::close(listener);
}

FakeApi::~FakeApi() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

void FakeApi::storm(std::string_view name, int count) {
  HttpSocket control(port_);
  const auto reply = control.ask("POST", "/bench/" + std::string(name), std::to_string(count));
  if (reply.begin != "sent")
    throw std::runtime_error("storm " + std::string(name) + ": " + reply.begin);
}

double FakeApi::longest_lease_gap_ms() {
  HttpSocket control(port_);
  return std::stod(control.ask("POST", "/bench/leader/gap", "0").begin);
}

}  // namespace chipweave::bench
