{{/*
The webhooks that the API server calls before it binds and before it creates a pod: (list CONTEXT SECRET CA). SECRET:
/callers/SECRET, or empty. CA in base64; empty: cert-manager fills it in. Made beside the certificate and the callers'
secrets, because new ones are known only there.
*/}}
{{- define "chipweave.admission" -}}
{{- $context := first . }}
{{- $secret := index . 1 }}
{{- $ca := last . }}
{{- $admission := $context.Values.admission }}
{{- $gate := $context.Values.scheduler.gangs.gate }}
{{- $name := include "chipweave.scheduler" $context }}
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: {{ $name }}
  labels: {{- include "chipweave.labels" (list $context "scheduler") | nindent 4 }}
  {{- if not $ca }}
  annotations:
    cert-manager.io/inject-ca-from: {{ $context.Release.Namespace }}/{{ $name }}-tls
  {{- end }}
webhooks:
{{- if $admission.enabled }}
- name: binding.chipweave.dev
  clientConfig:
    service: {namespace: {{ $context.Release.Namespace }}, name: {{ $name }}, port: 8443, path: {{ $secret }}/admission/binding}
    {{- with $ca }}
    caBundle: {{ . }}
    {{- end }}
  # bindings: the legacy path of the same request.
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods/binding, bindings], scope: Namespaced}
  admissionReviewVersions: [v1]
  sideEffects: NoneOnDryRun
  reinvocationPolicy: Never
  failurePolicy: {{ $admission.failurePolicy }}
  timeoutSeconds: {{ int $admission.timeoutSeconds }}
  namespaceSelector: {{- toYaml $admission.namespaceSelector | nindent 4 }}
  {{- with $admission.matchConditions }}
  matchConditions: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- if $gate.enabled }}
- name: gate.chipweave.dev
  # Every replica decides from the pod alone.
  clientConfig:
    service: {namespace: {{ $context.Release.Namespace }}, name: {{ include "chipweave.readers" $context }}, port: 8443, path: {{ $secret }}/admission/gate}
    {{- with $ca }}
    caBundle: {{ . }}
    {{- end }}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}
  admissionReviewVersions: [v1]
  sideEffects: None
  # Other webhooks may write the labels that make a pod the member of a gang.
  reinvocationPolicy: IfNeeded
  failurePolicy: {{ $gate.failurePolicy }}
  timeoutSeconds: {{ int $gate.timeoutSeconds }}
  namespaceSelector: {{- toYaml $gate.namespaceSelector | nindent 4 }}
  objectSelector: {{- toYaml $gate.objectSelector | nindent 4 }}
{{- end }}
{{- end -}}
