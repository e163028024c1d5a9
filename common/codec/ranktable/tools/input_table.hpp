// InputTable — a rank table that a merge was given: read, and with the places of its objects for
// messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/named_text.hpp"
#include "common/base/result.hpp"
#include "common/codec/ranktable/json_tree.hpp"
#include "common/domain/ranktable/dialect.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

struct InputTable {
  std::string name;
  JsonTree tree;
  domain::ranktable::RankTable table;

  // "file a.json, line 7"
  std::string place(domain::ranktable::Source object) const;
  Error wrong(domain::ranktable::Source object, std::string message) const;
};

// An object of an input, which must outlive this.
struct Seen {
  const InputTable* input = nullptr;
  domain::ranktable::Source object;
  std::string text() const { return input->place(object); }
};

// Tables of that dialect, completed and of version 1.0, whose counts are right. Errors name the
// file, line and column: no JSON, another kind of table (`instead`: what to do with one), members
// that are missing or of a wrong type; a file that is given twice. A server_count may be a JSON
// number: the reference's merge-local writes one.
Result<std::vector<InputTable>> read_inputs(std::vector<NamedText> files,
                                            domain::ranktable::Dialect wanted,
                                            std::string_view instead);

}  // namespace chipweave::codec::ranktable
