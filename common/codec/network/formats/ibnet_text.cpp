#include "common/codec/network/formats/ibnet_text.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/lines.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxPorts = limits::kMaxNetworkNodes * 16;

// The text between the next two quotes, nullopt if there are none; `rest` continues after them.
std::optional<std::string_view> take_quoted(std::string_view& rest) {
  const std::size_t begin = rest.find('"');
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = rest.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view out = rest.substr(begin + 1, end - begin - 1);
  rest.remove_prefix(end + 1);
  return out;
}

unsigned number_in_brackets(std::string_view text) {
  unsigned value = 0;
  if (text.starts_with('[')) std::from_chars(text.data() + 1, text.data() + text.size(), value);
  return value;
}

// "MF0;leaf-01:MQM9701/U1" → "leaf-01"; other descriptions are names as they are.
std::string_view switch_name(std::string_view description) {
  if (!description.starts_with("MF0;")) return trim(description);
  description.remove_prefix(4);
  return trim(description.substr(0, description.find(':')));
}

// "host mlx5_0": a host and an interface, whose name ends in a number. A card's own description
// ("MT4129 ConnectX7 Mellanox Technologies") has more words.
bool split_description(std::string_view description, std::string& host, std::string& hca) {
  const std::vector<std::string_view> words = split_words(description);
  const bool named = words.size() == 2 && words[1].back() >= '0' && words[1].back() <= '9';
  if (!named) return false;
  host = words[0];
  hca = words[1];
  return true;
}

bool is_aggregation(std::string_view description) {
  return description.find("Aggregation Node") != std::string_view::npos;
}

// Reads line by line; a block begins with Switch, Ca or Rt, ports follow.
class IbnetReader {
 public:
  Result<IbFabric> run(std::string_view text) {
    LineReader lines(text);
    for (std::string_view line; lines.next(line);) {
      if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt")) {
        begin_block(line);
      } else if (line.starts_with('[')) {
        read_port(line);
      }
      if (names_.size() > limits::kMaxNetworkDomains || ports_.size() > kMaxPorts) {
        return too_many(limits::kMaxNetworkDomains,
                        "switches or " + std::to_string(kMaxPorts) + " ports of hosts")
            .in(lines.where());
      }
    }
    return finish();
  }

 private:
  // An interface's port: both ends list it, the host's end with its own description.
  struct End {
    std::string hca_guid;
    unsigned port;
    bool operator<(const End& other) const {
      return std::pair(hca_guid, port) < std::pair(other.hca_guid, other.port);
    }
  };

  void begin_block(std::string_view line) {
    std::string_view rest = line;
    block_ = take_quoted(rest).value_or("");
    is_switch_ = line.starts_with("Switch");
    const std::string_view description = take_quoted(rest).value_or("");
    if (is_switch_) {
      names_[std::string(block_)] = description;
    } else {
      describe(block_, description);
    }
  }

  // A description that names a host wins, whichever end has it.
  void describe(std::string_view guid, std::string_view description) {
    std::string host;
    std::string hca;
    std::string& known = descriptions_[std::string(guid)];
    if (known.empty() || split_description(description, host, hca)) known = description;
  }

  // [1]"H-guid"[1](…) # "host mlx5_0" …   below a switch
  // [1](guid) "S-guid"[65] # lid 1 lmc 0 "switch" …   below an interface
  void read_port(std::string_view line) {
    std::string_view rest = line;
    const std::optional<std::string_view> peer = take_quoted(rest);
    if (!peer || block_.empty()) return;
    const bool peer_is_switch = peer->starts_with("S-");
    if (is_switch_ && !peer_is_switch) {
      const unsigned port = number_in_brackets(rest);
      ports_.emplace(End{std::string(*peer), port}, block_);
      describe(*peer, take_quoted(rest).value_or(""));
    } else if (!is_switch_ && peer_is_switch) {
      ports_.emplace(End{std::string(block_), number_in_brackets(line)}, *peer);
      names_.emplace(*peer, take_quoted(rest).value_or(""));
    }
  }

  // Two switches of one name (the chips of one chassis) keep their GUIDs in their names.
  std::unordered_map<std::string, std::size_t> name_switches(IbFabric& out) const {
    std::unordered_map<std::string_view, int> uses;
    for (const auto& [unused, description] : names_) ++uses[switch_name(description)];
    std::unordered_map<std::string, std::size_t> index;
    for (const auto& [guid, description] : names_) {
      const std::string_view name = switch_name(description);
      index.emplace(guid, out.switches.size());
      out.switches.push_back(name.empty()     ? guid
                             : uses[name] > 1 ? std::string(name) + "." + guid
                                              : std::string(name));
    }
    return index;
  }

  IbFabric finish() const {
    IbFabric out;
    const std::unordered_map<std::string, std::size_t> index = name_switches(out);
    for (const auto& [end, guid] : ports_) {
      const std::string& description = descriptions_.at(end.hca_guid);
      if (is_aggregation(description)) {
        ++out.aggregation;
        continue;
      }
      IbFabric::Port port;
      split_description(description, port.host, port.hca);
      port.port = end.port;
      port.leaf = index.at(guid);
      out.ports.push_back(std::move(port));
    }
    return out;
  }

  std::string_view block_;  // GUID of the block that is read
  bool is_switch_ = false;
  std::map<std::string, std::string> names_;  // switch GUID → description
  std::unordered_map<std::string, std::string> descriptions_;
  std::map<End, std::string> ports_;  // → GUID of the switch
};

}  // namespace

Result<IbFabric> read_ib_fabric(std::string_view text) { return IbnetReader().run(text); }

}  // namespace chipweave::codec
