// Targets — what a benchmark claims: prints each figure beside its limit as met or MISSED, and says
// whether all were met, for the exit code.
#pragma once

#include <cstdio>
#include <string>

namespace chipweave::bench {

class Targets {
 public:
  void at_most(const std::string& what, double figure, double limit, const char* unit) {
    const bool met = figure <= limit;
    std::printf("%-58s %9.2f, at most %7.2f %-4s %s\n", what.c_str(), figure, limit, unit,
                met ? "met" : "MISSED");
    std::fflush(stdout);
    all_met_ = all_met_ && met;
  }
  bool all_met() const { return all_met_; }

 private:
  bool all_met_ = true;
};

}  // namespace chipweave::bench
