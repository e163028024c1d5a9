#include "node-agent/app/metrics/link_throughput.hpp"

#include <algorithm>

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;
using domain::LinkTraffic;
using domain::TrafficKind;

template <class Link>
bool is_fast(const Link& link) {
  return link.kind != TrafficKind::pcie;
}

std::uint64_t rise(std::uint64_t before, std::uint64_t now) {
  return now < before ? 0 : now - before;
}

}  // namespace

void LinkThroughput::take(const domain::MetricsSample& sample) {
  const std::chrono::milliseconds taken(sample.taken_ms);
  const bool later = taken_ && taken > *taken_;
  const double seconds = later ? std::chrono::duration<double>(taken - *taken_).count() : 0;
  std::map<domain::ChipIndex, Track> now;
  for (const ChipMetrics& chip : sample.chips) {
    Track& track = now[chip.chip];
    const auto known = tracks_.find(chip.chip);
    if (known != tracks_.end()) track = std::move(known->second);
    if (later) measure(track, chip, taken, seconds);
    track.last.clear();
    for (const LinkTraffic& link : chip.links) {
      track.last.insert_or_assign(Link(link.kind, link.port), link);
    }
  }
  tracks_ = std::move(now);
  taken_ = taken;
}

void LinkThroughput::measure(Track& track, const ChipMetrics& chip, std::chrono::milliseconds at,
                             double seconds) const {
  const bool has_fast =
      std::any_of(chip.links.begin(), chip.links.end(), is_fast<LinkTraffic>) ||
      std::any_of(chip.rates.begin(), chip.rates.end(), is_fast<domain::LinkRate>);
  double sent = 0;
  double received = 0;
  bool measured = false;
  for (const LinkTraffic& link : chip.links) {
    const auto before = track.last.find(Link(link.kind, link.port));
    if (is_fast(link) != has_fast || before == track.last.end()) continue;
    measured = true;
    sent += static_cast<double>(rise(before->second.sent_bytes, link.sent_bytes));
    received += static_cast<double>(rise(before->second.received_bytes, link.received_bytes));
  }
  for (const domain::LinkRate& link : chip.rates) {
    if (is_fast(link) != has_fast) continue;
    measured = true;
    sent += link.sent * seconds;
    received += link.received * seconds;
  }
  while (!track.peaks.empty() && track.peaks.front().at + window_ <= at) track.peaks.pop_front();
  if (!measured) return;
  track.now = std::max(sent, received) / seconds;
  while (!track.peaks.empty() && track.peaks.back().bytes_per_second <= track.now) {
    track.peaks.pop_back();
  }
  track.peaks.push_back({at, track.now});
}

std::optional<CarriedTraffic> LinkThroughput::of(domain::ChipIndex chip) const {
  const auto track = tracks_.find(chip);
  if (track == tracks_.end() || track->second.peaks.empty()) return std::nullopt;
  return CarriedTraffic{track->second.now, track->second.peaks.front().bytes_per_second};
}

}  // namespace chipweave::agent
