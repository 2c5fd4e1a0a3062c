import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { printable } from '../../../core/text.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { ReloadReport } from '../../../daemon/reload/reload-text.ts';
import { changeTexts } from '../../../daemon/reload/reload-text.ts';

/** Loading code, checking it and warming it up take a while. */
const TIMEOUT_MS = 120_000;

export const reloadCommand: CommandModule = (program, run) => {
  program.command('reload [strategy]')
    .description('loads the changed code and parameters of a strategy into the running daemon, or of all that have '
      + 'changed; a version with a fault is refused, and the running one goes on')
    .addHelpText('after', example('gannet reload mean-reversion'))
    .action(run((context, strategy: string | undefined) => reload(context, strategy)));
};

async function reload(context: CommandContext, strategy: string | undefined): Promise<ExitCode> {
  const report = await daemonClient(context)
    .post('/api/reload', { strategy }, { timeoutMs: TIMEOUT_MS }) as unknown as ReloadReport;
  context.terminal.result(report, () => textOf(report));
  return report.refused.length === 0 ? EXIT.done : EXIT.failed;
}

function textOf({ reloaded, refused, unchanged }: ReloadReport): string {
  const lines = reloaded.flatMap((one) => {
    const changes = changeTexts(one);
    const same = changes.length === 0 ? ', and nothing in it has changed' : '';
    return [`  ${printable(one.strategy, 60)} is reloaded${same}`, ...changes.map((change) => `    ${change}`)];
  });
  const faulty = refused.flatMap(({ strategy, reason }) => [
    `  ${printable(strategy, 60)} goes on as it was, because its new version is refused:`,
    `    ${printable(reason, 2_000)}`,
  ]);
  const rest = unchanged.map((name) => `  ${printable(name, 60)} goes on as it was`);
  return `${[...lines, ...faulty, ...rest].join('\n')}\n`;
}
