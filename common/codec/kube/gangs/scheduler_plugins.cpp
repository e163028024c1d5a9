// PodGroup of scheduler-plugins (scheduling.x-k8s.io/v1alpha1).
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {

void read_scheduler_plugins_pod_group(const KubeGangObject& object, GangReading& reading) {
  reading.declare("scheduler-plugins", object.name).minimum =
      pods_of(reading.spec(), "minMember", 1);
}

}  // namespace chipweave::codec
