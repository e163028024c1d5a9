#include "common/codec/json/json_tree.hpp"

#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/stream_reader.hpp"
#include "common/codec/json/syntax_error.hpp"

namespace chipweave::codec {

// Builds a tree from the list of structural characters that simdjson's first stage finds (brackets,
// colons, commas, the first character of every scalar). That stage also rejects invalid UTF-8,
// control characters in strings and unterminated strings; the grammar is checked here. Lives as
// long as one parse().
class JsonTreeBuilder {
 public:
  struct Stop {
    std::size_t offset;
    bool too_deep = false;  // else find_json_syntax_error() says what is wrong
  };

  JsonTreeBuilder(JsonTree& tree, const std::uint32_t* tokens, std::size_t count)
      : tree_(tree),
        text_(tree.document_),
        chars_(tree.document_.data()),
        tokens_(tokens),
        count_(count),
        has_escapes_(text_.find('\\') != text_.npos) {}

  // Throws Stop.
  void build() {
    tree_.nodes_.reserve(count_ / 2 + 1);
    read_value(0);
    if (at_ != count_) throw Stop{offset()};
    // Names are recorded after those inside their values.
    std::sort(tree_.decoded_names_.begin(), tree_.decoded_names_.end());
    std::sort(tree_.repeated_.begin(), tree_.repeated_.end());
  }

 private:
  using Kind = JsonTree::Kind;
  using Id = JsonTree::Id;
  // More members than this are looked up by hash.
  static constexpr std::size_t kFewMembers = 16;

  std::size_t offset() const { return at_ < count_ ? tokens_[at_] : text_.size(); }
  char peek() const { return at_ < count_ ? chars_[tokens_[at_]] : '\0'; }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  // The scalar that begins here extends to the next structural character, without trailing blanks.
  std::string_view take_token() {
    const std::size_t begin = tokens_[at_++];
    std::size_t end = offset();
    while (is_space(chars_[end - 1])) --end;
    return {chars_ + begin, end - begin};
  }

  // There are at most as many values as structural characters, so the array is never reallocated.
  Id add(std::size_t begin, std::size_t end, Kind kind) {
    const Id id = static_cast<Id>(tree_.nodes_.size());
    tree_.nodes_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), 0,
                            0, id + 1, kind, false, false});
    return id;
  }

  Id read_value(int depth) {
    const char c = peek();
    if (c != '{' && c != '[') return read_scalar();
    if (depth >= limits::kMaxJsonDepth) throw Stop{offset(), true};
    const Id id = add(offset(), 0, c == '{' ? Kind::object : Kind::array);
    ++at_;
    if (c == '{') {
      read_members(depth);
    } else {
      read_elements(depth);
    }
    tree_.nodes_[id].end = tokens_[at_ - 1] + 1;
    tree_.nodes_[id].after = static_cast<Id>(tree_.nodes_.size());
    return id;
  }

  static bool is_string(std::string_view token) {
    return token.size() >= 2 && token.front() == '"' && token.back() == '"';
  }

  Id read_scalar() {
    if (at_ == count_) throw Stop{offset()};
    const std::string_view token = take_token();
    const auto begin = static_cast<std::size_t>(token.data() - chars_);
    Kind kind = Kind::string;
    if (!is_string(token)) {
      kind = token == "null" ? Kind::null : Kind::number;
      if (token == "true" || token == "false") kind = Kind::boolean;
      if (kind == Kind::number && !json_stream::is_number(token)) throw Stop{begin};
    }
    const Id id = add(begin, begin + token.size(), kind);
    if (has_escapes_ && kind == Kind::string && token.find('\\') != token.npos) {
      tree_.nodes_[id].escapes = true;
      tree_.decoded_.emplace_back(id, decoded(token));
    }
    return id;
  }

  // After a value of a container: true at a comma, false at its end.
  bool more(char close) {
    const char c = peek();
    if (c != ',' && c != close) throw Stop{offset()};
    ++at_;
    return c == ',';
  }

  void read_elements(int depth) {
    if (peek() == ']') {
      ++at_;
      return;
    }
    do {
      read_value(depth + 1);
    } while (more(']'));
  }

  void read_members(int depth) {
    if (peek() == '}') {
      ++at_;
      return;
    }
    const std::size_t first_name = names_.size();
    std::unordered_set<std::string_view> many;
    do {
      const std::size_t begin = offset();
      const std::string_view token = at_ < count_ ? take_token() : std::string_view();
      if (!is_string(token) || peek() != ':') throw Stop{begin};
      ++at_;
      std::string_view name = token.substr(1, token.size() - 2);
      const bool escapes = has_escapes_ && name.find('\\') != name.npos;
      if (escapes) name = decoded_names_.emplace_back(decoded(token));
      const Id id = read_value(depth + 1);
      JsonTree::Node& node = tree_.nodes_[id];
      node.name_begin = static_cast<std::uint32_t>(begin + 1);
      node.name_end = static_cast<std::uint32_t>(begin + token.size() - 1);
      node.name_escapes = escapes;
      if (escapes) tree_.decoded_names_.emplace_back(id, name);
      if (!is_new(name, first_name, many)) tree_.repeated_.push_back(id);
      names_.push_back(name);
    } while (more('}'));
    names_.resize(first_name);
  }

  // Strings with escapes are rare; a library decodes them.
  std::string decoded(std::string_view token) const {
    const auto json = nlohmann::json::parse(token, nullptr, false);
    if (!json.is_string()) {
      throw Stop{static_cast<std::size_t>(token.data() - text_.data())};
    }
    return json.get<std::string>();
  }

  // Objects of rank tables have few members, which are compared pairwise; names of larger objects
  // are hashed.
  bool is_new(std::string_view name, std::size_t first_name,
              std::unordered_set<std::string_view>& many) const {
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first_name);
    if (names_.size() - first_name <= kFewMembers) {
      // Most names differ in their last letters: device_id, device_ip.
      return std::none_of(begin, names_.end(), [&](std::string_view other) {
        return other.size() == name.size() && (name.empty() || other.back() == name.back()) &&
               other == name;
      });
    }
    if (many.empty()) many.insert(begin, names_.end());
    return many.insert(name).second;
  }

  JsonTree& tree_;
  std::string_view text_;
  const char* chars_;  // of text_
  const std::uint32_t* tokens_;
  std::size_t count_;
  std::size_t at_ = 0;  // the next token
  bool has_escapes_;
  std::vector<std::string_view> names_;    // of the open objects, innermost last
  std::deque<std::string> decoded_names_;  // those with escapes
};

namespace {

// The decoded text of a node; nullptr if it has no escapes.
const std::string* decoded_at(const std::vector<std::pair<JsonTree::Id, std::string>>& list,
                              JsonTree::Id id) {
  const auto at =
      std::lower_bound(list.begin(), list.end(), id,
                       [](const auto& entry, JsonTree::Id i) { return entry.first < i; });
  return at != list.end() && at->first == id ? &at->second : nullptr;
}

constexpr std::size_t kMaxPathStep = 100;  // bytes of a name that a path shows

// RFC 6901: ~1 is a slash, ~0 a tilde.
std::string unescaped_step(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escape = step[i] == '~' && i + 1 < step.size();
    if (escape && step[i + 1] == '1') {
      out += '/';
    } else if (escape && step[i + 1] == '0') {
      out += '~';
    } else {
      out += step[i];
      continue;
    }
    ++i;
  }
  return out;
}

}  // namespace

std::variant<JsonTree, JsonSyntaxError> JsonTree::parse(std::string text, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    return JsonSyntaxError{0, "larger than " + std::to_string(max_bytes >> 20U) + " MiB", {}, true};
  }
  JsonTree tree;
  tree.document_ = std::move(text);
  const std::size_t size = tree.document_.size();
  tree.document_.reserve(size + simdjson::SIMDJSON_PADDING);
  std::size_t stopped = size;
  bool too_deep = false;
  try {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
    const simdjson::implementation* simd = simdjson::get_active_implementation();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(tree.document_.data());
    if (simd->create_dom_parser_implementation(size, 1, stage) == simdjson::SUCCESS &&
        stage->stage1(bytes, size, simdjson::stage1_mode::regular) == simdjson::SUCCESS) {
      JsonTreeBuilder(tree, stage->structural_indexes.get(), stage->n_structural_indexes).build();
      return tree;
    }
  } catch (const JsonTreeBuilder::Stop& stop) {
    stopped = stop.offset;
    too_deep = stop.too_deep;
  }
  JsonSyntaxError mistake = find_json_syntax_error(tree.document_, stopped);
  if (too_deep) {
    mistake = {stopped,
               "nested deeper than " + std::to_string(limits::kMaxJsonDepth) + " levels",
               {},
               true};
  }
  mistake.position = LineIndex(tree.document_).at(mistake.offset);
  return mistake;
}

std::string_view JsonTree::decoded_text(Id id) const { return *decoded_at(decoded_, id); }
std::string_view JsonTree::decoded_name(Id id) const { return *decoded_at(decoded_names_, id); }

JsonTree::Id JsonTree::member(Id object, std::string_view wanted) const {
  if (!is(object, Kind::object)) return kNone;
  for (Id child = first(object); child != kNone; child = next(object, child)) {
    if (name(child) == wanted) return child;
  }
  return kNone;
}

std::size_t JsonTree::child_count(Id container) const {
  if (!is(container, Kind::object) && !is(container, Kind::array)) return 0;
  std::size_t out = 0;
  for (Id child = first(container); child != kNone; child = next(container, child)) ++out;
  return out;
}

template <class Step>
void JsonTree::each_step(Id from, Id to, const Step& step) const {
  for (Id container = from; container != to;) {
    std::size_t index = 0;
    Id child = first(container);
    while (nodes_[child].after <= to) {
      child = next(container, child);
      ++index;
    }
    step(is(container, Kind::array), index, name(child));
    container = child;
  }
}

std::string JsonTree::pointer(Id id) const {
  std::string out;
  each_step(root(), id, [&](bool element, std::size_t index, std::string_view name) {
    out += '/' + (element ? std::to_string(index) : escaped_step(name));
  });
  return out;
}

std::string JsonTree::escaped_step(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string JsonTree::path(Id id, Id base) const {
  std::string out;
  each_step(base, id, [&](bool element, std::size_t index, std::string_view name) {
    const std::string step = element ? "[" + std::to_string(index) + "]" : path_step(name);
    if (!out.empty() && step.front() != '[') out += '.';
    out += step;
  });
  return out;
}

std::string JsonTree::path_step(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= kMaxPathStep &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-';
                     });
  if (plain) return std::string(name);
  return "[\"" + printable(with_dots(name, kMaxPathStep)) + "\"]";
}

JsonTree::Id JsonTree::at(std::string_view pointer) const {
  Id id = root();
  while (!pointer.empty() && id != kNone) {
    if (pointer.front() != '/') return kNone;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string step = unescaped_step(pointer.substr(0, end));
    pointer.remove_prefix(end);
    if (is(id, Kind::array)) {
      std::size_t index = 0;
      Id child = first(id);
      while (child != kNone && std::to_string(index) != step) {
        child = next(id, child);
        ++index;
      }
      id = child;
    } else {
      id = member(id, step);
    }
  }
  return id;
}

LineIndex::LineIndex(std::string_view text) {
  starts_.push_back(0);
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    starts_.push_back(at + 1);
  }
}

std::string TextPosition::text() const { return concat("line ", line, ", column ", column); }

TextPosition LineIndex::at(std::size_t offset) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(behind - starts_.begin());
  return {line, offset - starts_[line - 1] + 1};
}

}  // namespace chipweave::codec
