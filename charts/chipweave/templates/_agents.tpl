{{/*
What a preset sets: how the driver of a vendor is reached, and the labels of nodes that have its chips. Lists of labels are
alternatives. Classes of PCI devices are those that the agent's probes count: Huawei's and AMD's VGA controllers (0300) are
graphics of boards and processors.
*/}}
{{- define "chipweave.agentPresets" -}}
custom:
  settings: {}
  labels: []
nvidia:
  vendor: nvidia
  settings: {probe: nvidia, runtimeClassName: nvidia, driverRoot: "", hccn: false, privileged: false, asRoot: false}
  labels: &nvidia
  - {key: nvidia.com/gpu.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-0300_10de.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-0302_10de.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-10de.present, values: ["true"]}
nvidia-gpu-operator:
  vendor: nvidia
  settings: {probe: nvidia, runtimeClassName: "", driverRoot: /run/nvidia/driver, hccn: false, privileged: true, asRoot: false}
  labels: *nvidia
amd:
  vendor: amd
  settings: {probe: amd, runtimeClassName: "", driverRoot: "", hccn: false, privileged: true, asRoot: false}
  labels:
  - {key: feature.node.kubernetes.io/amd-gpu, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-0380_1002.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-1200_1002.present, values: ["true"]}
ascend:
  vendor: ascend
  settings: {probe: ascend, runtimeClassName: "", driverRoot: "", hccn: true, privileged: true, asRoot: true}
  labels:
  - {key: accelerator, values: [huawei-Ascend310, huawei-Ascend310P, huawei-Ascend910, huawei-npu]}
  - {key: feature.node.kubernetes.io/pci-1200_19e5.present, values: ["true"]}
metax:
  vendor: metax
  settings: {probe: metax, runtimeClassName: "", driverRoot: "", hccn: false, privileged: false, asRoot: false}
  labels:
  - {key: feature.node.kubernetes.io/pci-0300_9999.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-0302_9999.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-0380_9999.present, values: ["true"]}
  - {key: feature.node.kubernetes.io/pci-1200_9999.present, values: ["true"]}
{{- end -}}

{{/*
JSON list of the DaemonSets of agents, with all settings of each; empty without agents. Without agent.pools there is one,
whose `name` is empty. Settings of a pool win over those of its preset, and these over agent.*. `object`: the name of its
objects. Refuses pools of the same name and those that choose the same nodes.
*/}}
{{- define "chipweave.agentPools" -}}
{{- $agent := omit .Values.agent "enabled" "pools" -}}
{{- $pools := list -}}
{{- if .Values.agent.enabled -}}
{{- range $pool := .Values.agent.pools -}}
{{- $settings := include "chipweave.agentPool" (list $ $agent $pool) | fromJson -}}
{{- range $other := $pools -}}
{{- include "chipweave.agentPoolsApart" (list $other $settings) -}}
{{- end -}}
{{- $pools = append $pools $settings -}}
{{- else -}}
{{- $pools = list (merge (dict "name" "" "object" (include "chipweave.agent" .)) $agent) -}}
{{- end -}}
{{- end -}}
{{ toJson $pools }}
{{- end -}}

{{/* The settings of one pool: (list CONTEXT AGENT POOL). */}}
{{- define "chipweave.agentPool" -}}
{{- $pool := last . -}}
{{- $context := first . -}}
{{- $where := printf "agent.pools: %s" $pool.name -}}
{{- $preset := index (include "chipweave.agentPresets" $context | fromYaml) (default "custom" $pool.preset) -}}
{{- $settings := deepCopy (index . 1) -}}
{{- range $layer := list $preset.settings (omit $pool "preset" "discovery") -}}
{{- range $key, $value := $layer -}}
{{- if has $key (list "publish" "dra" "devicePlugin" "rankTableFiles" "nodeSelector" "podAnnotations" "podLabels") -}}
{{- $merged := dict -}}
{{- range $part := list (default dict (index $settings $key)) $value -}}
{{- range $name, $one := $part }}{{ $_ := set $merged $name $one }}{{ end -}}
{{- end -}}
{{- $_ := set $settings $key $merged -}}
{{- else -}}
{{- $_ := set $settings $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $chosen := or $pool.nodeSelector $pool.affinity -}}
{{- $discovery := default (ternary "none" "nfd" (not (empty (or $chosen (not $preset.vendor))))) $pool.discovery -}}
{{- if eq $discovery "nfd" -}}
{{- if not $preset.vendor -}}
{{- fail (printf "%s: discovery nfd needs a preset of a vendor" $where) -}}
{{- end -}}
{{- if $pool.affinity -}}
{{- fail (printf "%s: discovery nfd and affinity exclude each other" $where) -}}
{{- end -}}
{{- $terms := list (dict "matchExpressions" (list (dict "key" "chipweave.dev/agent" "operator" "In" "values" (list $pool.name)))) -}}
{{- range $preset.labels -}}
{{- $terms = append $terms (dict "matchExpressions" (list (dict "key" .key "operator" "In" "values" .values))) -}}
{{- end -}}
{{- $_ := set $settings "affinity" (dict "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms))) -}}
{{- $_ := set $settings "chooses" $preset.vendor -}}
{{- else -}}
{{- if not $chosen -}}
{{- fail (printf "%s: without discovery it needs a nodeSelector or an affinity; otherwise its agents run on every node" $where) -}}
{{- end -}}
{{- $_ := set $settings "affinity" (default dict $pool.affinity) -}}
{{- $_ := set $settings "chooses" (toJson $settings.affinity) -}}
{{- end -}}
{{- $_ := set $settings "vendor" (default "" $preset.vendor) -}}
{{- $_ := set $settings "object" (printf "%s-%s" (include "chipweave.agent" $context) $pool.name) -}}
{{ toJson $settings }}
{{- end -}}

{{/*
Refuses two pools of which one chooses all nodes of the other, as far as settings tell: with the same affinity, or found
by the labels of the other's vendor, and no key in its nodeSelector that is not in the other's. A node in two pools gets two
agents, of which one ends with "another chipweave-agent".
*/}}
{{- define "chipweave.agentPoolsApart" -}}
{{- $one := first . -}}
{{- $other := last . -}}
{{- if eq $one.name $other.name -}}
{{- fail (printf "agent.pools: the name %s occurs twice" $one.name) -}}
{{- end -}}
{{- if or (include "chipweave.agentPoolCovers" (list $one $other)) (include "chipweave.agentPoolCovers" (list $other $one)) -}}
{{- fail (printf "agent.pools: %s and %s choose the same nodes; a node can have one agent: set nodeSelector or affinity" $one.name $other.name) -}}
{{- end -}}
{{- end -}}

{{/* Whether the first of two pools chooses all nodes of the second: "true" or nothing. */}}
{{- define "chipweave.agentPoolCovers" -}}
{{- $one := first . -}}
{{- $other := last . -}}
{{- $same := or (eq $one.chooses $other.chooses) (and $one.vendor (eq $one.chooses $one.vendor) (eq $one.vendor $other.vendor)) -}}
{{- range $key, $value := $one.nodeSelector -}}
{{- if ne $value (toString (index $other.nodeSelector $key)) }}{{ $same = false }}{{ end -}}
{{- end -}}
{{- if $same -}}
true
{{- end -}}
{{- end -}}

{{/* Whether the agents of a pool read the kubelet's checkpoint of claims: "true" or nothing. */}}
{{- define "chipweave.agentSeesClaims" -}}
{{- if and (eq .enforcement "dra") (include "chipweave.agentAsksKubelet" .) -}}
true
{{- end -}}
{{- end -}}

{{/*
Whether the agents of a pool share a folder with chipweave-device-plugin: for its gate, or to ask the kubelet only when
no chips are given away.
*/}}
{{- define "chipweave.agentMeetsDevicePlugin" -}}
{{- if or (eq .enforcement "device-plugin") (and .devicePlugin.enabled (include "chipweave.agentAsksKubelet" .)) -}}
true
{{- end -}}
{{- end -}}

{{/* Whether any pool has a chipweave-device-plugin: "true" or nothing. */}}
{{- define "chipweave.anyDevicePlugin" -}}
{{- range $pool := include "chipweave.agentPools" . | fromJsonArray -}}
{{- if $pool.devicePlugin.enabled -}}
true
{{- break -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether any device plugin follows the node label of ACK. */}}
{{- define "chipweave.anyAckLabel" -}}
{{- range $pool := include "chipweave.agentPools" . | fromJsonArray -}}
{{- if and $pool.devicePlugin.enabled $pool.devicePlugin.ackLabel -}}
true
{{- break -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change of the agents of one pool: (list CONTEXT POOL). Without agent.pools those of all agents. */}}
{{- define "chipweave.agentPoolSelector" -}}
{{ include "chipweave.selector" (list (first .) "agent") }}
{{- with (last .).name }}
chipweave.dev/pool: {{ . }}
{{- end }}
{{- end -}}

{{/* What the agents of a pool publish besides their inventory, as the flag --publish has it; empty: nothing. */}}
{{- define "chipweave.agentPublishes" -}}
{{- $what := list -}}
{{- with .publish -}}
{{- if .mindcluster }}{{ $what = append $what "mindcluster" }}{{ end -}}
{{- if .ack }}{{ $what = append $what "ack" }}{{ end -}}
{{- if .labels }}{{ $what = append $what "labels" }}{{ end -}}
{{- if .gfdLabels }}{{ $what = append $what "gfd-labels" }}{{ end -}}
{{- if .metaxLabels }}{{ $what = append $what "metax-labels" }}{{ end -}}
{{- end -}}
{{ join "," $what }}
{{- end -}}

{{/* Whether the agents of a pool ask the kubelet which chips pods have: "true" or nothing. */}}
{{- define "chipweave.agentAsksKubelet" -}}
{{- if and .publish.podResources (or .publish.mindcluster .asRoot) -}}
true
{{- end -}}
{{- end -}}

{{/* Whether any pool publishes something: (list CONTEXT WHAT), WHAT a key of agent.publish. "true" or nothing. */}}
{{- define "chipweave.agentsPublish" -}}
{{- $what := last . -}}
{{- $found := "" -}}
{{- range include "chipweave.agentPools" (first .) | fromJsonArray -}}
{{- if index .publish $what }}{{ $found = "true" }}{{ end -}}
{{- end -}}
{{ $found }}
{{- end -}}

{{/* JSON list of the namespaces in which agents keep rank tables as files. */}}
{{- define "chipweave.agentRankTableNamespaces" -}}
{{- $where := list -}}
{{- range include "chipweave.agentPools" . | fromJsonArray -}}
{{- $where = concat $where .rankTableFiles.namespaces -}}
{{- end -}}
{{ $where | uniq | sortAlpha | toJson }}
{{- end -}}

{{/* JSON list of the names of the agents' DRA drivers. */}}
{{- define "chipweave.draDrivers" -}}
{{- $drivers := list -}}
{{- range include "chipweave.agentPools" . | fromJsonArray -}}
{{- if .dra.enabled }}{{ $drivers = append $drivers .dra.driver }}{{ end -}}
{{- end -}}
{{ $drivers | uniq | toJson }}
{{- end -}}

{{/* JSON list of the namespaces in which agents keep ConfigMaps. */}}
{{- define "chipweave.agentConfigMapNamespaces" -}}
{{- $where := list -}}
{{- $mindcluster := include "chipweave.agentsPublish" (list . "mindcluster") -}}
{{- if or $mindcluster (include "chipweave.agentsPublish" (list . "ack")) }}{{ $where = append $where "kube-system" }}{{ end -}}
{{- if $mindcluster }}{{ $where = append $where "mindx-dl" }}{{ end -}}
{{ toJson $where }}
{{- end -}}

{{/* The arguments of the agents of a pool: (list CONTEXT POOL). */}}
{{- define "chipweave.agentArguments" -}}
- --node=$(NODE_NAME)
{{- $context := first . }}
{{- with last . }}
- --probe={{ .probe }}
- --kubernetes
- --lease-namespace={{ $context.Release.Namespace }}
- --metrics=0.0.0.0:9400
- --metrics-tls-cert=/etc/chipweave/tls/tls.crt
- --metrics-tls-key=/etc/chipweave/tls/tls.key
- --log-level={{ .logLevel }}
{{- with .resources }}
- --resource={{ join "," . }}
{{- end }}
{{- with .healthFile }}
- --health-file=/etc/chipweave/health/{{ base . }}
{{- end }}
{{- if .healthPolicy }}
- --health-policy=/etc/chipweave/policy/health-policy.yaml
{{- end }}
{{- with .driverRoot }}
- --driver-root=/driver-root{{ if include "chipweave.mountedDriver" . }}/{{ base . }}{{ end }}
{{- end }}
{{- with .fabricPartitions }}
- --fabric-partitions={{ . }}
{{- end }}
{{- if ne .enforcement "none" }}
- --enforcement={{ .enforcement }}
{{- end }}
{{- if ne (int .metricsInterval) 10 }}
- --metrics-interval={{ int .metricsInterval }}
{{- end }}
{{- with include "chipweave.agentPublishes" . }}
- --publish={{ . }}
{{- end }}
{{- if include "chipweave.agentAsksKubelet" . }}
- --pod-resources=/var/lib/kubelet/pod-resources/kubelet.sock
{{- end }}
{{- if .dra.enabled }}
- --dra-driver={{ .dra.driver }}
- --dra-host-root=/host
{{- if .dra.managed }}
- --dra-managed=true
{{- end }}
{{- if .dra.evict }}
- --dra-evict=true
{{- end }}
{{- with .dra.deviceNodes }}
- {{ printf "--dra-device-nodes=%s" (join "," .) | toJson }}
{{- end }}
{{- with .dra.toolkitKind }}
- --dra-toolkit-kind={{ . }}
{{- end }}
{{- end }}
{{- with .rankTableFiles }}
{{- if .namespaces }}
- --rank-table-files={{ join "," .namespaces }}
- --rank-table-folder={{ .folder }}
{{- end }}
{{- end }}
{{- if .publish.nfd }}
- --nfd-file=/etc/kubernetes/node-feature-discovery/features.d/chipweave
{{- end }}
{{- end }}
{{- end -}}

{{/*
Whether a driver root is a mount of its own, which a driver container makes anew when it restarts: below /run, which is empty
after each boot. The folder above it is mounted then, because a mount of the root itself would stay at what it showed when
the agent's container started. "true" or nothing.
*/}}
{{- define "chipweave.mountedDriver" -}}
{{- if regexMatch "^/run/[^/]+/.*[^/]$" . -}}
true
{{- end -}}
{{- end -}}
