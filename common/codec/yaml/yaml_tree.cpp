#include "common/codec/yaml/yaml_tree.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

std::string at_line(int zero_based) { return "line " + std::to_string(zero_based + 1); }

template <std::size_t N>
bool one_of(const std::string& text, const std::array<const char*, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

// YAML 1.1 booleans as the library inside kubectl resolves them, except that a single y or n stays
// a string.
std::optional<bool> plain_bool(const std::string& text) {
  static constexpr std::array kTrue{"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static constexpr std::array kFalse{"false", "False", "FALSE", "no", "No",
                                     "NO",    "off",   "Off",   "OFF"};
  if (one_of(text, kTrue)) return true;
  if (one_of(text, kFalse)) return false;
  return std::nullopt;
}

// Digits of `base` with an optional sign, as a JSON number; nullopt for anything else, or above 64
// bits.
std::optional<std::string> integer_text(std::string_view digits, bool negative, int base) {
  const auto value = parse_number<std::uint64_t>(digits, base);
  if (!value) return std::nullopt;
  if (!negative) return std::to_string(*value);
  if (*value > (std::uint64_t{1} << 63U)) return std::nullopt;
  return std::to_string(static_cast<std::int64_t>(0 - *value));
}

std::optional<std::string> plain_integer(const std::string& text) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative || (!digits.empty() && digits.front() == '+')) digits.remove_prefix(1);
  if (digits.size() > 2 && digits[0] == '0') {
    if (digits[1] == 'x' || digits[1] == 'X') {
      return integer_text(digits.substr(2), negative, 16);
    }
    if (digits[1] == 'o') return integer_text(digits.substr(2), negative, 8);
    if (digits[1] == 'b') return integer_text(digits.substr(2), negative, 2);
  }
  // A leading zero means octal to kubectl (defaultMode: 0640), so 089 is not a number.
  if (digits.size() > 1 && digits[0] == '0') return integer_text(digits.substr(1), negative, 8);
  return integer_text(digits, negative, 10);
}

std::optional<double> plain_float(const std::string& text) {
  const bool shaped = !text.empty() &&
                      text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                      text.find_first_of("0123456789") != std::string::npos;
  if (!shaped) return std::nullopt;
  const auto value =
      parse_number<double>(std::string_view(text).substr(text.front() == '+' ? 1 : 0));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// Writes a boolean or number; false, with nothing written, for anything else.
bool write_typed_scalar(const std::string& text, JsonWriter& out) {
  if (const auto flag = plain_bool(text)) {
    out.boolean(*flag);
  } else if (const auto integer = plain_integer(text)) {
    out.raw(*integer);
  } else if (const auto number = plain_float(text)) {
    out.number(*number);
  } else {
    return false;
  }
  return true;
}

// Thrown through the library's parser, caught in count_values.
struct Refused {
  Error error;
};

// Counts the parser's events, which cost little memory, before a tree is built, whose nodes are
// a few hundred times larger than their text. Counts values only: a key belongs to its value.
class ValueCounter final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    count(mark);
    open_.push_back(Open::sequence);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    count(mark);
    open_.push_back(Open::map_key);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  enum class Open { sequence, map_key, map_value };

  void count(const YAML::Mark& mark) {
    if (!open_.empty() && open_.back() != Open::sequence) {
      const bool key = open_.back() == Open::map_key;
      open_.back() = key ? Open::map_value : Open::map_key;
      if (key) return;
    }
    if (++values_ <= limits::kMaxManifestValues) return;
    throw Refused{make_error(Errc::limit_exceeded,
                             at_line(mark.line) + ": the file has more than " +
                                 std::to_string(limits::kMaxManifestValues) + " values; split it")};
  }

  std::vector<Open> open_;
  std::size_t values_ = 0;
};

// Throws what the library throws.
Result<void> count_values(std::string_view text) {
  std::istringstream in{std::string(text)};
  YAML::Parser parser(in);
  ValueCounter counter;
  try {
    while (parser.HandleNextDocument(counter)) {
    }
  } catch (Refused& refused) {
    return std::move(refused.error);
  }
  return {};
}

// Writes documents of one file as JSON; they share one budget, so that many small alias bombs count
// as one large one.
class Converter {
 public:
  Result<std::string> convert(const YAML::Node& root) {
    out_ = JsonWriter();
    lines_.clear();
    if (auto written = value(root, 0, root.Mark().line); !written) {
      return std::move(written).error();
    }
    return out_.take();
  }
  // Of the values of the last document, in the order of its JSON text.
  std::vector<int> take_lines() { return std::exchange(lines_, {}); }

 private:
  static constexpr const char* kMergeTakes = "<< takes a map or a list of maps";

  Result<void> value(const YAML::Node& node, int depth, int line) {
    if (auto counted = count(node, depth); !counted) return counted;
    lines_.push_back(line + 1);
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        out_.raw("null");
        return {};
      case YAML::NodeType::Scalar:
        return scalar(node);
      case YAML::NodeType::Sequence:
        return sequence(node, depth);
      case YAML::NodeType::Map:
        return map(node, depth);
    }
    return fail(node, Errc::internal, "unknown kind of YAML node");
  }

  Result<void> count(const YAML::Node& node, int depth) {
    if (depth >= limits::kMaxJsonDepth && !node.IsScalar()) {
      return fail(node, Errc::limit_exceeded,
                  "nested deeper than " + std::to_string(limits::kMaxJsonDepth) +
                      " levels (or an alias inside its own anchor)");
    }
    if (++values_ <= limits::kMaxManifestValues) return {};
    return fail(node, Errc::limit_exceeded,
                "the file unfolds to more than " + std::to_string(limits::kMaxManifestValues) +
                    " values; use fewer aliases or split it");
  }

  Result<void> spend(const YAML::Node& node, std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= limits::kMaxManifestExpandedBytes) return {};
    return fail(node, Errc::limit_exceeded, "the file's aliases unfold to too much text; split it");
  }

  static Error fail(const YAML::Node& node, Errc code, const std::string& message) {
    return make_error(code, at_line(node.Mark().line) + ": " + message);
  }

  Result<void> scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (auto spent = spend(node, text.size()); !spent) return spent;
    const std::string& tag = node.Tag();
    if (tag == "!" || tag == "tag:yaml.org,2002:str") {
      out_.string(text);
    } else if (tag == "?" || tag.empty()) {
      if (!write_typed_scalar(text, out_)) out_.string(text);
    } else {
      const bool typed = tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:float" ||
                         tag == "tag:yaml.org,2002:bool";
      if (!typed || !write_typed_scalar(text, out_)) {
        return fail(node, Errc::invalid_argument, "the tag \"" + tag + "\" cannot be used here");
      }
    }
    return {};
  }

  Result<void> sequence(const YAML::Node& node, int depth) {
    out_.begin_array();
    for (const auto& item : node) {
      if (auto written = value(item, depth + 1, item.Mark().line); !written) return written;
    }
    out_.end_array();
    return {};
  }

  Result<void> map(const YAML::Node& node, int depth) {
    std::set<std::string> written;
    out_.begin_object();
    if (auto done = members(node, depth, written); !done) return done;
    out_.end_object();
    return {};
  }

  // Members whose key is not written yet.
  Result<void> members(const YAML::Node& node, int depth, std::set<std::string>& written) {
    std::set<std::string> own;
    std::vector<YAML::Node> merges;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        return fail(entry.first, Errc::invalid_argument, "a key must be a plain word");
      }
      const std::string& key = entry.first.Scalar();
      if (auto spent = spend(entry.first, key.size()); !spent) return spent;
      if (key == "<<" && entry.first.Tag() == "?") {
        merges.push_back(entry.second);
        continue;
      }
      if (!own.insert(key).second) {
        return fail(entry.first, Errc::invalid_argument, "key \"" + key + "\" is given twice");
      }
      if (!written.insert(key).second) continue;
      out_.key(key);
      if (auto done = value(entry.second, depth + 1, entry.first.Mark().line); !done) return done;
    }
    for (const YAML::Node& source : merges) {
      if (auto done = merge(source, depth + 1, written); !done) return done;
    }
    return {};
  }

  // `<<: *a` or `<<: [*a, *b]`: the first source wins.
  Result<void> merge(const YAML::Node& source, int depth, std::set<std::string>& written) {
    if (auto counted = count(source, depth); !counted) return counted;
    if (source.IsMap()) return members(source, depth, written);
    if (!source.IsSequence()) return fail(source, Errc::invalid_argument, kMergeTakes);
    for (const auto& item : source) {
      if (!item.IsMap()) return fail(item, Errc::invalid_argument, kMergeTakes);
      if (auto done = merge(item, depth + 1, written); !done) return done;
    }
    return {};
  }

  JsonWriter out_;
  std::vector<int> lines_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

// The JSON comes from the converter; it can only be too large, because of escapes.
Result<JsonTree> tree_of(std::string json, const YAML::Node& root) {
  auto parsed = JsonTree::parse(std::move(json), 4 * limits::kMaxManifestExpandedBytes);
  if (auto* tree = std::get_if<JsonTree>(&parsed)) return std::move(*tree);
  return make_error(Errc::limit_exceeded,
                    at_line(root.Mark().line) + ": " + std::get<JsonSyntaxError>(parsed).message);
}

}  // namespace

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text) {
  if (text.size() > limits::kMaxManifestBytes) {
    return make_error(Errc::limit_exceeded, "larger than " +
                                                std::to_string(limits::kMaxManifestBytes >> 20U) +
                                                " MiB, the limit of one manifest file; split it");
  }
  if (text.find('\0') != std::string_view::npos || text.starts_with("\xFF\xFE") ||
      text.starts_with("\xFE\xFF")) {
    return make_error(Errc::invalid_argument, "not UTF-8 text; is it a YAML file?");
  }
  if (const std::size_t at = find_invalid_utf8(text); at != std::string_view::npos) {
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return make_error(Errc::invalid_argument,
                      at_line(static_cast<int>(line)) + ": not valid UTF-8 text");
  }
  try {
    if (auto counted = count_values(text); !counted) return std::move(counted).error();
    std::vector<YamlDocument> documents;
    Converter converter;
    for (const YAML::Node& root : YAML::LoadAll(std::string(text))) {
      if (!root.IsDefined() || root.IsNull()) continue;
      Result<std::string> json = converter.convert(root);
      if (!json) return std::move(json).error();
      Result<JsonTree> tree = tree_of(*std::move(json), root);
      if (!tree) return std::move(tree).error();
      documents.push_back({root.Mark().line + 1, *std::move(tree), converter.take_lines()});
    }
    return documents;
  } catch (const YAML::DeepRecursion& error) {  // whose own text is "bad file"
    return make_error(Errc::limit_exceeded, at_line(error.mark.line) + ": nested too deeply");
  } catch (const YAML::Exception& error) {
    const bool placed = error.mark.line >= 0;
    return make_error(Errc::invalid_argument,
                      (placed ? at_line(error.mark.line) + ": " : std::string()) +
                          "not valid YAML: " + error.msg);
  }
}

}  // namespace chipweave::codec
