// Every set of every machine of at most 8 chips: the solver's prediction equals the oracle's.
#include <gtest/gtest.h>

#include "common/solver/chips/machine.hpp"
#include "tests/oracle/oracle.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave {
namespace {

using domain::ChipSet;

void expect_all_sets_equal(const domain::NodeTopology& machine, const std::string& what) {
  solver::Machine solved(machine);
  for (std::uint64_t m = 1; m <= machine.all().bits(); ++m) {
    ASSERT_NEAR(solved.gbps(ChipSet(m)), oracle::bandwidth(machine, ChipSet(m)), 1e-5)
        << what << " set " << m;
  }
}

class EveryProfile : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryProfile, HealthyAndWithRandomFaults) {
  const domain::NodeTopology machine = test::profile(GetParam());
  expect_all_sets_equal(machine, GetParam());
  if (machine.links().empty()) return;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    expect_all_sets_equal(test::with_random_faults(machine, seed),
                          GetParam() + " faults " + std::to_string(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, EveryProfile, ::testing::ValuesIn(test::profile_names(8)),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

class RandomHybrid : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomHybrid, EverySet) {
  const unsigned seed = GetParam();
  expect_all_sets_equal(test::random_machine(4 + static_cast<int>(seed % 5), seed),
                        "seed " + std::to_string(seed));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHybrid, ::testing::Range(1U, 121U));

}  // namespace
}  // namespace chipweave
