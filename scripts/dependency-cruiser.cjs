// Imports go one way: commands -> tui | proxy, tui -> the admin client and model, server and agent -> wire
// and ops, wire -> nothing of ours. No cycles anywhere.
const rule = (name, from, to) => ({ name, severity: 'error', from: { path: from }, to: { path: to } });
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    rule('wire-imports-nothing-of-ours', '^src/proxy/wire/', '^src/(?!proxy/wire/)'),
    rule('ops-imports-nothing-of-ours', '^src/proxy/ops/', '^src/(?!proxy/ops/)'),
    rule('server-imports-wire-and-ops', '^src/proxy/server/', '^src/(?!proxy/(server|wire|ops)/)'),
    rule('agent-imports-wire-and-ops', '^src/proxy/agent/', '^src/(?!proxy/(agent|wire|ops)/)'),
    rule('client-imports-wire-and-ops', '^src/proxy/client/', '^src/(?!proxy/(client|wire|ops)/)'),
    rule(
      'admin-client-imports-ops',
      '^src/proxy/admin/(client|model|messages)/',
      '^src/(?!proxy/(admin/(client|model|messages)|ops)/)',
    ),
    rule(
      'admin-service-imports-server-wire-and-ops',
      '^src/proxy/admin/service/',
      '^src/(?!proxy/(admin/(service|model|messages)|server|wire|ops)/)',
    ),
    rule('kubernetes-imports-ops', '^src/proxy/kubernetes/', '^src/(?!proxy/(kubernetes|ops)/)'),
    // It costs 0.15 s and 19 MB: kube-config.ts loads it, and is itself imported dynamically.
    rule(
      'one-module-loads-the-kubernetes-client',
      '^src/(?!proxy/kubernetes/kube-config)',
      '@kubernetes/client-node',
    ),
    {
      name: 'the-kubernetes-client-is-loaded-lazily',
      severity: 'error',
      from: {},
      to: { path: '^src/proxy/kubernetes/kube-config', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    // Ink takes a quarter of a second to load: only the screen does, and only when there is a terminal for it.
    rule('one-place-loads-ink', '^src/(?!tui/paint/)', 'node_modules/(ink|react)/'),
    {
      name: 'the-screen-is-loaded-lazily',
      severity: 'error',
      from: { path: '^src/(?!tui/)' },
      to: { path: '^src/tui/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    rule('proxy-never-imports-commands', '^src/proxy/', '^src/(commands|tui)/'),
    rule('tui-speaks-the-admin-api-only', '^src/tui/', '^src/(?!tui/|proxy/admin/(client|model))'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.json'] },
  },
};
