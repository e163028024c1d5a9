// JsonTree — a JSON text with the position of every value and name in it, for documents that people
// write: messages can name line, column and key path. Repeated names are all kept. Readers use
// json_value.hpp and json_object.hpp.
//
// Values lie in one array in the order of the text (an object, then its members); an Id is an index
// into it, the root is 0. Text is not copied: strings without escapes are views into the document.
// Immutable and movable. Cost: simdjson's first stage and one walk over the structural characters
// that it finds; linear in the file, 24 bytes per value in addition to the text, no allocation per
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/limits.hpp"

namespace chipweave::codec {

// Line and column, both from 1, columns in bytes.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
  // "line 3, column 7"
  std::string text() const;
};

// Why a text is not JSON, and where.
struct JsonSyntaxError {
  std::size_t offset = 0;
  std::string message;
  TextPosition position;
  bool is_limit = false;  // it may be JSON, but is too large or nested too deeply
};

class JsonTree {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = UINT32_MAX;
  enum class Kind : std::uint8_t { object, array, string, number, boolean, null };

  static std::variant<JsonTree, JsonSyntaxError> parse(
      std::string text, std::size_t max_bytes = limits::kMaxRankTableBytes);

  JsonTree(JsonTree&&) = default;
  JsonTree& operator=(JsonTree&&) = default;
  ~JsonTree() = default;
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  Id root() const { return 0; }
  std::size_t size() const { return nodes_.size(); }
  Kind kind(Id id) const { return node(id).kind; }
  bool is(Id id, Kind kind) const { return node(id).kind == kind; }
  // The value as written in the document, e.g. "\"8\"" with its quotes.
  std::string_view raw(Id id) const { return span(node(id).begin, node(id).end); }
  // A string's content; for any other value its raw text.
  std::string_view text(Id id) const {
    const Node& value = node(id);
    if (value.kind != Kind::string) return raw(id);
    return value.escapes ? decoded_text(id) : span(value.begin + 1, value.end - 1);
  }
  // The name of a member; "" for anything else.
  std::string_view name(Id id) const {
    const Node& value = node(id);
    return value.name_escapes ? decoded_name(id) : span(value.name_begin, value.name_end);
  }
  std::size_t offset(Id id) const { return node(id).begin; }
  std::size_t end_offset(Id id) const { return node(id).end; }

  // Members or elements: for (Id c = first(id); c != kNone; c = next(id, c)).
  Id first(Id container) const {
    return node(container).after > container + 1 ? container + 1 : kNone;
  }
  Id next(Id container, Id child) const {
    return node(child).after < node(container).after ? node(child).after : kNone;
  }
  // The first member of that name; kNone if there is none, or if `object` is not an object.
  Id member(Id object, std::string_view name) const;
  std::size_t child_count(Id container) const;

  // "/server_list/0/device_ip" (RFC 6901); "" of the root. Cost: O(elements before it).
  std::string pointer(Id id) const;
  // A name as a step of a pointer.
  static std::string escaped_step(std::string_view name);
  // "server_list[0].device_ip", from `base`, which holds the value; "" of the base itself. Cost: as
  // pointer().
  std::string path(Id id, Id base = 0) const;
  // A name as a step of a path: device_ip, ["b1/r1/x1"].
  static std::string path_step(std::string_view name);
  // The value at a pointer; kNone if it leads nowhere.
  Id at(std::string_view pointer) const;

  // Members that repeat the name of an earlier member of their object, in the order of the text.
  const std::vector<Id>& repeated() const { return repeated_; }

  const std::string& document() const { return document_; }

 private:
  friend class JsonTreeBuilder;
  struct Node {
    std::uint32_t begin, end;            // of the value
    std::uint32_t name_begin, name_end;  // of the name without quotes; equal: none
    Id after;                            // the node after this one and everything in it
    Kind kind;
    bool escapes, name_escapes;
  };
  JsonTree() = default;
  // Unchecked: every Id comes from this tree, and this is called many times per value.
  const Node& node(Id id) const { return nodes_.data()[id]; }
  std::string_view span(std::uint32_t begin, std::uint32_t end) const {
    return {document_.data() + begin, end - begin};
  }

  // From a container to a value in it: step(whether it is an element, its index, its name).
  template <class Step>
  void each_step(Id from, Id to, const Step& step) const;
  std::string_view decoded_text(Id id) const;
  std::string_view decoded_name(Id id) const;

  std::string document_;
  std::vector<Node> nodes_;
  // Decoded strings and names with escapes, ascending by node.
  std::vector<std::pair<Id, std::string>> decoded_, decoded_names_;
  std::vector<Id> repeated_;
};

// Finds lines by binary search; the constructor makes one pass over the text.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  TextPosition at(std::size_t offset) const;

 private:
  std::vector<std::size_t> starts_;
};

}  // namespace chipweave::codec
