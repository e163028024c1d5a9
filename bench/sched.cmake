# What a thing that the scheduler does beside its answers costs its loop.
add_executable(bench_cluster_info cluster_info.cpp)
target_link_libraries(bench_cluster_info PRIVATE chipweave_options chipweave_sched_kube chipweave_codec chipweave_profiles
  CLI11::CLI11)
add_executable(bench_preemption preemption.cpp)
target_link_libraries(bench_preemption PRIVATE chipweave_options chipweave_sched_app chipweave_codec chipweave_profiles)
