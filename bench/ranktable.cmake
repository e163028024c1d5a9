add_executable(bench_ranktable ranktable.cpp)
target_link_libraries(bench_ranktable PRIVATE chipweave_options chipweave_codec_ranktable fmt::fmt nlohmann_json::nlohmann_json simdjson::simdjson)
