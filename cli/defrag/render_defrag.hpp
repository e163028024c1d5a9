// Renders the moves that free domains: first what is gained, then which pod goes where.
#pragma once

#include <cstddef>
#include <string>

#include "cli/terminal.hpp"
#include "common/codec/gang/defrag_codec.hpp"

namespace chipweave::cli {

// Moves listed on a terminal; for more the output says how many are left out.
inline constexpr std::size_t kMaxMoveRows = 40;

// One row per move. No line is longer than `columns`. Precondition: something becomes free.
std::string render_defrag(const codec::DefragLineRequest& request,
                          const codec::DefragAnswer& answer,
                          std::size_t columns = output_columns());
// "gang: before does not fit (…); after fits: block 1, rack 2"; empty: the request has no gang.
std::string gang_outlook_line(const codec::DefragLineRequest& request,
                              const codec::DefragAnswer& answer);

}  // namespace chipweave::cli
