#include "common/codec/mindcluster/members.hpp"

#include <utility>

namespace chipweave::codec::mindcluster {
namespace {

std::string at_most(std::size_t most, const char* what) {
  return "has more than " + std::to_string(most) + " " + what;
}

std::string checked_text(const Json& value, const std::string& path, JsonProblems& problems) {
  if (!value.is_string()) {
    problems.add(path, "must be a text");
    return "";
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() <= kMostMemberBytes) return text;
  problems.add(path, at_most(kMostMemberBytes, "bytes"));
  return "";
}

}  // namespace

Members::Members(const Json& value, std::string path, JsonProblems& problems)
    : value_(value), path_(std::move(path)), problems_(problems) {
  if (!value_.is_object()) problems_.add(path_, "must be an object");
}

const Json* Members::find(const char* key) const {
  if (!value_.is_object()) return nullptr;
  const auto it = value_.find(key);
  return it == value_.end() || it->is_null() ? nullptr : &*it;
}

std::string Members::text(const char* key) const {
  const Json* value = find(key);
  return value == nullptr ? "" : checked_text(*value, path(key), problems_);
}

std::vector<std::string> Members::texts(const char* key, std::size_t most) const {
  std::vector<std::string> out;
  for (const Json& value : list(key, most)) {
    out.push_back(
        checked_text(value, path(key) + "[" + std::to_string(out.size()) + "]", problems_));
  }
  return out;
}

const Json& Members::list(const char* key, std::size_t most) const {
  static const Json kNone = Json::array();
  const Json* value = find(key);
  if (value == nullptr) return kNone;
  if (value->is_array() && value->size() <= most) return *value;
  problems_.add(path(key), value->is_array() ? at_most(most, "entries") : "must be a list");
  return kNone;
}

const Json& Members::map(const char* key, std::size_t most) const {
  static const Json kNone = Json::object();
  const Json* value = find(key);
  if (value == nullptr) return kNone;
  if (value->is_object() && value->size() <= most) return *value;
  problems_.add(path(key), value->is_object() ? at_most(most, "entries") : "must be an object");
  return kNone;
}

std::string Members::path(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

std::optional<std::int64_t> Members::ranged(const char* key, std::int64_t min,
                                            std::int64_t max) const {
  const Json* value = find(key);
  return value == nullptr ? std::nullopt : as_integer(*value, path(key), min, max, problems_);
}

Result<Json> parse_text(std::string_view text) {
  return parse_strict_json(text, {kMaxTextBytes, limits::kMaxJsonValues});
}

Error wrong_check_code(const std::string& covered, std::string_view code) {
  const std::string what =
      code.empty() ? "has no CheckCode" : "has a CheckCode that is not that of its " + covered;
  return make_error(Errc::invalid_argument,
                    what +
                        ": it was changed by hand or is of another version; its writer has to "
                        "write it again");
}

}  // namespace chipweave::codec::mindcluster
