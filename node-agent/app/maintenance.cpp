#include "node-agent/app/maintenance.hpp"

#include <utility>

#include "common/base/text.hpp"
#include "node-agent/app/health/operator_faults.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxUnjudged = 8;

}  // namespace

void Maintenance::set(std::optional<std::string> reason, std::int64_t now) {
  known_ = true;
  ending_ = reason_ && !reason;
  if (ending_) return;
  if (!reason_) since_ = now;
  reason_ = std::move(reason);
}

void Maintenance::end() {
  reason_.reset();
  ending_ = false;
}

void Maintenance::restore(std::optional<std::string> reason, std::int64_t since) {
  if (known_) return;
  reason_ = std::move(reason);
  since_ = since;
}

void Maintenance::filter(std::vector<domain::Signal>& events) {
  if (!reason_) return;
  std::erase_if(events, [this](const domain::Signal& event) {
    if (domain::is_reset(event)) return false;
    ++unjudged_;
    if (named_.size() < kMaxUnjudged) {
      named_.push_back(event.code +
                       (event.chip ? " of chip " + std::to_string(event.chip->value) : ""));
    }
    return true;
  });
}

std::string Maintenance::take_unjudged() {
  const std::size_t count = std::exchange(unjudged_, 0);
  const auto named = std::exchange(named_, {});
  if (count == 0) return "";
  std::string out = std::to_string(count) +
                    " events during the maintenance were not judged: " + joined(named, ", ");
  if (count > named.size()) out += ", …";
  return out;
}

std::optional<domain::Fault> Maintenance::fault() const {
  if (!reason_) return std::nullopt;
  return fault_of_maintenance(
      ending_ ? *reason_ + " (over; the hardware has not been read yet)" : *reason_, since_);
}

}  // namespace chipweave::agent
