#include "common/codec/config/flat_yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"

namespace chipweave::codec {
namespace {

Error at_line(int line, const std::string& what) {
  return make_error(Errc::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

// Thrown through the library's parser, caught in read_flat_yaml.
struct Refused {
  Error error;
};

// Handles the parser's events, so that nested values and aliases are never built.
class FlatReader final : public YAML::EventHandler {
 public:
  std::vector<ConfigEntry> entries;

  void OnDocumentStart(const YAML::Mark&) override {
    if (++documents_ > 1) {
      throw Refused{make_error(Errc::invalid_argument, "expected one YAML document, got several")};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    no_anchor(mark, anchor);
    if (place_ != Place::outside) misplaced(mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, kNoAnchors); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    no_anchor(mark, anchor);
    switch (place_) {
      case Place::outside:
        return misplaced(mark);
      case Place::key:
        return begin(mark, value);
      case Place::value:
        place_ = Place::key;
        break;
      case Place::list:
        break;
    }
    entries.back().values.push_back(value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    no_anchor(mark, anchor);
    if (place_ != Place::value) misplaced(mark);
    entries.back().list = true;
    place_ = Place::list;
  }
  void OnSequenceEnd() override { place_ = Place::key; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    no_anchor(mark, anchor);
    if (place_ != Place::outside) misplaced(mark);
    place_ = Place::key;
  }
  void OnMapEnd() override { place_ = Place::outside; }

 private:
  enum class Place { outside, key, value, list };
  static constexpr const char* kNoAnchors = "expected plain values, got an anchor or alias";

  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& what) {
    throw Refused{at_line(mark.line + 1, what)};
  }
  static void no_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) refuse(mark, kNoAnchors);
  }
  [[noreturn]] void misplaced(const YAML::Mark& mark) const {
    switch (place_) {
      case Place::outside:
        refuse(mark, "the file must be a mapping of keys to values");
      case Place::key:
        refuse(mark, "a key must be a plain value");
      case Place::value:
        throw Refused{at_line(entries.back().line, in_quotes(entries.back().key) +
                                                       " must be a value or a list of values")};
      case Place::list:
        break;
    }
    refuse(mark, in_quotes(entries.back().key) + " must be a list of plain values");
  }
  void begin(const YAML::Mark& mark, const std::string& key) {
    if (!seen_.insert(key).second)
      refuse(mark, "expected each key once, got " + in_quotes(key) + " twice");
    ConfigEntry entry;
    entry.key = key;
    entry.line = mark.line + 1;
    entries.push_back(std::move(entry));
    place_ = Place::value;
  }

  Place place_ = Place::outside;
  int documents_ = 0;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::vector<ConfigEntry>> read_flat_yaml(std::string_view text) {
  if (text.size() > limits::kMaxConfigBytes) {
    return make_error(Errc::limit_exceeded, "a configuration must be at most " +
                                                std::to_string(limits::kMaxConfigBytes) + " bytes");
  }
  std::istringstream in{std::string(text)};
  FlatReader reader;
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(reader)) {
    }
    return std::move(reader.entries);
  } catch (Refused& refused) {
    return std::move(refused.error);
  } catch (const YAML::Exception& e) {
    return at_line(e.mark.line + 1, e.msg);
  }
}

Result<std::map<std::string, std::string>> parse_flat_yaml(
    std::string_view text, const std::vector<std::string>& known_keys) {
  auto entries = read_flat_yaml(text);
  if (!entries) return std::move(entries).error();
  std::map<std::string, std::string> out;
  for (const ConfigEntry& entry : *entries) {
    if (std::find(known_keys.begin(), known_keys.end(), entry.key) == known_keys.end()) {
      return at_line(entry.line,
                     unknown_name("key", entry.key, {known_keys.begin(), known_keys.end()}));
    }
    std::string& joined = out[entry.key];
    for (const std::string& value : entry.values) joined += (joined.empty() ? "" : ",") + value;
  }
  return out;
}

}  // namespace chipweave::codec
