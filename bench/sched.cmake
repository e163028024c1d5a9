# What a thing that the scheduler does beside its answers costs its loop.
add_executable(bench_cluster_info cluster_info.cpp)
target_link_libraries(bench_cluster_info PRIVATE chipweave_options chipweave_sched_cluster_info chipweave_codec chipweave_profiles
  CLI11::CLI11)
add_executable(bench_preemption preemption.cpp)
target_link_libraries(bench_preemption PRIVATE chipweave_options chipweave_sched_app chipweave_codec chipweave_profiles)
add_executable(bench_loop_hold loop_hold.cpp loop_hold_api.cpp http_socket.cpp ${PROJECT_SOURCE_DIR}/tests/component/kube_api/certificates.cpp)
target_link_libraries(bench_loop_hold PRIVATE chipweave_options chipweave_sched_server chipweave_sched_kube chipweave_codec
  chipweave_profiles chipweave_http CLI11::CLI11 OpenSSL::SSL Threads::Threads)
add_executable(bench_sched_gangs sched_gangs.cpp)
target_link_libraries(bench_sched_gangs PRIVATE chipweave_options chipweave_sched_app chipweave_codec chipweave_profiles)
