// ToolLog — the output of a rank table generator, in the form of the reference's logging
// ("<time>-INFO: Save <path>.").
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace chipweave::cli {

// Takes text with its line ends.
using Sink = std::function<void(std::string_view)>;

class ToolLog {
 public:
  ToolLog(std::string program, Sink out, Sink err)
      : program_(std::move(program)), out_(std::move(out)), err_(std::move(err)) {}

  const std::string& program() const { return program_; }
  // To stdout, unchanged.
  void print(std::string_view text) const { out_(text); }
  // One line on stderr each. Control characters become '?', because they could steer a terminal.
  void info(std::string_view message) const;
  void warn(std::string_view message) const;
  // "PROGRAM: error: …"
  void fail(std::string_view message) const;

 private:
  std::string program_;
  Sink out_;
  Sink err_;
};

}  // namespace chipweave::cli
