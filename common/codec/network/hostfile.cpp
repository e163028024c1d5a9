#include "common/codec/network/hostfile.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

const std::vector<std::string_view> kHostKeys = {"slots", "max_slots", "max-slots"};

// A line before its host list is expanded.
struct Line {
  std::string_view names;  // NAME, NAME:N or a host list of these
  std::string_view rest;   // as written behind the names
  std::int64_t slots = 0;  // of slots=N
};

Result<std::int64_t> read_slots(std::string_view what, std::string_view number,
                                std::string_view word) {
  const auto slots = parse_int(number);
  if (slots && *slots >= 1 && *slots <= limits::kMaxRanks) return *slots;
  return network_error(
      concat(what, " must be from 1 to ", limits::kMaxRanks, ", got ", quoted_excerpt(word)));
}

Result<Line> read_line(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  Line out;
  out.names = words.front();
  out.rest = text.substr(out.names.size());
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string_view key = words[i].substr(0, equals);
    if (std::find(kHostKeys.begin(), kHostKeys.end(), key) == kHostKeys.end()) {
      return network_error("expected NAME, NAME slots=N or NAME:N, got " +
                           quoted_excerpt(words[i]) + did_you_mean(key, kHostKeys));
    }
    const auto slots =
        read_slots(key, words[i].substr(std::min(equals + 1, words[i].size())), words[i]);
    if (!slots) return Error(slots.error());
    if (key == "slots") out.slots = *slots;
  }
  return out;
}

Result<std::vector<std::string>> names_of(std::string_view names) {
  if (names.find_first_of("[],") == std::string_view::npos) return std::vector{std::string(names)};
  return expand_hostlist(names);
}

// NAME or NAME:N of a line. An IPv6 address has several colons.
Result<Host> read_host(const std::string& text, const Line& line) {
  Host out;
  out.name = text;
  out.slots = line.slots;
  out.line = concat(text, line.rest);
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos && colon == text.rfind(':')) {
    out.name = text.substr(0, colon);
    const auto slots = read_slots("slots", std::string_view(text).substr(colon + 1), text);
    if (!slots) return Error(slots.error());
    if (line.slots > 0) return network_error("slots are given twice: " + quoted_excerpt(out.line));
    out.slots = *slots;
  }
  if (auto good = check_network_name("host", out.name); !good) return std::move(good).error();
  return out;
}

// The hosts of a file, line after line.
class HostList {
 public:
  Result<void> add(const Line& line, const std::string& where) {
    const Result<std::vector<std::string>> names = names_of(line.names);
    if (!names) return Error(names.error());
    for (const std::string& name : *names) {
      if (++lines_ > std::size_t{limits::kMaxRanks}) return too_many(limits::kMaxRanks, "lines");
      Result<Host> host = read_host(name, line);
      if (!host) return std::move(host).error();
      const auto [first, fresh] = places_.try_emplace(host->name, Place{hosts_.size(), where});
      if (!fresh) {
        if (auto again = add_again(*host, first->second); !again) return again;
        continue;
      }
      if (hosts_.size() == std::size_t{limits::kMaxGangPods}) {
        return too_many(limits::kMaxGangPods, "hosts");
      }
      hosts_.push_back(*std::move(host));
    }
    return {};
  }

  std::vector<Host> take() {
    const bool repeated =
        std::any_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.lines > 1; });
    for (Host& host : hosts_) {
      if (repeated && host.slots == 0) host.slots = static_cast<std::int64_t>(host.lines);
    }
    return std::move(hosts_);
  }

 private:
  struct Place {
    std::size_t index;
    std::string where;
  };

  Result<void> add_again(const Host& again, const Place& first) {
    Host& host = hosts_[first.index];
    if (host.slots > 0 || host.line != again.line) {
      return network_error(concat("duplicate host ", quoted_excerpt(again.name), ", first at ",
                                  first.where, "; use slots=N once for several ranks on it"));
    }
    ++host.lines;
    return {};
  }

  std::vector<Host> hosts_;
  std::unordered_map<std::string, Place> places_;
  std::size_t lines_ = 0;
};

Result<std::string> too_large(std::string_view file, std::size_t most) {
  return make_error(Errc::limit_exceeded, "the " + std::string(file) + " would have more than " +
                                              std::to_string(most) + " bytes");
}

}  // namespace

Result<std::string> write_hostfile(std::span<const Host> hosts, std::size_t most) {
  std::string out;
  for (const Host& host : hosts) {
    out += host.name;
    if (host.slots > 0) out += " slots=" + std::to_string(host.slots);
    out += '\n';
    if (out.size() > most) return too_large("hostfile", most);
  }
  return out;
}

Result<std::string> write_rankfile(std::span<const Host> hosts, std::size_t most) {
  std::string out;
  std::int64_t rank = 0;
  for (const Host& host : hosts) {
    for (std::int64_t slot = 0; slot < host.slots; ++slot) {
      out += "rank " + std::to_string(rank++) + "=" + host.name + " slot=0:*\n";
      if (out.size() > most) return too_large("rankfile", most);
    }
  }
  return out;
}

Result<std::vector<Host>> parse_hostfile(std::string_view text) {
  if (find_invalid_utf8(text) != std::string_view::npos) {
    return network_error("not UTF-8 text; is this a list of hosts?");
  }
  HostList hosts;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const Result<Line> read = read_line(line);
    if (!read) return Error(read.error()).in(lines.where());
    if (auto added = hosts.add(*read, lines.where()); !added) {
      Error error = std::move(added).error();
      return error.code == Errc::limit_exceeded ? error : std::move(error).in(lines.where());
    }
  }
  std::vector<Host> out = hosts.take();
  if (out.empty())
    return network_error("the file has no hosts; expected lines NAME or NAME slots=N");
  return out;
}

}  // namespace chipweave::codec
