import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { confirmed, expectPerson } from '../../input/confirm.ts';
import { bytesText, count, instant } from '../../output/figures.ts';
import { facts, table } from '../../output/table.ts';
import { configError } from '../../../config/config-issue.ts';
import { loadConfig } from '../../../config/load-config.ts';
import type { RetentionConfig } from '../../../config/operations/retention-config.ts';
import { GUESSED_DECIMALS } from '../../../config/resolve-tokens.ts';
import { pluralize } from '../../../core/text.ts';
import { formatDuration } from '../../../core/time.ts';
import type { PruneReason } from '../../../daemon/retention/plan.ts';
import type { PruneOptions, Pruning } from '../../../daemon/retention/prune.ts';
import { previewPruning, prune } from '../../../daemon/retention/prune.ts';

interface Flags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const pruneCommand: CommandModule = (program, run) => {
  program.command('prune')
    .description('deletes what "retention" of the configuration does not keep: recordings, logs and decisions of old '
      + 'runs, and packs finished swaps; works beside a running daemon')
    .option('--dry-run', 'shows what would be deleted, and why, and changes nothing')
    .option('--yes', 'deletes without asking')
    .action(run(pruneNow));
};

async function pruneNow(context: CommandContext, { dryRun = false, yes = false }: Flags): Promise<ExitCode> {
  const { terminal, interrupt } = context;
  const options = { ...await optionsOf(context), interrupt };
  const asks = !dryRun && !yes;
  if (asks) expectPerson(context, 'add --yes, or see with --dry-run what would be deleted');
  const preview = dryRun || asks ? await previewPruning(options) : undefined;
  if (preview !== undefined && asks) terminal.err(asText(preview, options.config));
  if (asks && !await confirmed(context, 'delete this?')) return EXIT.done;
  const done = dryRun ? preview! : await prune(options);
  terminal.result(asJson(done, options.config), () => asText(done, options.config));
  return EXIT.done;
}

/** No strategy's code, service or key is needed to know what to keep. */
async function optionsOf({ options, environment, withheld }: CommandContext): Promise<PruneOptions> {
  const { stateDir } = options;
  const loaded = await loadConfig({
    file: options.config, purpose: 'research', workingDir: process.cwd(), environment, withheld, stateDir,
    strategyReader: undefined,
    decimalsOf: async (mints) => new Map(mints.map((mint) => [mint, GUESSED_DECIMALS])),
  });
  if (!loaded.ok) throw configError(loaded);
  const { retention, recording, strategies } = loaded.config;
  return {
    stateDir, recordingDir: recording.dir, config: retention, now: Date.now(),
    warmupMs: Math.max(0, ...strategies.map(({ warmupMs = 0 }) => warmupMs)),
  };
}

function asJson({ plan, before, after, packedSwaps }: Pruning, { budgetBytes }: RetentionConfig): unknown {
  return {
    dry_run: after === undefined, freed_bytes: plan.freedBytes, packed_swaps: packedSwaps, before, after: after ?? null,
    budget_bytes: budgetBytes, over_budget_bytes: plan.overBudgetBytes,
    pinned: [...plan.pinnedBytes].map(([why, bytes]) => ({ why, bytes })),
    pieces: plan.pieces.map(({ piece: { kind, name, what, until, bytes }, reason }) =>
      ({ kind, name, what, until: new Date(until).toISOString(), bytes, reason })),
  };
}

const MOST_SHOWN = 40;

function asText({ plan, before, after, packedSwaps }: Pruning, config: RetentionConfig): string {
  const verb = after === undefined ? 'would be' : 'were';
  const { pieces, freedBytes, overBudgetBytes } = plan;
  const rows = pieces.slice(0, MOST_SHOWN).map(({ piece: { kind, name, what, until, bytes }, reason }) =>
    [kind, name, what, instant(until), bytesText(bytes), reasonText(reason, config, kind)]);
  const used = Object.entries({ ...before, ...after }).filter(([kind, bytes]) => kind !== 'total' && bytes > 0)
    .map(([kind, bytes]) => `${kind} ${bytesText(bytes)}`);
  return [
    rows.length === 0 ? '' : table([['kind', 'of', 'what', 'until, UTC', 'size', 'why'], ...rows],
      { right: [4], below: [5], optional: [3] }),
    pieces.length > MOST_SHOWN ? `  and ${count(pieces.length - MOST_SHOWN)} more\n` : '',
    pieces.length === 0 ? `  nothing ${after === undefined ? 'would be' : 'was'} deleted\n`
      : `  ${pluralize(pieces.length, 'piece')} of ${bytesText(freedBytes)} ${verb} deleted\n`,
    packedSwaps === 0 ? '' : `  ${pluralize(packedSwaps, 'finished swap')} ${verb} packed in the journal\n`,
    facts([
      ['now', `${bytesText((after ?? before).total)}, ${bytesText(config.budgetBytes)} allowed`], ['of it', used],
      ['not to be deleted', [...plan.pinnedBytes].map(([why, bytes]) => `${bytesText(bytes)}: ${why}`)],
    ]),
    overBudgetBytes === 0 ? ''
      : `  ${bytesText(overBudgetBytes)} over the budget, and nothing more may be deleted\n`,
  ].join('');
}

function reasonText(reason: PruneReason, config: RetentionConfig, kind: 'recordings' | 'runs' | 'logs'): string {
  return {
    age: `older than ${formatDuration(config[kind].maxAgeMs)}`,
    size: `${kind} over ${bytesText(config[kind].maxBytes)}`,
    budget: `all over ${bytesText(config.budgetBytes)}`,
    disk: 'the disk is nearly full',
  }[reason];
}
