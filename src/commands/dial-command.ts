import type { Command } from 'commander';
import type { DialFlags } from './dial-flags.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
Exit codes: 0 the tunnel ended in order; 1 the dial was refused or the tunnel was cut; 2 usage; 5
the server cannot be reached or TLS was refused; 130 interrupted.

When stdin ends, the tunnel stays until the other side ends it. With --shutdown that end is passed
on, and the answer still comes; a Go server, or a Go agent behind it, knows no half-closed tunnel
and closes it in both directions.

Examples:
  Ask an HTTP server that an agent can reach, through the socket of a server in mode http-connect:
    printf 'GET / HTTP/1.0\\r\\n\\r\\n' | konnectivity-ts dial 10.0.0.7:80 --server /run/k.sock

  See each step, through a server in mode grpc that wants a client certificate:
    konnectivity-ts dial kubelet.example:10250 --server konnectivity.example:8090 --mode grpc \\
      --ca-cert ca.crt --cert client.crt --key client.key -v

  As ssh's way to a node:
    ssh -o ProxyCommand='konnectivity-ts dial %h:%p --server /run/konnectivity.sock' node-a
`;

/** Describes the flags of `dial`; what it does is loaded when it runs. */
export function defineDial(command: Command): void {
  command
    .summary('connects stdin and stdout to a destination, through the tunnel')
    .description('connects stdin and stdout to a destination, through a proxy server and one of its agents')
    .argument('<host:port>', 'the destination, as the agent knows it')
    .requiredOption('--server <path|host:port>', "the server's frontend: a Unix socket, or TLS")
    .option('--mode <mode>', 'what the frontend speaks: http-connect or grpc', 'http-connect')
    .option('--ca-cert <file>', "CA (PEM) of the server's certificate; needed with host:port")
    .option('--cert <file>', 'client certificate (PEM)')
    .option('--key <file>', 'private key (PEM) of --cert')
    .option('--timeout <duration>', 'for connecting and for the answer to the dial', '30s')
    .option('-N, --shutdown', 'when stdin ends, end the sending side of the tunnel (http-connect)')
    .option('-v, --verbose', 'show each step and its time on stderr')
    .addHelpText('after', AFTER_HELP)
    .action(async (address: string, flags: DialFlags) => {
      const { dial } = await import('./dial.ts');
      process.exitCode = await dial(address, flags, processIo());
    });
}
