{{- define "chipweave.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "chipweave.scheduler" -}}{{ include "chipweave.fullname" . }}-scheduler{{- end -}}
{{/* The Service of all replicas, for what only looks. */}}
{{- define "chipweave.readers" -}}{{ include "chipweave.scheduler" . }}-read{{- end -}}
{{/* The Service for clients of MindCluster's ClusterD. */}}
{{- define "chipweave.clusterd" -}}{{ .Values.scheduler.clusterd.serviceName | default (printf "%s-clusterd" (include "chipweave.scheduler" .)) }}{{- end -}}
{{- define "chipweave.agent" -}}{{ include "chipweave.fullname" . }}-agent{{- end -}}

{{/* Labels that never change: (list CONTEXT COMPONENT). */}}
{{- define "chipweave.selector" -}}
{{- $context := first . -}}
app.kubernetes.io/name: {{ default $context.Chart.Name $context.Values.nameOverride }}
app.kubernetes.io/instance: {{ $context.Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{- define "chipweave.labels" -}}
{{ include "chipweave.selector" . }}
{{- $context := first . }}
app.kubernetes.io/version: {{ $context.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $context.Release.Service }}
helm.sh/chart: {{ $context.Chart.Name }}-{{ $context.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "chipweave.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* The Secrets with the serving certificates: two, so that a captured node cannot impersonate the scheduler. */}}
{{- define "chipweave.tlsSecret" -}}
{{ default (printf "%s-tls" (include "chipweave.scheduler" .)) .Values.tls.existingSecret }}
{{- end -}}
{{- define "chipweave.agentTlsSecret" -}}
{{ default (printf "%s-tls" (include "chipweave.agent" .)) .Values.tls.agentExistingSecret }}
{{- end -}}

{{/* The Secret with a secret for each caller that presents no certificate. */}}
{{- define "chipweave.callersSecret" -}}
{{ default (printf "%s-callers" (include "chipweave.fullname" .)) .Values.callers.existingSecret }}
{{- end -}}

{{/* The name that kube-scheduler checks the certificate for. */}}
{{- define "chipweave.serverName" -}}
{{ include "chipweave.scheduler" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{/* JSON list of the names that the certificate of a program is good for: (list CONTEXT SERVICE MORE-SERVICES…). */}}
{{- define "chipweave.dnsNames" -}}
{{- $names := list -}}
{{- range $service := rest . -}}
{{- $spaced := printf "%s.%s" $service (first $).Release.Namespace -}}
{{- $names = concat $names (list $service $spaced (printf "%s.svc" $spaced) (printf "%s.svc.cluster.local" $spaced)) -}}
{{- end -}}
{{ append $names "localhost" | toJson }}
{{- end -}}

{{- define "chipweave.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "chipweave.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Whether ServiceMonitors are made: "true" or nothing. */}}
{{- define "chipweave.monitored" -}}
{{- if and .Values.serviceMonitor.enabled (or .Values.serviceMonitor.force (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
true
{{- end -}}
{{- end -}}

{{/* Whether the PrometheusRule is made: "true" or nothing. */}}
{{- define "chipweave.alerting" -}}
{{- if and .Values.prometheusRule.enabled (or .Values.prometheusRule.force (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
true
{{- end -}}
{{- end -}}
