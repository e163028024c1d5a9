#include "scheduler-plugin/kube/gangs/plan_object.hpp"

#include <utility>

#include "common/base/stable_hash.hpp"
#include "common/codec/kube/objects/config_map.hpp"
#include "common/codec/kube/objects/gang_plan.hpp"
#include "common/kube/config_map_keeper.hpp"

namespace chipweave::sched {
namespace {

constexpr const char* kPlanKey = "plan";

const codec::StringMap& marks() {
  static const codec::StringMap kMarks{{kPlanObjectLabel, "1"},
                                       {kube::kManagedByLabel, "chipweave-scheduler"}};
  return kMarks;
}

}  // namespace

std::string plan_object_name(const std::string& gang, int nth) {
  std::string name = "chipweave-gang-" + hexadecimal(stable_hash(gang));
  if (nth > 1) name += "-" + std::to_string(nth);
  return name;
}

std::string gang_of_object(const codec::KubeConfigMap& object) {
  const auto claimed = object.annotations.find(kPlanObjectAnnotation);
  if (claimed == object.annotations.end()) return {};
  for (int nth = 1; nth <= kMaxPlanNames; ++nth) {
    if (object.name == plan_object_name(claimed->second, nth)) return claimed->second;
  }
  return {};
}

Result<StoredPlan> plan_of_object(const codec::KubeConfigMap& object) {
  const auto text = object.data.find(kPlanKey);
  if (text == object.data.end())
    return make_error(Errc::invalid_argument, std::string("data has no ") + kPlanKey);
  auto read = codec::read_gang_plan(text->second);
  if (!read) return std::move(read).error().in(std::string("data.") + kPlanKey);
  if (read->gang.empty() || read->gang != gang_of_object(object)) {
    return make_error(Errc::invalid_argument, "its name or its annotation " +
                                                  std::string(kPlanObjectAnnotation) +
                                                  " is not that of gang " + read->gang);
  }
  StoredPlan plan{std::move(read->gang), std::move(read->plan), {}};
  plan.slots.reserve(read->slots.size());
  for (codec::GangPlanSlot& slot : read->slots) {
    plan.slots.push_back({std::move(slot.role), slot.index, slot.chips, std::move(slot.uid),
                          std::move(slot.node), std::move(slot.indices)});
  }
  return plan;
}

Result<std::string> plan_text(const StoredPlan& plan) {
  codec::GangPlanText text{plan.gang, plan.plan, {}};
  text.slots.reserve(plan.slots.size());
  for (const StoredSlot& slot : plan.slots)
    text.slots.push_back({slot.role, slot.index, slot.chips, slot.uid, slot.node, slot.indices});
  return codec::write_gang_plan(text);
}

std::string new_plan_object(const std::string& ns, const std::string& name, const std::string& gang,
                            const std::string& text) {
  return codec::write_config_map(ns, name, marks(), {{kPlanKey, text}},
                                 {{kPlanObjectAnnotation, gang}});
}

std::string plan_object_patch(const codec::ObjectVersion& of, const std::string& gang,
                              const std::string& text) {
  codec::ObjectChanges changes;
  for (const auto& [key, value] : marks()) changes.labels[key] = value;
  changes.annotations[kPlanObjectAnnotation] = gang;
  changes.data[kPlanKey] = text;
  return codec::write_merge_patch(of, changes);
}

}  // namespace chipweave::sched
