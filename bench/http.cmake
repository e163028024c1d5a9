# The scheduler's filter and prioritize over HTTP against an echo floor (see filter_http.cpp).
add_executable(bench_filter_http filter_http.cpp echo_floor.cpp filter_body.cpp)
target_link_libraries(bench_filter_http PRIVATE chipweave_options chipweave_http chipweave_base simdjson::simdjson
  fmt::fmt Threads::Threads)
