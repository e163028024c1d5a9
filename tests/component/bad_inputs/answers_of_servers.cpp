// Objects that the scheduler does not know, and servers other than chipweave-scheduler.
#include "tests/component/bad_inputs/bad_input.hpp"

namespace chipweave {
namespace {

const ServerAnswer kUnknown = {404,
                               R"({"error":{"code":"not_found","message":"it is not known"}})"};

BadInput answered(const std::string& name, const std::string& arguments, int exit_code,
                  std::vector<std::string> words, ServerAnswer answer) {
  return {name,
          arguments + " --scheduler %S",
          exit_code,
          std::move(words),
          {},
          Shown::error,
          std::move(answer)};
}

}  // namespace

std::vector<BadInput> bad_server_answers() {
  const std::string plan = "plan --network net.csv --free 8 --pods 2 --chips 2 --job team/train";
  return {
      answered("UnknownPod", "explain team/train-0", 4, {"pod \"team/train-0\" not found"},
               kUnknown),
      answered("UnknownPodAsJson", "explain train-0 -o json", 4,
               {"pod \"default/train-0\" not found"}, kUnknown),
      answered("UnknownPodOfPods", "pods train-0", 4, {"pod \"default/train-0\" not found"},
               kUnknown),
      answered("UnknownNode", "nodes gpu-7", 4, {"node \"gpu-7\" not found"}, kUnknown),
      answered("UnknownGang", "gangs team/train", 4, {"gang \"team/train\" not found"}, kUnknown),
      answered("UnknownJob", plan, 4, {"--job", "team/train"}, {200, R"({"items":[]})"}),
      answered(
          "UnknownNodeOfSubmit", "submit pod.yaml --node gpu-8", 4,
          {"--node: unknown node \"gpu-8\" (did you mean \"gpu-7\"?)"},
          {200, R"({"items":[{"name":"gpu-7","machine":"hgx-v100-8","chips":8,"free":[0]}]})"}),
      answered("NotStandalone", "pods train-0", 3, {"no such path"},
               {404, R"({"error":{"code":"not_found","message":"no such path"}})"}),
      answered("AnotherServer", "nodes", 3, {"404"}, {404, "<html>not here</html>"}),
      answered("AnotherServersPod", "explain train-0", 3, {"404"}, {404, "<html>not here</html>"}),
      answered("Unauthorized", "nodes", 3, {"401", "a token is required"},
               {401, R"({"error":{"message":"a token is required"}})"}),
      answered("Forbidden", "explain train-0", 3, {"403", "not for you"},
               {403, R"({"error":{"message":"not for you"}})"}),
      answered("ServerFails", "gangs", 3, {"500"}, {500, ""}),
      answered("NotReady", "pods", 3, {"503", "starting"},
               {503, R"({"error":{"message":"starting"}})"}),
      answered("WordsAsAnswer", "nodes", 3, {"scheduler"}, {200, "hello"}),
      answered("DeepAnswer", "pods", 3, {"nested deeper than 64 levels"},
               {200, std::string(100000, '[')}),
      answered("ListAsAnswer", "gangs", 3, {"scheduler"}, {200, "[1,2]"}),
  };
}

}  // namespace chipweave
