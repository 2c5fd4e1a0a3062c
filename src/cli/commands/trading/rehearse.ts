import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { connectionOptions } from '../../input/service-request.ts';
import { rehearsalJson, rehearsalText } from '../../output/rehearsal-text.ts';
import { GannetError } from '../../../core/errors.ts';
import type { Check } from '../../../daemon/doctor/check.ts';
import { examineConfig } from '../../../daemon/doctor/config-checks.ts';
import { thisMachine } from '../../../daemon/doctor/machine.ts';
import { openHosts } from '../../../daemon/hosts/strategy-hosts.ts';
import { createHostRecord } from '../../../daemon/rehearsal/host-record.ts';
import { checkNamedPlace, profilePath, writeProfile } from '../../../daemon/rehearsal/profile-file.ts';
import type { Rehearsal } from '../../../daemon/rehearsal/rehearse.ts';
import { rehearse } from '../../../daemon/rehearsal/rehearse.ts';
import { swapsOfPairs, swapsOfStrategies } from '../../../daemon/rehearsal/rehearsed-swaps.ts';
import { openConnections } from '../../../daemon/run/connections.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { untilInterrupted } from '../../../recording/interrupt.ts';
import { loadDialect } from '../../../service/wire/dialect.ts';

interface RehearseFlags {
  readonly pair?: readonly string[];
  readonly profileOut?: string;
}

export const rehearseCommand: CommandModule = (program, run) => {
  program.command('rehearse')
    .description('does all that live swaps do on both routes, except sending: nothing moves, and no signature leaves '
      + 'the signer; it says what would be refused and which setting changes it, and writes a profile of the host')
    .option('--pair <pair...>', 'only these pairs, IN/OUT or IN/OUT:AMOUNT in whole tokens of IN (default: every pair '
      + 'and size of the strategies)')
    .option('--profile-out <file>', 'writes the profile of the host here (default: host-profiles in the state '
      + 'directory)')
    .addHelpText('after', example('gannet rehearse --config live.yaml --pair USDC/SOL:25'))
    .action(run(rehearseHost));
};

async function rehearseHost(context: CommandContext, { pair, profileOut }: RehearseFlags): Promise<ExitCode> {
  const { terminal, options: { stateDir } } = context;
  // A rehearsal takes requests of the plan: its result must not be lost for a wrong place.
  if (profileOut !== undefined) checkNamedPlace(profileOut);
  const rehearsal = await rehearseConfigured(context, pair);
  const { host, profile } = rehearsal;
  const file = profileOut ?? (host === 'embedded' ? undefined : profilePath(stateDir, host));
  const isKept = file !== undefined && profile !== undefined;
  if (isKept) writeProfile(file, profile, { isNamed: profileOut !== undefined });
  terminal.result({ ...rehearsalJson(rehearsal), profile_file: isKept ? file : null }, () =>
    rehearsalText(rehearsal, terminal) + (isKept ? `  the profile of the host is in ${file}\n`
      : file === undefined ? '' : '  no profile was written: the host answered for no route\n'));
  return rehearsal.ok ? EXIT.done : EXIT.failed;
}

/** Examines the configuration as the doctor does, so that a host with trouble becomes a verdict. */
async function rehearseConfigured(context: CommandContext, pairs: readonly string[] | undefined): Promise<Rehearsal> {
  const { options, environment, withheld, connectSigner, interrupt } = context;
  const hosts = openHosts({ clock: systemClock });
  try {
    const { config, checks, probe } = await examineConfig({
      config: options.config, stateDir: options.stateDir, workingDir: process.cwd(), environment, withheld,
      overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
      connectSigner: undefined, strategyReader: hosts, machine: thisMachine(undefined), offline: false,
      clock: systemClock,
    });
    if (config === undefined) throw new GannetError('CONFIG_INVALID', faultsText(checks));
    const swaps = pairs === undefined ? swapsOfStrategies(config) : swapsOfPairs(config, pairs);
    if (swaps.length === 0)
      throw new GannetError('USAGE', 'the strategies ask for no price of a pair: name one, such as --pair USDC/SOL:25');
    const record = createHostRecord(loadDialect(config.service.dialect));
    const isEmbedded = config.service.baseUrl === 'embedded';
    const connections = await openConnections({
      ...connectionOptions(config, context), onAnswer: (answer) => { record.heard(answer); },
      // The embedded chain does not know the tokens of a real service.
      rpcUrl: config.chain.rpcUrl === 'embedded' && !isEmbedded ? undefined : config.chain.rpcUrl,
    });
    const signer = connectSigner?.();
    try {
      return await untilInterrupted(interrupt, connections, () => rehearse({
        config, connections, connectSigner: signer === undefined ? undefined : () => signer, probe, environment, swaps,
        configChecks: checks,
        clock: systemClock, record,
      }));
    } finally {
      signer?.close();
    }
  } finally {
    await hosts.close();
  }
}

function faultsText(checks: readonly Check[]): string {
  return checks.filter(({ level }) => level === 'fault').map(({ message }) => message).join('\n');
}
