#include "scheduler-plugin/server/extender_reply.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "common/base/json_writer.hpp"

namespace chipweave::sched {
namespace {

enum List : std::size_t { kFitList, kFailedList, kUnresolvableList, kLists };

// Before each list, and after the last.
constexpr std::array<std::string_view, kLists> kBefore = {
    R"(,"NodeNames":[)", R"(],"FailedNodes":{)", R"(},"FailedAndUnresolvableNodes":{)"};
constexpr std::string_view kEnd = R"(},"Error":""})";
constexpr std::string_view kNoNodes = R"({"Nodes":null)";
constexpr std::string_view kAfterNodes = "]}";

List list_of(const Verdict& v) {
  if (v.fits()) return kFitList;
  return v.remedy == Remedy::preemption ? kFailedList : kUnresolvableList;
}

// An upper bound of the size of all names.
std::size_t bytes_of_names(const codec::ExtenderArgs& args) {
  if (args.names.empty()) return 0;
  if (args.tokens.empty()) {  // the names are adjacent in the request
    const std::string_view last = args.quoted(args.names.size() - 1);
    return static_cast<std::size_t>(last.data() + last.size() - args.quoted(0).data());
  }
  std::size_t bytes = 0;
  for (const std::string_view token : args.tokens) bytes += token.size();
  return bytes;
}

}  // namespace

ExtenderReply::Tail::Tail(std::string t, std::size_t in_list)
    : size(t.size()), list(in_list), text(std::move(t)) {
  text.copy(block.data(), kBlock);
}

void ExtenderReply::Sheet::clear(std::size_t most) {
  used = 0;
  most += codec::ExtenderArgs::kReadable + Tail::kBlock;
  if (space.size() < most) space.resize(most);
}

// Copies whole blocks for short strings: no call, no branch on the length.
inline char* ExtenderReply::put(char* to, std::string_view name, const Tail& tail) {
  if (name.size() <= codec::ExtenderArgs::kReadable) {
    std::memcpy(to, name.data(), codec::ExtenderArgs::kReadable);
  } else {
    std::memcpy(to, name.data(), name.size());
  }
  to += name.size();
  if (tail.size <= Tail::kBlock) {
    std::memcpy(to, tail.block.data(), Tail::kBlock);
  } else {
    std::memcpy(to, tail.text.data(), tail.size);
  }
  return to + tail.size;
}

void ExtenderReply::fill_sheets(const Evaluation& evaluation, const codec::ExtenderArgs& args) {
  // By verdict, what follows the name: a comma, or the reason and a comma.
  std::vector<Tail> after;
  std::array<std::size_t, kLists> most{};
  for (const Verdict& v : evaluation.verdicts) {
    std::string text;
    if (!v.fits()) {
      text = ":";
      append_json_string(text, v.reason);
    }
    text += ',';
    most[list_of(v)] += v.count * text.size();
    after.emplace_back(std::move(text), list_of(v));
  }
  const std::size_t names_bytes = bytes_of_names(args);
  for (std::size_t list = 0; list < kLists; ++list) sheets_[list].clear(most[list] + names_bytes);
  std::array<char*, kLists> end{};
  for (std::size_t list = 0; list < kLists; ++list) end[list] = sheets_[list].space.data();
  const Tail* const tails = after.data();
  const std::uint32_t* const verdicts = evaluation.verdict.data();
  for (std::size_t i = 0; i < args.names.size(); ++i) {
    const Tail& tail = tails[verdicts[i]];
    end[tail.list] = put(end[tail.list], args.quoted(i), tail);
  }
  for (std::size_t list = 0; list < kLists; ++list) {
    sheets_[list].used = static_cast<std::size_t>(end[list] - sheets_[list].space.data());
  }
}

std::size_t ExtenderReply::lists_bytes() const {
  std::size_t total = kEnd.size();
  for (std::size_t k = 0; k < kLists; ++k) total += kBefore[k].size() + sheets_[k].used;
  return total;
}

void ExtenderReply::append_lists(std::string& out) const {
  for (std::size_t k = 0; k < kLists; ++k) {
    std::string_view text = sheets_[k].text();
    if (!text.empty()) text.remove_suffix(1);  // no comma after the last
    out += kBefore[k];
    out += text;
  }
  out += kEnd;
}

FittingNodes::FittingNodes(const Evaluation& evaluation, const codec::ExtenderArgs& args) {
  items_.reserve(evaluation.fits);
  for (std::size_t i = 0; i < args.items.size(); ++i) {
    if (evaluation.of(i).fits()) items_.push_back(args.items[i]);
  }
}

bool FittingNodes::append_next(std::string& out) {
  if (next_ == items_.size()) return false;
  if (next_ > 0) out += ',';
  out += items_[next_++];
  return true;
}

std::string ExtenderReply::filter(const Evaluation& evaluation, const codec::ExtenderArgs& args) {
  if (args.nodes_given) {
    std::string out(kBeforeNodes);
    FittingNodes nodes(evaluation, args);
    while (nodes.append_next(out)) {
    }
    return out + after_nodes(evaluation, args);
  }
  fill_sheets(evaluation, args);
  std::string out;
  out.reserve(kNoNodes.size() + lists_bytes());
  out += kNoNodes;
  append_lists(out);
  return out;
}

std::string ExtenderReply::after_nodes(const Evaluation& evaluation,
                                       const codec::ExtenderArgs& args) {
  fill_sheets(evaluation, args);
  std::string out(kAfterNodes);
  append_lists(out);
  return out;
}

std::string ExtenderReply::prioritize(const Evaluation& evaluation,
                                      const codec::ExtenderArgs& args) {
  if (args.names.empty()) return "[]";
  // Score and the start of the next entry, by score.
  constexpr std::string_view kNext = R"(,{"Host":)";
  std::vector<Tail> after;
  for (int score = 0; score <= Evaluation::kBestScore; ++score) {
    after.emplace_back(R"(,"Score":)" + std::to_string(score) + "}" + std::string(kNext), kFitList);
  }
  Sheet& sheet = sheets_[0];
  sheet.clear(bytes_of_names(args) + args.names.size() * after.back().size);
  char* to = sheet.space.data();
  for (std::size_t i = 0; i < args.names.size(); ++i) {
    to = put(to, args.quoted(i), after[static_cast<std::size_t>(evaluation.score(i))]);
  }
  sheet.used = static_cast<std::size_t>(to - sheet.space.data());
  std::string out = R"([{"Host":)";
  const std::string_view text = sheet.text();
  out.reserve(out.size() + text.size());
  out += text.substr(0, text.size() - kNext.size());
  out += ']';
  return out;
}

}  // namespace chipweave::sched
