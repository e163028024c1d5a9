// The error of a log or fit that is refused; its message is the reason.
#pragma once

#include <string>
#include <utility>

#include "common/base/result.hpp"

namespace chipweave::solver {

inline Error refused(std::string why) { return make_error(Errc::invalid_argument, std::move(why)); }

}  // namespace chipweave::solver
