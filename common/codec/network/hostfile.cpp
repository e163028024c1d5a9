#include "common/codec/network/hostfile.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/words.hpp"

namespace chipweave::codec {
namespace {

const std::vector<std::string_view> kWords = {"slots", "max_slots", "max-slots"};

std::optional<std::int64_t> slots_of(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && out >= 1 && out <= limits::kMaxRanks ? std::optional(out) : std::nullopt;
}

Result<Host> read_host(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  Host out;
  out.name = words.front();
  out.line = line;
  if (auto good = check_network_name("host", out.name); !good) return std::move(good).error();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string_view key = words[i].substr(0, equals);
    if (std::find(kWords.begin(), kWords.end(), key) == kWords.end()) {
      return network_error(quoted_excerpt(words[i]) + " is not understood" +
                           did_you_mean(key, kWords) + ": a line is NAME or NAME slots=N");
    }
    const auto slots = slots_of(words[i].substr(std::min(equals + 1, words[i].size())));
    if (!slots) {
      return network_error(quoted_excerpt(words[i]) + " says no whole number from 1 to " +
                           std::to_string(limits::kMaxRanks));
    }
    if (key == "slots") out.slots = *slots;
  }
  return out;
}

}  // namespace

Result<std::vector<Host>> parse_hostfile(std::string_view text) {
  if (find_invalid_utf8(text) != std::string_view::npos) {
    return network_error("holds a byte that is no UTF-8 text: is this a list of hosts?");
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
      return network_error("host " + quoted_excerpt(host->name) + " was named on " + first->second +
                           "; slots=N says that several ranks run on it")
          .in(lines.where());
    }
    if (out.size() == std::size_t{limits::kMaxGangPods}) {
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(limits::kMaxGangPods) + " hosts");
    }
    out.push_back(*std::move(host));
  }
  if (out.empty()) return network_error("names no host: a line is NAME or NAME slots=N");
  return out;
}

}  // namespace chipweave::codec
