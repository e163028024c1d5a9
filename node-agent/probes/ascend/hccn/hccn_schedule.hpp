// HccnSchedule — decides the next call of hccn_tool and keeps the answers. No clock, no process, no
// thread: those are HccnWatch's.
//
// The tool is slow, and its -lldp even slower: link states come first, the switch at the other end
// last and rarely. A call that hung is not repeated for a while, for any device.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ascend/hccn/hccn_tool.hpp"

namespace chipweave::agent {

// One device, and what only the tool can report about it.
struct HccnTarget {
  int chip = 0;       // index in the topology
  int number = 0;     // what -i takes: the physical id, on A5 the logical one
  bool flat = false;  // A5: one table has all its ports
  bool link = false;
  bool address = false;
  bool neighbour = false;
  friend bool operator==(const HccnTarget&, const HccnTarget&) = default;
};

struct HccnAnswers {
  std::optional<bool> link_up;
  std::vector<int> ports_down;  // A5
  std::vector<std::string> addresses;
  std::optional<codec::ascend::HccnLldp> neighbour;
  friend bool operator==(const HccnAnswers&, const HccnAnswers&) = default;
};

class HccnSchedule {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Kind { link, address, neighbour };  // by priority, highest first
  static constexpr std::chrono::seconds kLinksEvery{5};
  static constexpr std::chrono::seconds kAddressesEvery{60};
  static constexpr std::chrono::seconds kNeighboursEvery{600};
  static constexpr std::chrono::seconds kPauseAfterHang{600};

  struct Question {
    int chip = 0;
    Kind kind = Kind::link;
    std::vector<std::string> arguments;  // of the tool
  };

  // Replaces the devices; answers about those that stay are kept.
  void set_targets(const std::vector<HccnTarget>& targets);
  // nullopt: nothing is due.
  std::optional<Question> next(Time now) const;
  // When the next call is due; nullopt: never.
  std::optional<Time> due() const;
  void take(const Question& question, const Result<std::string>& output, Time now);

  // By chip; none before its first answer.
  const std::map<int, HccnAnswers>& answers() const { return answers_; }
  // Incremented by every answer that differs from the previous one.
  std::uint64_t version() const { return version_; }

 private:
  struct Entry {
    HccnTarget target;
    std::map<Kind, Time> due;
  };
  Time due_of(const Entry& entry, Kind kind) const;
  static Question question_of(const HccnTarget& target, Kind kind);

  std::vector<Entry> entries_;
  std::map<Kind, Time> paused_until_;
  std::map<int, HccnAnswers> answers_;
  std::uint64_t version_ = 0;
};

}  // namespace chipweave::agent
