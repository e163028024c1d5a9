// What the labels and annotations of a pod say about its placement: its job, and what its chips
// are chosen for.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/domain/objective.hpp"

namespace chipweave::domain {

using PodLabels = std::map<std::string, std::string>;

// Which pods belong to one job, from the labels that job controllers set; "" if the pod carries no
// such label. Never equal for pods of two namespaces.
std::string job_identity(const std::string& ns, const PodLabels& labels);
// The job of such an identity for people: the value of its label (with "/" and that of the inner
// one). An identity of another form is its own name.
std::string job_name(std::string identity);

struct PodWishes {
  double needs_gbps = 0;  // the pod gains nothing from more; 0: not declared
  Objective objective = Objective::bandwidth;
};
// Sets what the annotations say. Returns why one of them is wrong; empty: none is.
std::string read_wishes(const PodLabels& annotations, PodWishes& to);

}  // namespace chipweave::domain
