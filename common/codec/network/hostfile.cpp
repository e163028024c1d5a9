#include "common/codec/network/hostfile.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

const std::vector<std::string_view> kHostKeys = {"slots", "max_slots", "max-slots"};

Result<Host> read_host(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  Host out;
  out.name = words.front();
  out.line = line;
  if (auto good = check_network_name("host", out.name); !good) return std::move(good).error();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string_view key = words[i].substr(0, equals);
    if (std::find(kHostKeys.begin(), kHostKeys.end(), key) == kHostKeys.end()) {
      return network_error("expected NAME or NAME slots=N, got " + quoted_excerpt(words[i]) +
                           did_you_mean(key, kHostKeys));
    }
    const auto slots = parse_int(words[i].substr(std::min(equals + 1, words[i].size())));
    if (!slots || *slots < 1 || *slots > limits::kMaxRanks) {
      return network_error(std::string(key) + " must be from 1 to " +
                           std::to_string(limits::kMaxRanks) + ", got " + quoted_excerpt(words[i]));
    }
    if (key == "slots") out.slots = *slots;
  }
  return out;
}

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
  std::vector<Host> out;
  std::unordered_map<std::string, std::string> places;  // name → line
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    Result<Host> host = read_host(line);
    if (!host) return std::move(host).error().in(lines.where());
    const auto [first, fresh] = places.try_emplace(host->name, lines.where());
    if (!fresh) {
      return network_error("duplicate host " + quoted_excerpt(host->name) + ", first at " +
                           first->second + "; use slots=N for several ranks on it")
          .in(lines.where());
    }
    if (out.size() == std::size_t{limits::kMaxGangPods}) {
      return too_many(limits::kMaxGangPods, "hosts");
    }
    out.push_back(*std::move(host));
  }
  if (out.empty())
    return network_error("the file has no hosts; expected lines NAME or NAME slots=N");
  return out;
}

}  // namespace chipweave::codec
