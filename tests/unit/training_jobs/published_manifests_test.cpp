// Vendors' published manifests: what their documents say of them, happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/paths.hpp"
#include "tests/unit/training_jobs/job_world.hpp"
#include "tests/unit/training_jobs/page.hpp"

namespace chipweave::sched::test {
namespace {

}  // namespace
}  // namespace chipweave::sched::test
