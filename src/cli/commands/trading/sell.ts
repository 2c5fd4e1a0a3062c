import { daemonOf, followOrder, orderKey } from './manual-order.ts';
import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { confirmed, expectPerson } from '../../input/confirm.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { SalesPreview } from '../../../daemon/manual/sale-preview.ts';

interface SellFlags {
  readonly part?: string;
  readonly strategy?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly key?: string;
}

export const sellCommand: CommandModule = (program, run) => {
  program.command('sell <token>')
    .description('sells a position of a strategy, or of manual swaps, for the token of its budget, through the running '
      + 'daemon')
    .addHelpText('after', example('gannet sell SOL --part 50%'))
    .option('--part <share>', 'a share such as 50%, or an amount in whole tokens (default: all)')
    .option('--strategy <name>', 'whose position; needed where several hold the token')
    .option('--yes', 'sells without asking')
    .option('--dry-run', 'only shows what the sale would do')
    .option('--key <key>', 'asks again for a sale whose answer was lost: it is never made twice')
    .action(run(sell));
};

async function sell(context: CommandContext, token: string, flags: SellFlags): Promise<ExitCode> {
  const { terminal } = context;
  if (!await daemonOf(context)) {
    throw new GannetError('CONTROL_UNREACHABLE', 'no daemon runs with the state directory '
      + `${context.options.stateDir}: start it with "gannet run"; positions are sold through it`);
  }
  const { strategy, part } = flags;
  const size = part === undefined ? {} : part.endsWith('%') ? { part } : { amount: part };
  const body = { token, ...size, ...(strategy === undefined ? {} : { strategy }) };
  const key = orderKey(flags.key);
  const again = `gannet sell ${token}${part === undefined ? '' : ` --part ${part}`}`
    + `${strategy === undefined ? '' : ` --strategy ${strategy}`} --key ${key}`;
  const order = { path: '/api/sell', body, key, again } as const;
  // The confirmation of an order that is asked for again was given before.
  if (flags.key !== undefined) return followOrder(context, order);
  const asks = flags.yes !== true && flags.dryRun !== true;
  if (asks) expectPerson(context, 'add --yes to sell without being asked, or --dry-run to see what it would do');
  const preview = await previewed(context, body);
  if (flags.dryRun === true) {
    terminal.result({ dry_run: true, ...preview }, () => `  ${printable(preview.sentence, 1_000)}\n`);
    return EXIT.done;
  }
  if (!terminal.json) terminal.out(`  ${printable(preview.sentence, 1_000)}\n`);
  if (preview.refused !== null) {
    terminal.result({ key: null, state: 'denied', over: true, ...preview.refused, preview }, () => '  not done\n');
    return preview.refused.code === 'TRADING_HALTED' ? EXIT.halted : EXIT.failed;
  }
  if (asks && !await confirmed(context, 'sell this?')) {
    terminal.out('  nothing was sold\n');
    return EXIT.failed;
  }
  return followOrder(context, order);
}

async function previewed(
  context: CommandContext, body: Readonly<Record<string, string>>,
): Promise<SalesPreview> {
  const query = new URLSearchParams({ action: 'sell', ...body });
  const answer = await daemonClient(context).ask(`/api/preview?${query.toString()}`);
  return answer as unknown as SalesPreview;
}
