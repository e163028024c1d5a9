// ToolLog — what a generator of rank tables says, in the form of the reference's logging
// ("<time>-INFO: Save <path>."), and where that goes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::cli {

// Takes text with its line ends.
using Sink = std::function<void(std::string_view)>;

class ToolLog {
 public:
  ToolLog(std::string program, Sink out, Sink err)
      : program_(std::move(program)), out_(std::move(out)), err_(std::move(err)) {}

  const std::string& program() const { return program_; }
  // To stdout, as it is.
  void print(std::string_view text) const { out_(text); }
  // A line each on stderr. Control characters, which could steer a terminal, become '?'.
  void info(std::string_view sentence) const;
  void warn(std::string_view sentence) const;
  void fail(const Error& error) const;
  // As argparse: the usage, then the error.
  void misuse(std::string_view usage, const Error& error) const;

 private:
  std::string program_;
  Sink out_;
  Sink err_;
};

}  // namespace chipweave::cli
