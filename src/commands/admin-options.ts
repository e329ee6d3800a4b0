import { type Command, Option } from 'commander';

/** Adds the options that say which servers to ask. */
export function addAdminOptions(command: Command): Command {
  return command
    .option(
      '--admin <address,...>',
      'admin service of a server, or of several: unix:///path or host:port; ' +
        'without it KONNECTIVITY_TS_ADMIN, or the server on this machine',
    )
    .option('--admin-cert <file>', 'client certificate (PEM) for host:port')
    .option('--admin-key <file>', 'private key (PEM) of --admin-cert')
    .option('--admin-ca-cert <file>', "CA (PEM) of the servers' admin certificates");
}

/** Adds `-o`. */
export function addOutputOption(command: Command, ...choices: string[]): Command {
  return command.addOption(new Option('-o, --output <format>', 'text when left out').choices(choices));
}
