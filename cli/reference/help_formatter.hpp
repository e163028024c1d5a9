// HelpFormatter — the layout of --help: a flag with the name of its value; which flags exclude each
// other is left to the error that names them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace chipweave::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace chipweave::cli
