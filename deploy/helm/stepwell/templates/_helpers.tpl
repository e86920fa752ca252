{{- define "stepwell.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "stepwell.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "stepwell.selector" -}}
app.kubernetes.io/name: stepwell
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "stepwell.labels" -}}
{{ include "stepwell.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "stepwell.hasFiles" -}}
{{- if or .Values.modelProviders .Values.priceList }}true{{ end -}}
{{- end -}}

{{/* The variables of all pods, except those of files: the first migration runs before they exist. */}}
{{- define "stepwell.env" -}}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.databaseUrl.name }}, key: {{ .Values.secrets.databaseUrl.key }} } }
- name: STEPWELL_SECRET
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.secret.name }}, key: {{ .Values.secrets.secret.key }} } }
- name: APP_URL
  value: {{ .Values.appUrl | quote }}
{{- if not (hasKey .Values.env "TRUST_PROXY") }}
- name: TRUST_PROXY
  value: {{ ternary "1" "0" .Values.ingress.enabled | quote }}
{{- end }}
{{- if .Values.inngest.baseUrl }}
- name: INNGEST_BASE_URL
  value: {{ .Values.inngest.baseUrl | quote }}
- name: INNGEST_SERVE_ORIGIN
  value: http://{{ include "stepwell.name" . }}-worker.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "stepwell.fileEnv" -}}
{{- if .Values.modelProviders }}
- name: MODEL_PROVIDERS
  value: /etc/stepwell/model-providers.yaml
{{- end }}
{{- if .Values.priceList }}
- name: PRICE_LIST
  value: /etc/stepwell/price-list.yaml
{{- end }}
{{- end -}}

{{- define "stepwell.envFrom" -}}
{{- range .Values.secrets.env }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- if .Values.inngest.secretName }}
- secretRef: { name: {{ .Values.inngest.secretName }} }
{{- end }}
{{- end -}}

{{- define "stepwell.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "stepwell.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "stepwell.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: data, mountPath: /data }
{{- if include "stepwell.hasFiles" . }}
- { name: files, mountPath: /etc/stepwell, readOnly: true }
{{- end }}
{{- end -}}

{{- define "stepwell.volumes" -}}
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
{{- if include "stepwell.hasFiles" . }}
- name: files
  configMap: { name: {{ include "stepwell.name" . }}-files }
{{- end }}
{{- end -}}

{{- define "stepwell.scheduling" -}}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
