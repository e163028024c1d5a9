// Which machines hang on the same leaf switches, from what their devices say.
//
// A device names one switch; the devices of a machine often hang on several (one a rail, or two for
// safety). Machines that share a switch are one group: with rails all of them share every switch of
// their group, and a device that does not know its switch does no harm.
#pragma once

#include <string>
#include <vector>

namespace chipweave::codec {

// tors: by machine, the switch of each of its devices, "" where it does not know. Gives, by
// machine, a name of its group, the first of the group's switches in natural order; "" where no
// device knows any.
std::vector<std::string> tor_groups(const std::vector<std::vector<std::string>>& tors);

}  // namespace chipweave::codec
