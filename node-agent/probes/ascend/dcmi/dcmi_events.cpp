#include "node-agent/probes/ascend/dcmi/dcmi_events.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace chipweave::agent {
namespace {

// Where the callback finds the object that takes its events. Never destroyed: the library's thread
// may still run when the process ends.
struct Receiver {
  std::mutex mutex;
  DcmiEvents* newest = nullptr;
};
Receiver& receiver() {
  static auto* const one = new Receiver();
  return *one;
}

// Which libraries this process has subscribed to: a real process has one, tests have several.
std::vector<const void*>& subscribed() {
  static auto* const libraries = new std::vector<const void*>();
  return *libraries;
}

void on_event(dcmi::Event* event) noexcept {
  if (event != nullptr && event->type == dcmi::kDmsFaultEvent) DcmiEvents::receive(*event);
}

}  // namespace

DcmiEvents::DcmiEvents() {
  kept_.reserve(kMaxKept);
  const std::lock_guard lock(receiver().mutex);
  receiver().newest = this;
}

DcmiEvents::~DcmiEvents() {
  const std::lock_guard lock(receiver().mutex);
  if (receiver().newest == this) receiver().newest = nullptr;
}

void DcmiEvents::subscribe(const DcmiLibrary& library) {
  if (tried_ && !dcmi::is_transient(*tried_)) return;
  const auto& call = library.functions().subscribe;
  const DcmiPlace everywhere{library.flat(), dcmi::kAllDevices, dcmi::kAllDevices};
  const void* const address = library.flat()
                                  ? reinterpret_cast<const void*>(call.by_number.function)
                                  : reinterpret_cast<const void*>(call.by_card.function);
  problem_.clear();
  if (std::find(subscribed().begin(), subscribed().end(), address) != subscribed().end()) {
    tried_ = dcmi::kSuccess;
    return;
  }
  tried_ = call(everywhere, dcmi::EventFilter{}, on_event);
  if (*tried_ == dcmi::kSuccess) {
    subscribed().push_back(address);
  } else {
    problem_ = std::string(call.name(everywhere)) + ": " + dcmi_code_text(*tried_) +
               "; faults are polled, and events that leave no state are not seen";
  }
}

void DcmiEvents::receive(const dcmi::Event& event) noexcept {
  const std::lock_guard lock(receiver().mutex);
  if (receiver().newest != nullptr) receiver().newest->keep(event.fault);
}

void DcmiEvents::keep(const dcmi::FaultEvent& event) noexcept {
  if (event.assertion != dcmi::kOneTime) {
    changed_ = true;
  } else if (kept_.size() == kMaxKept) {
    ++lost_;
  } else {
    Kept& kept = kept_.emplace_back();
    kept.code = event.id;
    kept.logic_id = event.device;
    std::copy(std::begin(event.name), std::end(event.name), kept.text.begin());
  }
  woken_ = true;
  arrived_.notify_one();
}

bool DcmiEvents::take_change() {
  const std::lock_guard lock(receiver().mutex);
  return std::exchange(changed_, false);
}

DcmiEventBatch DcmiEvents::take() {
  std::vector<Kept> kept;
  kept.reserve(kMaxKept);
  DcmiEventBatch out;
  {
    const std::lock_guard lock(receiver().mutex);
    kept_.swap(kept);
    out.lost = std::exchange(lost_, 0U);
  }
  for (const Kept& one : kept) {
    out.events.push_back({one.code, one.logic_id, dcmi_text(one.text.data(), one.text.size())});
  }
  return out;
}

void DcmiEvents::wait(std::chrono::milliseconds longest) {
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + longest;
  std::this_thread::sleep_until(std::min(end, last_return_ + kShortestWait));
  std::unique_lock lock(receiver().mutex);
  if (arrived_.wait_until(lock, end, [this] { return woken_; })) {
    last_return_ = std::chrono::steady_clock::now();
  }
  woken_ = false;
}

}  // namespace chipweave::agent
