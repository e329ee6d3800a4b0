/** Flags of distributions' own builds, which generated manifests pass, and what to do about each. */
export const foreignFlags: Readonly<Record<'serve' | 'agent', Readonly<Record<string, string>>>> = {
  serve: {
    'bind-address':
      'k0s adds it; remove it and use --server-bind-address, --agent-bind-address, --admin-bind-address or --health-bind-address',
    'apiserver-port-mapping': 'k0s adds it for traffic from nodes to the API server; remove it',
    'feature-gates': 'k0s adds it; remove it, there are no feature gates here',
  },
  agent: {
    'bind-address':
      'k0s adds it for traffic from nodes to the API server, which this agent does not carry; remove it, and use --health-server-host or --admin-bind-address for the own ports',
    'apiserver-port-mapping':
      'k0s adds it for traffic from nodes to the API server, which this agent does not carry; remove it and let that traffic go to the API server directly',
    'feature-gates': 'k0s adds it; remove it, there are no feature gates here',
  },
};
