#include "common/codec/ranktable/json_tree.hpp"

#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/codec/kube/od_json.hpp"
#include "common/codec/ranktable/json_mistake.hpp"

namespace chipweave::codec::ranktable {

namespace od = simdjson::ondemand;

// Walks a document once and fills a tree. Lives as long as one parse().
class JsonTreeBuilder {
 public:
  explicit JsonTreeBuilder(JsonTree& tree) : tree_(tree) {}

  // Throws simdjson_error or Stop.
  void read(od::document& document) {
    od::value value = document.get_value();
    add(value, 0);
  }
  struct Stop {
    std::size_t offset;
    const char* message;
  };

 private:
  using Kind = JsonTree::Kind;
  using Id = JsonTree::Id;
  // More members than this are looked up by hash.
  static constexpr std::size_t kFewMembers = 16;

  std::uint32_t offset_of(const char* at) const {
    return static_cast<std::uint32_t>(at - tree_.document_.data());
  }

  Id add(od::value& value, int depth) {
    const Id id = static_cast<Id>(tree_.nodes_.size());
    const std::string_view token = value.raw_json_token();
    const std::uint32_t begin = offset_of(token.data());
    tree_.nodes_.push_back({begin, begin, 0, 0, id + 1, Kind::null, false, false});
    if (depth > limits::kMaxJsonDepth) throw Stop{begin, "brackets are nested too deep"};
    switch (static_cast<od::json_type>(value.type())) {
      case od::json_type::object:
        tree_.nodes_[id].kind = Kind::object;
        add_members(value.get_object(), depth);
        break;
      case od::json_type::array:
        tree_.nodes_[id].kind = Kind::array;
        for (auto element : od::array(value.get_array())) {
          od::value child = element.value();
          add(child, depth + 1);
        }
        break;
      default:
        add_scalar(id, value);
        return id;
    }
    close(id);
    return id;
  }

  // The bracket that ends a container is the first byte that is no space behind its last child.
  void close(Id id) {
    JsonTree::Node& node = tree_.nodes_[id];
    node.after = static_cast<Id>(tree_.nodes_.size());
    std::uint32_t at = node.after == id + 1 ? node.begin + 1 : last_child_end_;
    while (at < tree_.document_.size() && is_space(tree_.document_[at])) ++at;
    node.end = std::min(at + 1, static_cast<std::uint32_t>(tree_.document_.size()));
    last_child_end_ = node.end;
  }

  void add_members(od::object members, int depth) {
    const std::size_t first_name = names_.size();
    std::unordered_set<std::string_view> many;
    for (auto field : members) {
      const char* const begin = od::raw_json_string(field.key()).raw();
      const char* end = begin;
      while (*end != '"') end += *end == '\\' ? 2 : 1;
      std::string_view name(begin, static_cast<std::size_t>(end - begin));
      const bool escapes = name.find('\\') != name.npos;
      if (escapes) name = decoded_names_.emplace_back(std::string_view(field.unescaped_key()));
      od::value value = field.value();
      const Id id = add(value, depth + 1);
      JsonTree::Node& node = tree_.nodes_[id];
      node.name_begin = offset_of(begin);
      node.name_end = offset_of(end);
      node.name_escapes = escapes;
      if (escapes) tree_.decoded_names_.emplace_back(id, name);
      if (!is_new(name, first_name, many)) tree_.repeated_.push_back(id);
      names_.push_back(name);
    }
    names_.resize(first_name);
  }

  // Objects of rank tables have few members, which are compared with each other; of others all
  // names are hashed.
  bool is_new(std::string_view name, std::size_t first_name,
              std::unordered_set<std::string_view>& many) const {
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first_name);
    if (names_.size() - first_name <= kFewMembers) {
      return std::find(begin, names_.end(), name) == names_.end();
    }
    if (many.empty()) many.insert(begin, names_.end());
    return many.insert(name).second;
  }

  void add_scalar(Id id, od::value& value) {
    JsonTree::Node& node = tree_.nodes_[id];
    const std::string_view token = od_json::token_of(value);
    node.end = node.begin + static_cast<std::uint32_t>(token.size());
    last_child_end_ = node.end;
    const char c = token.empty() ? '\0' : token.front();
    if (c == '"') {
      node.kind = Kind::string;
      node.escapes = token.find('\\') != token.npos;
      if (node.escapes) {
        tree_.decoded_.emplace_back(id, std::string(std::string_view(value.get_string())));
      }
    } else if (token == "true" || token == "false") {
      node.kind = Kind::boolean;
    } else if (token == "null") {
      node.kind = Kind::null;
    } else if (od_json::is_number(token)) {
      node.kind = Kind::number;
    } else {
      throw Stop{node.begin, nullptr};
    }
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  JsonTree& tree_;
  std::uint32_t last_child_end_ = 0;
  std::vector<std::string_view> names_;    // of the objects that are open, innermost last
  std::deque<std::string> decoded_names_;  // those of them that have escapes
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

std::variant<JsonTree, JsonMistake> JsonTree::parse(std::string text) {
  if (text.size() > kMaxRankTableBytes) {
    return JsonMistake{0, "it is larger than 40 MiB, which no consumer reads", {}};
  }
  JsonTree tree;
  tree.document_ = std::move(text);
  const std::size_t size = tree.document_.size();
  tree.document_.reserve(size + simdjson::SIMDJSON_PADDING);
  std::size_t stopped = size;
  const char* why = nullptr;
  try {
    od::parser parser;
    od::document document = parser.iterate(
        simdjson::padded_string_view(tree.document_.data(), size, tree.document_.capacity()));
    JsonTreeBuilder(tree).read(document);
    const char* rest = nullptr;
    if (document.current_location().get(rest) != simdjson::SUCCESS) {
      std::sort(tree.decoded_.begin(), tree.decoded_.end());
      std::sort(tree.decoded_names_.begin(), tree.decoded_names_.end());
      std::sort(tree.repeated_.begin(), tree.repeated_.end());
      return tree;
    }
    stopped = static_cast<std::size_t>(rest - tree.document_.data());
  } catch (const JsonTreeBuilder::Stop& stop) {
    stopped = stop.offset;
    why = stop.message;
  } catch (const simdjson::simdjson_error&) {  // find_json_mistake() says what and where
  }
  JsonMistake mistake =
      why != nullptr ? JsonMistake{stopped, why, {}} : find_json_mistake(tree.document_, stopped);
  mistake.position = LineIndex(tree.document_).at(mistake.offset);
  return mistake;
}

std::string_view JsonTree::text(Id id) const {
  const Node& node = nodes_[id];
  if (node.kind != Kind::string) return raw(id);
  if (node.escapes) return *decoded_at(decoded_, id);
  return span(node.begin + 1, node.end - 1);
}

std::string_view JsonTree::name(Id id) const {
  const Node& node = nodes_[id];
  if (node.name_escapes) return *decoded_at(decoded_names_, id);
  return span(node.name_begin, node.name_end);
}

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

std::string JsonTree::pointer(Id id) const {
  std::string out;
  Id container = root();
  while (container != id) {
    std::size_t index = 0;
    Id child = first(container);
    while (nodes_[child].after <= id) {
      child = next(container, child);
      ++index;
    }
    out += '/';
    out += is(container, Kind::array) ? std::to_string(index) : escaped_step(name(child));
    container = child;
  }
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

Position LineIndex::at(std::size_t offset) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(behind - starts_.begin());
  return {line, offset - starts_[line - 1] + 1};
}

}  // namespace chipweave::codec::ranktable
