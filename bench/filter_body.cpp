#include "bench/filter_body.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include "common/base/limits.hpp"

namespace chipweave::bench {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= limits::kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

// Typical metadata of training jobs: labels of their operator, annotations of the queue,
// environment of the launcher.
std::string pod(const std::string& resource, int chips) {
  std::string labels;
  for (int i = 0; i < 12; ++i)
    labels += fmt::format(R"(,"training.example.com/label-{}":"value-{}")", i, i);
  std::string annotations;
  for (int i = 0; i < 10; ++i) {
    annotations +=
        fmt::format(R"({}"example.com/note-{}":"{}")", i == 0 ? "" : ",", i, std::string(90, 'n'));
  }
  std::string env;
  for (int i = 0; i < 30; ++i) {
    env += fmt::format(R"({}{{"name":"TRAIN_SETTING_{}","value":"/data/run/{}/checkpoint"}})",
                       i == 0 ? "" : ",", i, i);
  }
  return fmt::format(
      R"({{"metadata":{{"name":"bench-worker-0","namespace":"bench","uid":"00000000-0000-4000-8000-000000000001",)"
      R"("resourceVersion":"1","creationTimestamp":"2026-01-02T03:04:05Z","labels":{{"app":"bench"{}}},)"
      R"("annotations":{{{}}}}},"spec":{{"containers":[{{"name":"train","image":"registry.example.com/train:1",)"
      R"("command":["torchrun","--nproc-per-node={}","train.py"],"env":[{}],)"
      R"("resources":{{"limits":{{"cpu":"32","memory":"256Gi","{}":"{}"}},)"
      R"("requests":{{"cpu":"32","memory":"256Gi","{}":"{}"}}}}}}],"restartPolicy":"Never",)"
      R"("schedulerName":"default-scheduler","priority":0}},"status":{{"phase":"Pending","qosClass":"Burstable"}}}})",
      labels, annotations, chips, env, resource, chips, resource, chips);
}

}  // namespace

Result<std::vector<std::string>> node_names(const std::string& source) {
  std::vector<std::string> names;
  std::size_t count = 0;
  const auto read = std::from_chars(source.data(), source.data() + source.size(), count);
  if (read.ec == std::errc() && read.ptr == source.data() + source.size()) {
    if (count == 0 || count > limits::kMaxNodes) {
      return make_error(Errc::invalid_argument,
                        fmt::format("--node-names {}: 1 to {} nodes", count, limits::kMaxNodes));
    }
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("node-{}", i));
    return names;
  }
  std::ifstream file(source);
  if (!file) return make_error(Errc::not_found, "cannot read the node names in " + source);
  for (std::string line; std::getline(file, line);) {
    if (!is_name(line) || names.size() == limits::kMaxNodes) {
      return make_error(Errc::invalid_argument,
                        fmt::format("{}:{}: one node name a line, at most {}", source,
                                    names.size() + 1, limits::kMaxNodes));
    }
    names.push_back(line);
  }
  if (names.empty()) return make_error(Errc::invalid_argument, source + " has no node names");
  return names;
}

std::string filter_body(const std::vector<std::string>& names, std::size_t nodes,
                        const std::string& resource, int chips) {
  std::string body = R"({"Pod":)" + pod(resource, chips) + R"(,"Nodes":null,"NodeNames":[)";
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i > 0) body += ',';
    body += '"';
    body += names.at(i);
    body += '"';
  }
  body += "]}\n";
  return body;
}

}  // namespace chipweave::bench
