# Sources of the JSON and text importers, relative to common/codec.
set(CHIPWEAVE_CODEC_TEXT_SOURCES
  topology/hardware/ascend_links.cpp
  topology/import.cpp
  topology/text/mx_smi.cpp
  topology/text/npu_smi.cpp
  topology/text/nvidia_smi.cpp
  topology/text/rocm_smi.cpp
  topology/text/text_matrix.cpp
  topology/topology_json.cpp
  topology/topology_json_export.cpp
  topology/topology_json_links.cpp)
