# Sources of the JSON and text importers, relative to common/codec.
set(CHIPWEAVE_CODEC_TEXT_SOURCES
  topology/ascend_links.cpp
  topology/import.cpp
  topology/npu_smi.cpp
  topology/nvidia_smi.cpp
  topology/rocm_smi.cpp
  topology/text_matrix.cpp
  topology/text_quote.cpp
  topology/topology_json.cpp
  topology/topology_json_export.cpp
  topology/topology_json_links.cpp)
