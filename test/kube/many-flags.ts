// Flags that real manifests have beside those that a cluster cannot do without. Both programs take all of them.
const logging = ['--v=2', '--vmodule=backend_manager=2', '--logtostderr=true', '--stderrthreshold=2'];

export const manyServerFlags: readonly string[] = [
  ...logging,
  '--delete-existing-uds-file=true',
  '--proxy-strategies=destHost,defaultRoute,default',
  '--keepalive-time=30m',
  '--frontend-keepalive-time=1h',
  '--enable-profiling=true',
  '--enable-contention-profiling=true',
  '--kubeconfig-qps=20',
  '--kubeconfig-burst=40',
  '--kube-api-content-type=application/json',
  '--cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  '--tls-min-version=VersionTLS12',
  '--xfr-channel-size=100',
  '--graceful-shutdown-timeout=2s',
  '--backend-dial-timeout=10s',
  '--lease-namespace=kube-system',
  '--lease-label=k8s-app=konnectivity-server',
];

export const manyAgentFlags: readonly string[] = [
  ...logging,
  '--agent-identifiers=ipv4=10.97.0.1&host=localhost&default-route=true',
  '--enable-profiling=true',
  '--sync-interval=1s',
  '--sync-interval-cap=10s',
  '--probe-interval=1s',
  '--keepalive-time=1h',
  '--xfr-channel-size=150',
  '--warn-on-channel-limit=false',
  '--lease-namespace=kube-system',
  '--lease-label-selector=k8s-app=konnectivity-server',
  '--server-count-source=default',
  '--kube-api-content-type=application/json',
];
