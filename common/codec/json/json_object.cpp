#include "common/codec/json/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMostProblems = 8;

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

// Follows the parser's events before anything is built: refuses bad syntax, depth, duplicate keys
// and too many values. The parser's own callback form would do it in one pass, but takes time by
// the square of an object's size.
class Guard : public nlohmann::json_sax<Json> {
 public:
  explicit Guard(std::size_t most_values) : most_values_(most_values) {}
  // What was wrong; to be asked after sax_parse has said false.
  Error error() && { return std::move(error_); }

  bool null() override { return count(); }
  bool boolean(bool /*value*/) override { return count(); }
  bool number_integer(number_integer_t /*value*/) override { return count(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return count(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return count(); }
  bool string(string_t& /*value*/) override { return count(); }
  bool binary(binary_t& /*value*/) override { return count(); }
  bool start_object(std::size_t /*elements*/) override { return open(true); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(false); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    Frame& frame = frames_.back();
    frame.key.clear();
    if (!frame.keys.insert(key).second) {
      return refuse(make_error(Errc::invalid_argument, where() + "key " + quoted_excerpt(key) +
                                                           " appears twice in one object"));
    }
    frame.key = key;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& problem) override {
    return refuse(syntax_error(problem.what()));
  }

 private:
  struct Frame {
    bool is_object;
    std::set<std::string, std::less<>> keys;
    std::string key;
    std::size_t items;
  };

  bool refuse(Error error) {
    error_ = std::move(error);
    return false;
  }
  bool open(bool is_object) {
    if (frames_.size() >= static_cast<std::size_t>(limits::kMaxJsonDepth)) {
      return refuse(make_error(
          Errc::limit_exceeded,
          where() + "nested deeper than " + std::to_string(limits::kMaxJsonDepth) + " levels"));
    }
    frames_.push_back(Frame{is_object, {}, {}, 0});
    return true;
  }
  bool close() {
    frames_.pop_back();
    return count();
  }
  bool count() {
    if (++values_ > most_values_) {
      return refuse(
          make_error(Errc::limit_exceeded,
                     where() + "more than " + std::to_string(most_values_) + " values in all"));
    }
    if (!frames_.empty()) ++frames_.back().items;
    return true;
  }
  // "links[3]: ", empty at the top.
  std::string where() const {
    std::string out;
    for (const Frame& f : frames_) {
      if (!f.is_object) {
        out += "[" + std::to_string(f.items) + "]";
      } else if (!f.key.empty()) {
        if (!out.empty()) out += ".";
        out += shortened(f.key, kMaxQuotedBytes);
      }
    }
    return out.empty() ? out : out + ": ";
  }

  std::vector<Frame> frames_;
  std::size_t most_values_;
  std::size_t values_ = 0;
  Error error_;
};

std::string type_of(const Json& value) {
  if (value.is_number_float()) return "the number " + value.dump();
  if (value.is_number()) return "the integer " + value.dump();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return "the text " + quoted_excerpt(value.get_ref<const std::string&>());
  return value.is_object() ? "an object" : (value.is_array() ? "a list" : "null");
}

}  // namespace

Result<Json> parse_strict_json(std::string_view text, JsonBounds bounds) {
  if (text.size() > bounds.bytes) {
    return make_error(Errc::limit_exceeded,
                      "larger than " + std::to_string(bounds.bytes >> 20U) + " MiB");
  }
  try {
    Guard guard(bounds.values);
    if (!Json::sax_parse(text.begin(), text.end(), &guard)) return std::move(guard).error();
    return Json::parse(text.begin(), text.end());
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
  if (const std::size_t size = v->get_ref<const std::string&>().size();
      size > limits::kMaxFactBytes) {
    problems_.add(path(key), "has " + std::to_string(size) + " bytes, at most " +
                                 std::to_string(limits::kMaxFactBytes) + " are accepted");
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
