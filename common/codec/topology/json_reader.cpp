#include "common/codec/topology/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/near_names.hpp"
#include "common/codec/topology/text_quote.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMostProblems = 8;

// Thrown out of the parser's callback, caught in parse_strict_json.
struct Refused {
  Error error;
};

// Follows the parser's events to know where it is; refuses depth and duplicate keys.
class Guard {
 public:
  void on(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        if (depth >= limits::kMaxJsonDepth) {
          throw Refused{make_error(
              Errc::limit_exceeded,
              where() + "nested deeper than " + std::to_string(limits::kMaxJsonDepth) + " levels")};
        }
        frames_.push_back(Frame{event == Event::object_start, {}, {}, 0});
        return;
      case Event::key:
        on_key(parsed.get_ref<const std::string&>());
        return;
      case Event::object_end:
      case Event::array_end:
        frames_.pop_back();
        count();
        return;
      case Event::value:
        count();
        return;
    }
  }

 private:
  struct Frame {
    bool is_object;
    std::set<std::string, std::less<>> keys;
    std::string key;
    std::size_t items;
  };

  void on_key(const std::string& key) {
    Frame& frame = frames_.back();
    frame.key.clear();
    if (!frame.keys.insert(key).second) {
      throw Refused{make_error(Errc::invalid_argument, where() + "key " + quoted_excerpt(key) +
                                                           " appears twice in one object")};
    }
    frame.key = key;
  }
  void count() {
    if (!frames_.empty()) ++frames_.back().items;
  }
  // "links[3]: ", empty at the top.
  std::string where() const {
    std::string out;
    for (const Frame& f : frames_) {
      if (!f.is_object) {
        out += "[" + std::to_string(f.items) + "]";
      } else if (!f.key.empty()) {
        if (!out.empty()) out += ".";
        out += shortened(f.key);
      }
    }
    return out.empty() ? out : out + ": ";
  }

  std::vector<Frame> frames_;
};

// nlohmann: "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error …".
Error syntax_error(std::string_view what) {
  if (const auto bracket = what.find("] "); bracket != std::string_view::npos) {
    what.remove_prefix(bracket + 2);
  }
  constexpr std::string_view kAt = "parse error at ";
  if (what.substr(0, kAt.size()) == kAt) what.remove_prefix(kAt.size());
  std::string text = "not valid JSON: ";
  for (const char c : what.substr(0, 300)) text += c < 0x20 || c == 0x7f ? '?' : c;  // ASCII only
  return make_error(Errc::invalid_argument, std::move(text));
}

std::string type_of(const Json& value) {
  if (value.is_number_float()) return "the number " + value.dump();
  if (value.is_number()) return "the integer " + value.dump();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return "the text " + quoted_excerpt(value.get_ref<const std::string&>());
  return value.is_object() ? "an object" : (value.is_array() ? "a list" : "null");
}

}  // namespace

Result<Json> parse_strict_json(std::string_view text) {
  if (text.size() > limits::kMaxTopologyFileBytes) {
    return make_error(
        Errc::limit_exceeded,
        "larger than " + std::to_string(limits::kMaxTopologyFileBytes >> 20U) + " MiB");
  }
  Guard guard;
  const auto watch = [&guard](int depth, Json::parse_event_t event, Json& parsed) {
    guard.on(depth, event, parsed);
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (Refused& refused) {
    return std::move(refused.error);
  } catch (const Json::exception& e) {
    return syntax_error(e.what());
  }
}

void JsonProblems::add(const std::string& path, const std::string& text) {
  ++total_;
  if (list_.size() < kMostProblems) list_.push_back(path.empty() ? text : path + ": " + text);
}

Error JsonProblems::error() const {
  std::string out;
  for (const std::string& p : list_) out += (out.empty() ? "" : "; ") + p;
  if (total_ > list_.size()) out += "; and " + std::to_string(total_ - list_.size()) + " more";
  return make_error(Errc::invalid_argument, std::move(out));
}

JsonObject::JsonObject(const Json& value, std::string path,
                       std::initializer_list<std::string_view> keys, JsonProblems& problems)
    : value_(value), path_(std::move(path)), problems_(problems) {
  if (!value_.is_object()) {
    problems_.add(path_, "must be an object, not " + type_of(value_));
    return;
  }
  for (const auto& [key, ignored] : value_.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      problems_.add(path_, "unknown key " + quoted_excerpt(key) +
                               did_you_mean(key, std::vector<std::string_view>(keys)));
    }
  }
}

const Json* JsonObject::find(std::string_view key) const {
  if (!value_.is_object()) return nullptr;
  const auto it = value_.find(std::string(key));
  return it == value_.end() ? nullptr : &*it;
}

std::string JsonObject::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

std::optional<std::string> JsonObject::text(std::string_view key) const {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_string()) {
    problems_.add(path(key), "must be a text, not " + type_of(*v));
    return std::nullopt;
  }
  return v->get<std::string>();
}

std::optional<std::int64_t> as_integer(const Json& value, const std::string& path, std::int64_t min,
                                       std::int64_t max, JsonProblems& problems) {
  const std::string range = std::to_string(min) + " to " + std::to_string(max);
  if (!value.is_number_integer()) {
    problems.add(path, "must be an integer (" + range + "), not " + type_of(value));
    return std::nullopt;
  }
  const bool too_big = value.is_number_unsigned() &&
                       value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  if (too_big || value.get<std::int64_t>() < min || value.get<std::int64_t>() > max) {
    problems.add(path, "must be " + range + ", not " + value.dump());
    return std::nullopt;
  }
  return value.get<std::int64_t>();
}

std::optional<double> as_number(const Json& value, const std::string& path,
                                JsonProblems& problems) {
  if (!value.is_number()) {
    problems.add(path, "must be a number, not " + type_of(value));
    return std::nullopt;
  }
  return value.get<double>();
}

std::optional<std::int64_t> JsonObject::integer(std::string_view key, std::int64_t min,
                                                std::int64_t max) const {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  return as_integer(*v, path(key), min, max, problems_);
}

std::optional<double> JsonObject::number(std::string_view key) const {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  return as_number(*v, path(key), problems_);
}

std::optional<bool> JsonObject::flag(std::string_view key) const {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_boolean()) {
    problems_.add(path(key), "must be true or false, not " + type_of(*v));
    return std::nullopt;
  }
  return v->get<bool>();
}

const Json* JsonObject::array(std::string_view key, std::size_t max_items) const {
  const Json* v = find(key);
  if (v == nullptr) return nullptr;
  if (!v->is_array()) {
    problems_.add(path(key), "must be a list, not " + type_of(*v));
    return nullptr;
  }
  if (v->size() > max_items) {
    problems_.add(path(key), std::to_string(v->size()) + " entries, at most " +
                                 std::to_string(max_items) + " are accepted");
    return nullptr;
  }
  return v;
}

void JsonObject::missing(std::string_view key) const {
  if (value_.is_object() && !has(key)) problems_.add(path(key), "missing");
}

std::optional<std::string> JsonObject::require_text(std::string_view key) const {
  missing(key);
  return text(key);
}

std::optional<std::int64_t> JsonObject::require_integer(std::string_view key, std::int64_t min,
                                                        std::int64_t max) const {
  missing(key);
  return integer(key, min, max);
}

}  // namespace chipweave::codec
