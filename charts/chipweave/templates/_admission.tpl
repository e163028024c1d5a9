{{/*
The webhook that asks chipweave before a pod is bound: (list CONTEXT PATH CA), CA in base64; empty: cert-manager fills it
in. Made beside the certificate and the callers' secrets, because what helm makes anew is known only there.
*/}}
{{- define "chipweave.admission" -}}
{{- $context := first . }}
{{- $admission := $context.Values.admission }}
{{- $name := include "chipweave.scheduler" $context }}
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: {{ $name }}
  labels: {{- include "chipweave.labels" (list $context "scheduler") | nindent 4 }}
  {{- if not (last .) }}
  annotations:
    cert-manager.io/inject-ca-from: {{ $context.Release.Namespace }}/{{ $name }}-tls
  {{- end }}
webhooks:
- name: binding.chipweave.dev
  clientConfig:
    service: {namespace: {{ $context.Release.Namespace }}, name: {{ $name }}, port: 8443, path: {{ index . 1 }}}
    {{- with last . }}
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
{{- end -}}
