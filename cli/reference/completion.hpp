// Completion of command lines: a script for each shell, which asks the program for candidates, so
// that they come from the one definition of the flags.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::cli {

inline constexpr std::string_view kCompleteWord = "__complete";

struct Candidate {
  std::string text;
  std::string about;
};

struct Completion {
  std::vector<Candidate> candidates;  // that begin with the unfinished word
  bool files = false;                 // and names of files
  bool folders = false;               // and names of folders
};

// words: the finished words behind the program's name, and the unfinished one, which may be empty.
Completion complete(const CLI::App& program, const std::vector<std::string>& words);

// Lines "TEXT<tab>ABOUT" and at the end ":N", N as in cobra's protocol, which `kubectl` reads of
// its plugins' completion: 4 no file names, 16 names of folders, 0 names of files.
std::string completion_lines(const Completion& completion);

std::vector<std::string_view> completion_shells();
// shell: of completion_shells().
std::string_view completion_script(std::string_view shell);

}  // namespace chipweave::cli
