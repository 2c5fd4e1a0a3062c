import { resolve } from 'node:path';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { packagesFault } from '../../kept-process.ts';
import { doctorText } from '../../output/doctor-text.ts';
import { PROJECT_DIR } from '../../../core/code-files.ts';
import { examine } from '../../../daemon/doctor/doctor.ts';
import { thisMachine } from '../../../daemon/doctor/machine.ts';
import { openHosts } from '../../../daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';

interface DoctorFlags {
  readonly offline?: boolean;
}

export const doctorCommand: CommandModule = (program, run) => {
  program.command('doctor')
    .description('checks machine, configuration, key, state, service, chain and wallet, and names each fix; it changes '
      + 'nothing, and works while the daemon runs')
    .option('--offline', 'asks nothing over the network')
    .action(run(doctor));
};

async function doctor(context: CommandContext, { offline = false }: DoctorFlags): Promise<ExitCode> {
  const { options, environment, withheld, connectSigner, terminal } = context;
  const hosts = openHosts({ clock: systemClock });
  try {
    const checks = await examine({
      config: options.config, stateDir: options.stateDir, workingDir: process.cwd(), environment, withheld,
      overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
      connectSigner, strategyReader: hosts, machine: thisMachine(packagesFault(resolve(PROJECT_DIR))), offline,
      clock: systemClock,
    });
    const isWell = checks.every(({ ok }) => ok);
    terminal.result({ ok: isWell, checks }, () => doctorText(checks, terminal));
    return isWell ? EXIT.done : EXIT.failed;
  } finally {
    await hosts.close();
  }
}
