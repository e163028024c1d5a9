#include "cli/place_engine.hpp"

#include <gmock/gmock.h>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PlaceEngine, RepeatsWhatTheImportOfTheMachineAssumed) {
  const io::TempFolder tmp;
  codec::PlaceRequest request;
  request.machine = tmp.put("topo.txt", "GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n");
  request.size = 2;
  PlaceEngine engine;
  for (int i = 0; i < 2; ++i) {  // read, then kept
    const auto prepared = engine.prepare(request);
    ASSERT_TRUE(prepared.ok()) << prepared.error().text();
    const auto answer = PlaceEngine::answer(*prepared, PlaceEngine::decide(*prepared));
    EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("the model is not printed")));
  }
  request.machine = "hgx-v100-8";
  EXPECT_TRUE(engine.prepare(request)->warnings.empty());
}

}  // namespace
}  // namespace chipweave::cli
