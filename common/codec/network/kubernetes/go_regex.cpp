#include "common/codec/network/kubernetes/go_regex.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/codec/network/objects.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using Op = GoRegex::Op;
using Program = std::vector<GoRegex::Instruction>;
using Set = std::bitset<256>;

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::size_t kMaxProgram = 4000;  // repetitions are copies
constexpr int kMaxGroups = 50;             // inside each other
constexpr int kMaxRepeat = 1000;           // as in RE2

Set range_set(unsigned from, unsigned to) {
  Set out;
  for (unsigned c = from; c <= to; ++c) out.set(c);
  return out;
}

// The smallest byte of a set that has one.
unsigned lowest(const Set& set) {
  unsigned byte = 0;
  while (!set.test(byte)) ++byte;
  return byte;
}

Set byte_set(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return range_set(byte, byte);
}

// \d, \w, \s and their opposites; nullopt for another letter.
std::optional<Set> perl_class(char c) {
  Set out;
  switch (c) {
    case 'd':
    case 'D':
      out = range_set('0', '9');
      break;
    case 'w':
    case 'W':
      out = range_set('0', '9') | range_set('a', 'z') | range_set('A', 'Z') | byte_set('_');
      break;
    case 's':
    case 'S':
      out = byte_set(' ') | byte_set('\t') | byte_set('\n') | byte_set('\f') | byte_set('\r');
      break;
    default:
      return std::nullopt;
  }
  return c >= 'A' && c <= 'Z' ? ~out : out;
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Recursive descent; each part is a program whose jumps are relative to its beginning.
class Compiler {
 public:
  explicit Compiler(std::string_view pattern) : pattern_(pattern) {}

  Result<Program> run() {
    Result<Program> all = alternatives(0);
    if (!all) return all;
    if (at_ < pattern_.size()) return fail("a ) has no (");
    all->push_back({Op::match, {}, 0, 0});
    return all;
  }

 private:
  Error fail(const std::string& why) const {
    return network_error("pattern " + quoted_excerpt(pattern_) + ": " + why +
                         "; name the nodes by exactMatch or labels, or write it more simply");
  }
  bool done() const { return at_ >= pattern_.size(); }
  bool next_is(char c) const { return !done() && pattern_[at_] == c; }
  bool take(std::string_view text) {
    if (pattern_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  static void append(Program& to, const Program& part) {
    const std::size_t offset = to.size();
    for (GoRegex::Instruction instruction : part) {
      instruction.first += offset;
      instruction.second += offset;
      to.push_back(instruction);
    }
  }

  Result<Program> alternatives(int depth) {
    if (depth > kMaxGroups) return fail("groups are nested too deep");
    Result<Program> left = sequence(depth);
    while (left && next_is('|')) {
      ++at_;
      Result<Program> right = sequence(depth);
      if (!right) return right;
      Program both{{Op::split, {}, 1, left->size() + 2}};
      append(both, *left);
      both.push_back({Op::jump, {}, both.size() + 1 + right->size(), 0});
      append(both, *right);
      if (both.size() > kMaxProgram) return fail("it is too long");
      left = std::move(both);
    }
    return left;
  }

  Result<Program> sequence(int depth) {
    Program out;
    while (!done() && !next_is('|') && !next_is(')')) {
      Result<Program> one = atom(depth);
      if (!one) return one;
      Result<Program> repeated = repetition(*std::move(one));
      if (!repeated) return repeated;
      append(out, *repeated);
      if (out.size() > kMaxProgram) return fail("it is too long, or repeats too much");
    }
    return out;
  }

  Result<Program> atom(int depth) {
    const char c = pattern_[at_++];
    switch (c) {
      case '(':
        return group(depth);
      case '[':
        return char_class();
      case '\\':
        return escape();
      case '^':
        return Program{{Op::begin, {}, 0, 0}};
      case '$':
        return Program{{Op::end, {}, 0, 0}};
      case '.':
        return Program{{Op::bytes, ~byte_set('\n'), 0, 0}};
      case '*':
      case '+':
      case '?':
        return fail(std::string(1, c) + " repeats nothing");
      default:
        return Program{{Op::bytes, byte_set(c), 0, 0}};
    }
  }

  Result<Program> group(int depth) {
    if (next_is('?') && !take("?:")) return fail("(? begins a group that cannot be used here");
    Result<Program> inner = alternatives(depth + 1);
    if (!inner) return inner;
    if (!take(")")) return fail("a ( has no )");
    return inner;
  }

  Result<Program> escape() {
    if (done()) return fail("it ends in a \\");
    const char c = pattern_[at_++];
    if (const auto set = perl_class(c)) return Program{{Op::bytes, *set, 0, 0}};
    if (c == 'A') return Program{{Op::begin, {}, 0, 0}};
    if (c == 'z') return Program{{Op::end, {}, 0, 0}};
    if (c == 't') return Program{{Op::bytes, byte_set('\t'), 0, 0}};
    if (is_letter_or_digit(c)) return fail(std::string("\\") + c + " cannot be used here");
    return Program{{Op::bytes, byte_set(c), 0, 0}};
  }

  // One byte of a class, or a set like \d.
  Result<Set> class_item() {
    const char c = pattern_[at_++];
    if (c == '[' && next_is(':')) return fail("[:…:] cannot be used here");
    if (c != '\\') return byte_set(c);
    if (done()) return fail("a [ has no ]");
    const char escaped = pattern_[at_++];
    if (const auto set = perl_class(escaped)) return *set;
    if (is_letter_or_digit(escaped)) {
      return fail(std::string("\\") + escaped + " cannot be used here");
    }
    return byte_set(escaped);
  }

  Result<Program> char_class() {
    const bool negated = take("^");
    Set set;
    for (bool first = true; first || !next_is(']'); first = false) {
      if (done()) return fail("a [ has no ]");
      const std::size_t start = at_;
      Result<Set> from = class_item();
      if (!from) return std::move(from).error();
      const bool range = next_is('-') && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
      if (!range) {
        set |= *from;
        continue;
      }
      ++at_;
      const Result<Set> to = class_item();
      if (!to) return to.error();
      if (from->count() != 1 || to->count() != 1 || lowest(*from) > lowest(*to)) {
        return fail(quoted_excerpt(pattern_.substr(start, at_ - start)) + " is no range");
      }
      set |= range_set(lowest(*from), lowest(*to));
    }
    ++at_;
    return Program{{Op::bytes, negated ? ~set : set, 0, 0}};
  }

  // Digits at at_; -1 if there are none, kMaxRepeat + 1 if it is more.
  int count() {
    if (done() || pattern_[at_] < '0' || pattern_[at_] > '9') return -1;
    int value = 0;
    for (; !done() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_) {
      value = std::min(value * 10 + (pattern_[at_] - '0'), kMaxRepeat + 1);
    }
    return value;
  }

  // "{2,3}"; what does not have that form is literal text, as in Go. -1: no upper end.
  bool braces(int& least, int& most) {
    const std::size_t start = at_;
    ++at_;
    least = count();
    most = least;
    if (least >= 0 && take(",")) most = next_is('}') ? -1 : count();
    const bool open_end = most < 0 && next_is('}');
    if (least >= 0 && (most >= 0 || open_end) && take("}")) return true;
    at_ = start;
    return false;
  }

  Result<Program> repetition(Program one) {
    int least = 1;
    int most = 1;
    if (take("*")) {
      least = 0;
      most = -1;
    } else if (take("+")) {
      most = -1;
    } else if (take("?")) {
      least = 0;
    } else if (!next_is('{') || !braces(least, most)) {
      return one;
    }
    if (least > kMaxRepeat || most > kMaxRepeat || (most >= 0 && most < least)) {
      return fail("a repetition like {2,3} is from small to large, at most 1000");
    }
    take("?");  // lazy
    if (next_is('*') || next_is('+') || next_is('?')) return fail("two repetitions in a row");
    return copies(one, least, most);
  }

  Result<Program> copies(const Program& one, int least, int most) const {
    const auto times = static_cast<std::size_t>(std::max(least, most)) + 1;
    if ((one.size() + 2) * times > kMaxProgram) return fail("it repeats too much");
    Program out;
    for (int i = 0; i < least; ++i) append(out, one);
    if (most < 0) {
      const std::size_t loop = out.size();
      out.push_back({Op::split, {}, loop + 1, loop + 2 + one.size()});
      append(out, one);
      out.push_back({Op::jump, {}, loop, 0});
      return out;
    }
    for (int i = least; i < most; ++i) {
      Program maybe{{Op::split, {}, 1, one.size() + 1}};
      append(maybe, one);
      append(out, maybe);
    }
    return out;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

// The instructions that are waiting for a byte, each once.
class Threads {
 public:
  explicit Threads(std::size_t size) : seen_(size, 0) {}
  void clear() {
    list_.clear();
    ++round_;
  }
  bool add(std::size_t at) {
    if (seen_[at] == round_) return false;
    seen_[at] = round_;
    return true;
  }
  std::vector<std::size_t>& list() { return list_; }

 private:
  std::vector<std::size_t> list_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 1;
};

}  // namespace

Result<GoRegex> GoRegex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return make_error(Errc::limit_exceeded, "pattern " + quoted_excerpt(pattern) +
                                                " is longer than " +
                                                std::to_string(kMaxPatternBytes) + " bytes");
  }
  Result<Program> program = Compiler(pattern).run();
  if (!program) return std::move(program).error();
  GoRegex out;
  out.program_ = *std::move(program);
  return out;
}

bool GoRegex::matches(std::string_view text, std::size_t& steps) const {
  steps -= std::min(steps, program_.size() / 8);  // what the lists below take to make
  const bool anchored = program_.front().op == Op::begin;
  Threads now(program_.size());
  Threads next(program_.size());
  std::vector<std::size_t> open;
  // Follows everything that takes no byte; true when the pattern has matched.
  const auto follow = [&](Threads& threads, std::size_t start, std::size_t position) {
    open.push_back(start);
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (!threads.add(at)) continue;
      if (steps > 0) --steps;
      const Instruction& one = program_[at];
      if (one.op == Op::match) {
        open.clear();
        return true;
      }
      if (one.op == Op::bytes) threads.list().push_back(at);
      if (one.op == Op::jump || one.op == Op::split) open.push_back(one.first);
      if (one.op == Op::split) open.push_back(one.second);
      const bool holds =
          (one.op == Op::begin && position == 0) || (one.op == Op::end && position == text.size());
      if (holds) open.push_back(at + 1);
    }
    return false;
  };
  for (std::size_t position = 0; position <= text.size() && steps > 0; ++position) {
    if (follow(now, 0, position)) return true;
    if (position == text.size() || (anchored && now.list().empty())) break;
    const auto byte = static_cast<unsigned char>(text[position]);
    next.clear();
    for (const std::size_t at : now.list()) {
      if (steps > 0) --steps;
      if (program_[at].set.test(byte) && follow(next, at + 1, position + 1)) return true;
    }
    std::swap(now, next);
  }
  return false;
}

}  // namespace chipweave::codec
