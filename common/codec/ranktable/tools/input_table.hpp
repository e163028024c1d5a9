// InputTable — an input file of a merge: the rank table, and the places of its objects for
// messages.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/named_text.hpp"
#include "common/base/result.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/domain/ranktable/dialect.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

struct InputTable {
  std::string name;
  JsonTree tree;
  domain::ranktable::RankTable table;

  // "file a.json, line 7"
  std::string place(domain::ranktable::Source object) const;
  // Those of a table without groups; at least one.
  Result<const std::vector<domain::ranktable::Server>*> servers() const;
  // The error at that place. parts: of the message.
  template <class... Parts>
  Error wrong(domain::ranktable::Source object, const Parts&... parts) const {
    return wrong_text(object, concat(parts...));
  }

 private:
  Error wrong_text(domain::ranktable::Source object, std::string message) const;
};

// An object of an input, which must outlive this.
struct Seen {
  const InputTable* input = nullptr;
  domain::ranktable::Source object;
  std::string text() const { return input->place(object); }
};

// The addresses of devices, with their ports: unique over all tables of a merge.
class UniqueAddresses {
 public:
  // The table must outlive this. A device without an address is accepted.
  Result<void> take(const InputTable& input, const domain::ranktable::Device& device);

 private:
  std::unordered_map<std::string, Seen> first_;
};

// Tables of dialect `wanted`, completed, of version 1.0, with right counts. Errors name file, line
// and column: not JSON, another dialect (`instead` says what to do), missing members, wrong types;
// a file given twice. server_count may be a JSON number, as the reference's merge-local writes it.
Result<std::vector<InputTable>> read_inputs(std::vector<NamedText> files,
                                            domain::ranktable::Dialect wanted,
                                            std::string_view instead);

}  // namespace chipweave::codec::ranktable
