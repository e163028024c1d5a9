// CPU masks as Linux, NCCL and hwloc print them.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::codec {

// "000000ff,fff00000" or "0x000000ff,0xfff00000" (32-bit words, the highest first; an empty word is
// 0) → "20-39". Empty if there is no CPU, more than 8192, or anything else in the text.
std::string cpu_list_of_mask(std::string_view mask);

}  // namespace chipweave::codec
