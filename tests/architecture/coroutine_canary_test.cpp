// Toolchain canary: g++ 12 destroys a capturing lambda, and an aggregate temporary, twice when it
// is written in the same full expression as a co_await. scripts/check-coroutines keeps that pattern
// out of the code base. This test shows that the compiler still has the bug; when it no longer
// does, the rule can go.
//
// Only counters are touched, never the object, so that the second destruction harms nothing (also
// under ASan).
#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <utility>

namespace {

struct Counts {
  int made = 0;
  int destroyed = 0;
};
Counts counts;

struct Tracked {
  Tracked() { ++counts.made; }
  Tracked(const Tracked&) { ++counts.made; }
  Tracked(Tracked&&) noexcept { ++counts.made; }
  Tracked& operator=(const Tracked&) = default;
  Tracked& operator=(Tracked&&) noexcept = default;
  ~Tracked() { ++counts.destroyed; }
};

struct Aggregate {
  Tracked tracked;
};

// Runs to completion when it is created, so no scheduler is needed.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

std::suspend_never take(const Aggregate&) { return {}; }

template <class Function>
std::suspend_never call(Function function) {
  function();
  return {};
}

Task aggregate_in_the_expression() { co_await take(Aggregate{Tracked{}}); }
Task lambda_in_the_expression(Tracked tracked) {
  co_await call([tracked] { (void)tracked; });
}
Task aggregate_named_before() {
  const Aggregate aggregate{Tracked{}};
  co_await take(aggregate);
}
Task lambda_named_before(Tracked tracked) {
  auto function = [tracked] { (void)tracked; };
  co_await call(std::move(function));
}

// Destructions without a matching construction.
template <class Run>
int surplus_destructions(Run run) {
  counts = {};
  run();
  return counts.destroyed - counts.made;
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
constexpr bool kCompilerHasTheBug = true;
#else
constexpr bool kCompilerHasTheBug = false;
#endif

TEST(CoroutineCanary, CompilerDestroysTemporariesOfAwaitExpressionsTwice) {
  const int surplus = surplus_destructions([] { aggregate_in_the_expression(); }) +
                      surplus_destructions([] { lambda_in_the_expression(Tracked{}); });
  if (kCompilerHasTheBug) {
    EXPECT_GT(surplus, 0)
        << "g++ 12 no longer has this bug: scripts/check-coroutines, its stage in .ci/run and this "
           "test can go once no supported compiler has it";
  } else if (surplus == 0) {
    GTEST_SKIP() << "this compiler is not g++ 12 and does not have the bug; nothing to watch";
  }
}

TEST(CoroutineCanary, NamedObjectsAreDestroyedOnce) {
  EXPECT_EQ(surplus_destructions([] { aggregate_named_before(); }), 0);
  EXPECT_EQ(surplus_destructions([] { lambda_named_before(Tracked{}); }), 0);
}

}  // namespace
