// Admits — a cluster of two nodes whose API server asks us about the bindings of other schedulers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/sched_kube/two_nodes.hpp"

namespace chipweave::sched::test {

class Admits : public TwoNodes {
 protected:
  using Outcome = std::shared_ptr<std::optional<Result<Admission>>>;
  // Our answer to the API server; empty until there is one.
  Outcome request(const std::string& name, const std::string& node, bool dry_run = false,
                  bool with_uid = true, const std::string& placement = "") {
    auto outcome = std::make_shared<std::optional<Result<Admission>>>();
    const auto pod = world_.api.pods.find("ns/" + name);
    const std::string of_pod = pod != world_.api.pods.end() ? pod->second.uid : "uid-of-nobody";
    const std::string uid = with_uid ? of_pod : "";
    world_.scheduler->admissions().admit(
        {{{"ns", name}, uid, node}, placement, dry_run},
        [outcome](Result<Admission> result) { *outcome = std::move(result); });
    return outcome;
  }
  Annotations admitted(const std::string& name, const std::string& node) {
    const Outcome outcome = request(name, node);
    EXPECT_TRUE(*outcome && (*outcome)->ok()) << name << " on " << node;
    return *outcome && (*outcome)->ok() ? (**outcome)->annotations : Annotations{};
  }
  std::string refused(const std::string& name, const std::string& node) {
    const Outcome outcome = request(name, node);
    if (!*outcome) return "no answer";
    return (*outcome)->ok() ? "admitted" : (*outcome)->error().text();
  }
  // The nodes where it would fit; nothing is reserved.
  std::vector<std::string> room_for(const std::string& name) {
    std::vector<std::string> nodes;
    const PodRequest pod = world_.request(world_.pod(name));
    for (const std::string_view node : world_.all_nodes()) {
      if (world_.scheduler->extender().in_session(Verb::predicate, pod, {&node, 1}).fits > 0)
        nodes.emplace_back(node);
    }
    return nodes;
  }
  // The API server stores the binding.
  void take(const std::string& name, const std::string& node, const Annotations& notes) {
    world_.api.set_node("ns/" + name, node, notes);
    world_.api.settle();
  }
  void wait(std::chrono::seconds time) {
    for (std::chrono::seconds passed{0}; passed < time; passed += std::chrono::seconds(1)) {
      world_.pass(std::chrono::seconds(1));
      world_.api.settle();
    }
  }
};

}  // namespace chipweave::sched::test
