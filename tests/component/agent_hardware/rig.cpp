#include "tests/component/agent_hardware/rig.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace chipweave {
namespace {

using Json = nlohmann::json;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Json ports(const io::TempFolder& folder, const std::string& name) {
  Json out;
  const bool there = eventually([&] {
    out = Json::parse(text_of(folder.at(name)), nullptr, false);
    return out.is_object();
  });
  if (!there) throw std::runtime_error("no port file " + name);
  return out;
}

}  // namespace

Rig::Rig() {
  std::filesystem::create_directories(folder_.at("host/sys/bus/pci/devices"));
  scheduler_ = std::make_unique<Program>(
      std::vector<std::string>{"chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0",
                               "--grpc", "127.0.0.1:0", "--port-file", folder_.at("ports"),
                               "--log-level", "warn"},
      std::map<std::string, std::string>{}, folder_.at("scheduler.log"));
  const Json at = ports(folder_, "ports");
  grpc_ = "127.0.0.1:" + std::to_string(at["grpc"].get<int>());
  auto client = http::Client::connect_to("127.0.0.1:" + std::to_string(at["http"].get<int>()));
  if (!client) throw std::runtime_error(client.error().text());
  http_.emplace(std::move(client).value());
}

void Rig::play(const Json& scenario) const {
  folder_.put("scenario.new", scenario.dump());
  std::filesystem::rename(folder_.at("scenario.new"), folder_.at("scenario.json"));
}

std::vector<std::string> Rig::agent_words(const std::string& node,
                                          std::vector<std::string> more) const {
  std::vector<std::string> words = {"chipweave-agent",
                                    "--node",
                                    node,
                                    "--probe",
                                    "nvidia",
                                    "--nvml-library",
                                    CHIPWEAVE_FAKE_NVML_CURRENT,
                                    "--sysfs-root",
                                    folder_.at("host"),
                                    "--scheduler",
                                    grpc_};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::unique_ptr<Program> Rig::agent(const std::string& node, std::vector<std::string> more) const {
  return std::make_unique<Program>(
      agent_words(node, std::move(more)),
      std::map<std::string, std::string>{{"CHIPWEAVE_FAKE_NVML", folder_.at("scenario.json")}},
      folder_.at("agent-" + node + ".log"));
}

std::unique_ptr<Program> Rig::agent_on_bus(const std::string& node,
                                           std::vector<std::string> more) const {
  std::vector<std::string> words = {"chipweave-agent",
                                    "--node",
                                    node,
                                    "--probe",
                                    "auto",
                                    "--nvml-library",
                                    "/nowhere/libnvidia-ml.so.1",
                                    "--dcmi-library",
                                    "/nowhere/libdcmi.so",
                                    "--sysfs-root",
                                    folder_.at("host"),
                                    "--scheduler",
                                    grpc_};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<Program>(std::move(words), std::map<std::string, std::string>{},
                                   folder_.at("agent-" + node + ".log"));
}

Json Rig::call(const char* method, const std::string& target, const Json& body) {
  auto reply = http_->call(method, target, body.is_null() ? "" : body.dump());
  if (!reply) throw std::runtime_error(target + ": " + reply.error().text());
  return Json::parse(reply->body, nullptr, false);
}

Json Rig::node(const std::string& name) {
  const Json nodes = call("GET", "/api/v1/nodes");
  for (const Json& one : nodes["items"]) {
    if (one["name"] == name) return one;
  }
  return nullptr;
}

Json Rig::timeless_node(const std::string& name) {
  Json out = node(name);
  out.erase("inventory_age_seconds");
  for (Json& fault : out["faults"]) fault.erase("since");
  return out;
}

std::vector<int> Rig::unhealthy(const std::string& name) {
  const Json found = node(name);
  return found.is_null() ? std::vector<int>{-1} : found["unhealthy"].get<std::vector<int>>();
}

Rig::Json Rig::submit(int chips, const std::string& resource) {
  const std::string name = "p" + std::to_string(++pods_);
  const Json container = {{"name", "c"},
                          {"image", "i"},
                          {"resources", {{"limits", {{resource, std::to_string(chips)}}}}}};
  const Json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", name}, {"namespace", "default"}}},
                    {"spec", {{"containers", {container}}}}};
  return call("POST", "/standalone/pods", pod);
}

Rig::Json Rig::explain(int chips) {
  const std::string name = submit(chips)["metadata"]["name"];
  Json out = call("GET", "/api/v1/explain/default/" + name);
  call("DELETE", "/standalone/pods/default/" + name);
  return out;
}

std::optional<std::vector<int>> Rig::decide(const std::string& node, int chips,
                                            const std::string& resource) {
  const Json pod = submit(chips, resource);
  const std::string name = pod["metadata"]["name"];
  const std::string path = "/standalone/pods/default/" + name;
  const Json args = {{"Pod", pod}, {"NodeNames", {node}}};
  const Json fits = call("POST", "/kube/filter", args);
  std::optional<std::vector<int>> out;
  if (fits.contains("NodeNames") && fits["NodeNames"].is_array() && !fits["NodeNames"].empty()) {
    call("POST", "/kube/prioritize", args);
    call("POST", "/kube/bind",
         {{"PodName", name},
          {"PodNamespace", "default"},
          {"PodUID", pod["metadata"]["uid"]},
          {"Node", node}});
    const Json bound = call("GET", path);
    // If a chip fails between filter and bind, the pod gets none.
    const Json annotations = bound["metadata"].value("annotations", Json::object());
    const Json placement =
        Json::parse(annotations.value("chipweave.dev/placement", "{}"), nullptr, false);
    if (placement.contains("chips")) {
      out.emplace();
      for (const Json& chip : placement["chips"]) out->push_back(chip["index"].get<int>());
    }
  }
  call("DELETE", path);
  return out;
}

std::string Rig::metrics_page() const {
  const Json at = ports(folder_, "agent-port");
  auto client = http::Client::connect_to("127.0.0.1:" + std::to_string(at["metrics"].get<int>()));
  if (!client) return "";
  auto reply = client->call("GET", "/metrics", "");
  return reply ? std::move(reply->body) : "";
}

double Rig::metric(const std::string& line) const {
  std::istringstream lines(metrics_page());
  for (std::string text; std::getline(lines, text);) {
    if (text.starts_with(line + " ")) return std::stod(text.substr(line.size() + 1));
  }
  return -1;
}

std::string Rig::policy_without_holds() const {
  return folder_.put("policy.yaml",
                     "links: {hold: 0s, flap-window: 0s, longest-hold: 0s}\n"
                     "rules:\n"
                     "- {code: nvml.lost, effect: unusable, hold: 0s}\n"
                     "- {code: \"xid.*\", effect: unusable, hold: 1s}\n"
                     "- {code: nvlink.crc, effect: link, rise: 100, window: 2s, hold: 0s}\n"
                     "- {code: \"*\", effect: note}\n");
}

}  // namespace chipweave
