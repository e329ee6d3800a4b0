import { join } from 'node:path';
import type { CleanUp } from './clean-up.ts';
import type { DestinationPorts } from './messages.ts';
import { WorkerProcess } from './worker-process.ts';

/** The processes around what is measured: load generator in front, destination behind, and what makes a link long. */
export interface Workers {
  readonly load: WorkerProcess;
  readonly destination: WorkerProcess;
  readonly relay: WorkerProcess;
  readonly ports: DestinationPorts;
  /** The destination's own `ProxyService`, which the generator reaches without any proxy. */
  readonly stubSocketPath: string;
}

/** @param name unique within the run, fit for a file name */
export async function startWorkers(cleanUp: CleanUp, name = 'stub'): Promise<Workers> {
  const load = new WorkerProcess('load.ts', cleanUp);
  const destination = new WorkerProcess('destination.ts', cleanUp);
  const relay = new WorkerProcess('link/relay.ts', cleanUp);
  const ports = await destination.call<DestinationPorts>('listen');
  const stubSocketPath = join(cleanUp.directory, `${name}.sock`);
  await destination.call('listenStub', stubSocketPath);
  return { load, destination, relay, ports, stubSocketPath };
}
