// HccnSchedule — what to ask hccn_tool next, and what it answered. No clock, no process, no thread:
// those are HccnWatch's.
//
// The tool is slow and its -lldp slower: the state of links comes first, the switch at their other
// end last and rarely. A question that hung is not asked again for a while, of any device.
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

// One device, and what nobody else says of it.
struct HccnTarget {
  int chip = 0;       // index in the topology
  int number = 0;     // what -i takes: the physical id, on A5 the logical one
  bool flat = false;  // A5: one table tells of all its ports
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
  enum class Kind { link, address, neighbour };  // in the order in which they go first
  static constexpr std::chrono::seconds kLinksEvery{5};
  static constexpr std::chrono::seconds kAddressesEvery{60};
  static constexpr std::chrono::seconds kNeighboursEvery{600};
  static constexpr std::chrono::seconds kPauseAfterHang{600};

  struct Question {
    int chip = 0;
    Kind kind = Kind::link;
    std::vector<std::string> words;  // behind the tool's name
  };

  // Replaces the devices; what is known of those that stay is kept.
  void set_targets(const std::vector<HccnTarget>& targets);
  // nullopt: nothing is due.
  std::optional<Question> next(Time now) const;
  // When something will be; nullopt: never.
  std::optional<Time> due() const;
  void take(const Question& question, const Result<std::string>& output, Time now);

  // By chip; of one that has not answered yet there is none.
  const std::map<int, HccnAnswers>& answers() const { return answers_; }
  // Grows with every answer that differs from the one before.
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
