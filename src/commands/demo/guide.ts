import { readFileSync } from 'node:fs';
import { shellWord } from '../shell-word.ts';
import { hostOf } from './agent-process.ts';
import type { Scene } from './scene.ts';

/** How this program is called from where the reader is: npx finds it in its own checkout only. */
export function ownCommand(cwd: string, entry: string): string {
  try {
    const { name } = JSON.parse(readFileSync(`${cwd}/package.json`, 'utf8')) as { name?: unknown };
    if (name === 'konnectivity-ts') return 'npx konnectivity-ts';
  } catch {
    // Not in a checkout.
  }
  return `node ${shellWord(entry)}`;
}

/**
 * What runs where, what to look at, and commands that work as they are printed.
 * @param terminal somebody is there to press Enter
 */
export function guide(scene: Scene, command: string, healthPort: number, terminal: boolean): string {
  const { unix, tls, target, pki, agents, server, serverLog, adminAddress } = scene;
  const first = [...agents.values()][0];
  const id = first?.id ?? '';
  const host = hostOf(id);
  const operate = (words: string): string => `${command} ${words} --admin ${shellWord(adminAddress)}`;
  const url = `http://${host}:${target.port}`;
  const files = [
    `--proxy-cacert ${shellWord(pki.caFile)}`,
    `--proxy-cert ${shellWord(pki.client.certFile)}`,
    `--proxy-key ${shellWord(pki.client.keyFile)}`,
  ];
  // --noproxy: a no_proxy of the environment would lead around the tunnel.
  const curl = `curl --noproxy '' --proxytunnel -x https://127.0.0.1:${tls.port} ${files.join(' ')}`;
  const processes = [...agents.values()].map(
    ({ id: one, pid, healthPort: port }) =>
      `  agent   ${one}  pid ${pid}, serves ${hostOf(one)} first, health and metrics on http://127.0.0.1:${port}`,
  );
  return `
What runs, all on 127.0.0.1 and with certificates of its own:
  server  demo-server  pid ${process.pid}, health and metrics on http://127.0.0.1:${healthPort}
          frontends    ${unix.path}
                       https://127.0.0.1:${tls.port} (client certificate)
          agents       127.0.0.1:${server.agentPort} (client certificate)
          admin        ${adminAddress}
${processes.join('\n')}
  target  an HTTP server on port ${target.port}, asked once a second through the tunnel

Through the Unix socket, each step shown:
  printf 'GET / HTTP/1.0\\r\\n\\r\\n' | ${command} dial ${host}:${target.port} --server ${shellWord(unix.path)} -v

Through mTLS, as any HTTP client can:
  ${curl} ${url}/

Operate it, in another terminal:
  ${operate('top')}
  ${operate('agents -o wide')}
  ${operate(`select ${host}:${target.port}`)}

Drain an agent under a download (two terminals): it ends whole, new dials go elsewhere, and undrain brings them back:
  ${curl} -o /dev/null '${url}/big?n=30000000&rate=1000000'
  ${operate(`drain ${id} --reason 'a first try'`)}
  ${operate(`undrain ${id}`)}

Or let an agent leave by itself, as a cluster does; it comes back after a while:
  kill -TERM ${first?.pid}

Look at what happens:
  tail -f ${shellWord(serverLog)} ${shellWord(first?.logFile ?? '')}
  curl --noproxy '' 'http://127.0.0.1:${first?.healthPort}/readyz?verbose'
  curl --noproxy '' http://127.0.0.1:${healthPort}/metrics

${terminal ? 'Enter opens top, in which h shows these lines again. ' : ''}Ctrl-C ends everything.
`;
}
