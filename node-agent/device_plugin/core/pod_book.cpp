#include "node-agent/device_plugin/core/pod_book.hpp"

#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"

namespace chipweave::device_plugin {
namespace {

std::vector<AskingContainer> asking_containers(const codec::KubePod& pod,
                                               const std::string& resource) {
  if (!codec::count_resource(pod, resource)) return {};
  std::vector<AskingContainer> out;
  for (const auto& one : codec::count_by_container(pod, resource)) {
    if (one.count > limits::kMaxChips) return {};  // no node can admit it
    out.push_back({std::string(one.container), static_cast<int>(one.count), one.init});
  }
  return out;
}

Error not_for(const std::string& why) {
  return make_error(Errc::invalid_argument,
                    "its annotation " + std::string(kPlacementAnnotation) + " " + why);
}

}  // namespace

Result<Decision> read_decision(const PodRecord& pod, const std::string& node,
                               const std::string& resource, const Devices& devices) {
  const auto note = codec::read_placement(pod.placement);
  if (!note) return not_for("cannot be read: " + printable(note.error().text()));
  if (note->pod_uid != pod.uid) return not_for("is that of another pod");
  if (note->node != node) return not_for("is for node " + in_quotes(note->node));
  if (note->resource != resource) return not_for("is for resource " + in_quotes(note->resource));
  Decision out;
  for (const codec::PlacementChip& chip : note->details) {
    const auto slot = devices.topology().slot_of({chip.index});
    if (!slot)
      return not_for("names chip " + std::to_string(chip.index) + ", which does not exist here");
    const std::string& id = devices.topology().chip(*slot).id;
    if (!chip.id.empty() && !id.empty() && chip.id != id)
      return not_for("names chip " + in_quotes(chip.id) + ", which is no longer at " +
                     std::to_string(chip.index));
    out.chips.insert(*slot);
    if (!chip.container.empty()) out.parts[chip.container].insert(*slot);
  }
  if (out.chips.empty()) return not_for("names no chips");
  return out;
}

void PodBook::take(const codec::KubePod& pod) {
  PodRecord now;
  now.key = pod.ns + "/" + pod.name;
  now.uid = pod.uid;
  now.containers = asking_containers(pod, resource_);
  if (const auto note = pod.annotations.find(kPlacementAnnotation);
      note != pod.annotations.end() && note->second.size() <= limits::kMaxAnnotationBytes)
    now.placement = note->second;
  now.over = pod.phase == "Succeeded" || pod.phase == "Failed";
  now.running = pod.phase == "Running";
  now.ending = pod.ending;
  pods_[now.key] = std::move(now);
}

void PodBook::drop(const std::string& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  found->second.gone = true;
  if (gone_.insert_or_assign(key, std::move(found->second)).second) gone_order_.push_back(key);
  pods_.erase(found);
  if (gone_order_.size() <= kMaxGonePods) return;
  gone_.erase(gone_order_.front());
  gone_order_.pop_front();
}

const PodRecord* PodBook::find(const std::string& key) const {
  if (const auto found = pods_.find(key); found != pods_.end()) return &found->second;
  const auto found = gone_.find(key);
  return found == gone_.end() ? nullptr : &found->second;
}

}  // namespace chipweave::device_plugin
