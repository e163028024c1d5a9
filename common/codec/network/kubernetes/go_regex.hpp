// GoRegex — the part of Go's regular expressions (RE2) that names of nodes are described with, as
// regexMatch of a HyperNode has them. Internal to common/codec/network.
//
// Literals, ".", classes with ranges, \d \w \s and their opposites, groups ( ) and (?: ), "|",
// repetition * + ? {n} {n,} {n,m} (also lazy, which matches the same texts), ^ $ \A \z, escaped
// punctuation. Bytes, not characters. Time is pattern x text at most: no backtracking.
#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

class GoRegex {
 public:
  // Errors name the pattern and what of it cannot be used.
  static Result<GoRegex> compile(std::string_view pattern);

  // Anywhere in the text, unless ^ or $ say otherwise. `steps` counts down by the work done; at 0
  // the answer is false.
  bool matches(std::string_view text, std::size_t& steps) const;
  // What repetitions unfold to: the work of compile.
  std::size_t size() const { return program_.size(); }

  enum class Op { bytes, split, jump, begin, end, match };
  struct Instruction {
    Op op = Op::match;
    std::bitset<256> set;   // bytes: those that go on at the next instruction
    std::size_t first = 0;  // split, jump: where to
    std::size_t second = 0;
  };

 private:
  std::vector<Instruction> program_;
};

}  // namespace chipweave::codec
