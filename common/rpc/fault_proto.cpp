#include "common/rpc/fault_proto.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"
#include "common/rpc/enum_table.hpp"

namespace chipweave::rpc {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;

constexpr EnumTable<Effect, v1::FaultEffect, 4> kEffects = {{
    {Effect::note, v1::FAULT_EFFECT_NOTE},
    {Effect::unusable, v1::FAULT_EFFECT_UNUSABLE},
    {Effect::network, v1::FAULT_EFFECT_NETWORK},
    {Effect::link, v1::FAULT_EFFECT_LINK},
}};

// Receivers reject a whole message because of one invalid UTF-8 byte.
std::string clean(const std::string& text) {
  return with_dots(plain_utf8(text), domain::kMaxFaultTextBytes);
}

std::int64_t moment(std::int64_t unix_ms) {
  return std::clamp<std::int64_t>(unix_ms, 0, domain::kLatestFaultTime);
}

void write(const Fault& fault, v1::Fault& to) {
  to.set_code(clean(fault.code));
  to.set_effect(theirs_of(kEffects, fault.effect).value_or(v1::FAULT_EFFECT_NOTE));
  if (fault.chip) to.set_chip(fault.chip->value);
  if (fault.peer) to.set_peer(fault.peer->value);
  if (fault.port) to.set_port(*fault.port);
  to.set_part(clean(fault.part));
  to.set_lanes(std::clamp(fault.lanes, 0, limits::kMaxLanes));
  to.set_text(clean(fault.text));
  to.set_since_unix_ms(moment(fault.since));
  to.set_until_reset(fault.held_until == domain::kHeldUntilReset);
  to.set_held_until_unix_ms(moment(fault.held_until));
}

// Reads the fields of one fault and keeps the first that is wrong.
class Reader {
 public:
  explicit Reader(std::string at) : at_(std::move(at)) {}

  std::string text(const std::string& value, const char* field) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (value.size() > domain::kMaxFaultTextBytes) {
      fail(Errc::limit_exceeded, field,
           " bytes: " + std::to_string(value.size()) + ", at most " +
               std::to_string(domain::kMaxFaultTextBytes) + " are accepted");
    } else if (std::any_of(value.begin(), value.end(), control)) {
      fail(Errc::invalid_argument, field, " has control characters");
    }
    return value;
  }
  std::string required_text(const std::string& value, const char* field) {
    if (value.empty()) fail(Errc::invalid_argument, field, " is missing");
    return text(value, field);
  }
  template <class Number>
  Number number(Number value, Number most, const char* field) {
    if (value < 0 || value > most) {
      fail(Errc::invalid_argument, field,
           " is " + std::to_string(value) + ", must be between 0 and " + std::to_string(most));
    }
    return value;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void fail(Errc code, const char* field, const std::string& why) {
    if (!error_) error_ = make_error(code, at_ + "." + field + why);
  }
  std::string at_;
  std::optional<Error> error_;
};

Fault read(const v1::Fault& m, Reader& reader) {
  Fault out;
  out.code = reader.required_text(m.code(), "code");
  // An unknown effect, of an agent of another version, must not make its node unusable.
  out.effect = ours_of(kEffects, m.effect()).value_or(Effect::note);
  if (m.has_chip()) out.chip = ChipIndex{reader.number(m.chip(), limits::kMaxChipIndex, "chip")};
  if (m.has_peer()) out.peer = ChipIndex{reader.number(m.peer(), limits::kMaxChipIndex, "peer")};
  if (m.has_port()) out.port = reader.number(m.port(), limits::kMaxChipIndex, "port");
  out.part = reader.text(m.part(), "part");
  out.lanes = reader.number(m.lanes(), limits::kMaxLanes, "lanes");
  out.text = reader.text(m.text(), "text");
  out.since =
      reader.number<std::int64_t>(m.since_unix_ms(), domain::kLatestFaultTime, "since_unix_ms");
  out.held_until = reader.number<std::int64_t>(m.held_until_unix_ms(), domain::kLatestFaultTime,
                                               "held_until_unix_ms");
  if (m.until_reset()) out.held_until = domain::kHeldUntilReset;
  return out;
}

}  // namespace

v1::FaultList to_proto(const std::vector<Fault>& faults) {
  v1::FaultList out;
  const std::size_t count = std::min(faults.size(), domain::kMaxReportedFaults);
  for (std::size_t i = 0; i < count; ++i) write(faults[i], *out.add_faults());
  return out;
}

Result<std::vector<Fault>> from_proto(const v1::FaultList& message) {
  const auto count = static_cast<std::size_t>(message.faults_size());
  if (count > domain::kMaxReportedFaults) {
    return make_error(Errc::limit_exceeded, "faults: " + std::to_string(count) + ", at most " +
                                                std::to_string(domain::kMaxReportedFaults) +
                                                " are accepted");
  }
  std::vector<Fault> out;
  for (const v1::Fault& fault : message.faults()) {
    Reader reader("faults[" + std::to_string(out.size()) + "]");
    out.push_back(read(fault, reader));
    if (reader.error()) return *reader.error();
  }
  return out;
}

}  // namespace chipweave::rpc
