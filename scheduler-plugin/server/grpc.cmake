# The gRPC server, a library of its own: builds without gRPC leave it out. Included by scheduler-plugin/CMakeLists.txt.
if(CHIPWEAVE_GRPC)
  add_library(chipweave_sched_grpc STATIC
    ${CMAKE_CURRENT_LIST_DIR}/grpc_auth.cpp ${CMAKE_CURRENT_LIST_DIR}/grpc_calls.cpp ${CMAKE_CURRENT_LIST_DIR}/grpc_decode.cpp
    ${CMAKE_CURRENT_LIST_DIR}/grpc_inventory.cpp ${CMAKE_CURRENT_LIST_DIR}/grpc_placement.cpp
    ${CMAKE_CURRENT_LIST_DIR}/grpc_server.cpp ${CMAKE_CURRENT_LIST_DIR}/grpc_slots.cpp ${CMAKE_CURRENT_LIST_DIR}/grpc_unary.cpp ${CMAKE_CURRENT_LIST_DIR}/grpc_watch.cpp
    ${CMAKE_CURRENT_LIST_DIR}/clusterd/subscriptions.cpp
    ${CMAKE_CURRENT_LIST_DIR}/clusterd/jobs/job_feed.cpp ${CMAKE_CURRENT_LIST_DIR}/clusterd/jobs/job_log.cpp
    ${CMAKE_CURRENT_LIST_DIR}/clusterd/jobs/job_readers.cpp ${CMAKE_CURRENT_LIST_DIR}/clusterd/jobs/job_service.cpp
    ${CMAKE_CURRENT_LIST_DIR}/clusterd/fault_feed.cpp ${CMAKE_CURRENT_LIST_DIR}/clusterd/services.cpp ${CMAKE_CURRENT_LIST_DIR}/clusterd/clusterd_server.cpp)
  target_link_libraries(chipweave_sched_grpc PUBLIC chipweave_options chipweave_sched_server chipweave_sched_ranktables chipweave_codec_mindcluster chipweave_domain chipweave_rpc chipweave_http chipweave_obs)
endif()
