import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { CommandContext, RunCommand } from '../../command.ts';
import { example } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { refuseImpossibleFolder } from '../../input/files.ts';
import { durationFlag, wholeNumber } from '../../input/flags.ts';
import { namedTokens, pairOf, sizeOf, tokenFlag } from '../../input/token-flags.ts';
import { bytesText } from '../../output/figures.ts';
import { progressLine } from '../../output/progress.ts';
import { GannetError } from '../../../core/errors.ts';
import { pluralize } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { formatDuration, shortDuration } from '../../../core/time.ts';
import type { MarketEvent } from '../../../market/event.ts';
import { feedKey } from '../../../market/feed.ts';
import { describeFeedKey } from '../../../market/market-text.ts';
import type { Token } from '../../../market/token.ts';
import { freeFolderName } from '../../../recording/files/new-folder.ts';
import { csvRows } from '../../../recording/import/csv.ts';
import { isField } from '../../../recording/import/market-csv-header.ts';
import { readMarketCsv } from '../../../recording/import/market-csv.ts';
import type { WrittenRecording } from '../../../recording/import/write-events.ts';
import { writeEvents } from '../../../recording/import/write-events.ts';
import { totalsOf } from '../../../recording/manifest.ts';
import type { PriceMotion } from '../../../sandbox/market/price-process.ts';
import { PRICE_MOTIONS } from '../../../sandbox/market/price-process.ts';

/** A fixed start, so that the same command writes the same recording. */
const GENERATED_START: Millis = Date.UTC(2026, 0, 1);
const MOST_DAYS = 3_660;
const EVERY_MS: Millis = 10_000;
const SLOW_EVERY_MS: Millis = 300_000;
/** The number of gaps that are named; the others are counted. */
const MOST_NAMED = 3;
const USUAL_MOTION: PriceMotion = 'stochastic-volatility';

/** Adds the command that converts a CSV file to a recording. */
export function addImport(group: Command, run: RunCommand): void {
  group.command('import <file>')
    .description('converts a CSV file (or "-") to a recording: candles (time,open,high,low,close,volume) or quotes '
      + '(time,input_mint,output_mint,in_amount,out_amount)')
    .option('--map <column=field>', 'the field of a column; may be repeated', mapFlag)
    .option('--token <symbol=mint:decimals>', 'a token that is neither SOL nor USDC; may be repeated', tokenFlag)
    .option('--pair <base/quote>', 'the pair whose prices the candles are')
    .addOption(
      new Option('--interval <duration>', 'the duration of a candle (default: the most frequent distance)')
        .argParser(durationFlag),
    )
    .option('--size <amount...>', 'the amounts quoted at each candle’s close, such as "100 USDC" '
      + '(default: 100 of the quote token and 1 of the base token)')
    .option('--out <dir>', 'the folder of the recording; it must not exist yet')
    .action(run((context: CommandContext, file: string, flags: ImportFlags) => importCsv(context, file, flags)));
}

interface ImportFlags {
  readonly map?: ReadonlyMap<string, string>;
  readonly token?: readonly Token[];
  readonly pair?: string;
  readonly size?: readonly string[];
  readonly interval?: Millis;
  readonly out?: string;
}

async function importCsv(
  { terminal, options, interrupt }: CommandContext, file: string, flags: ImportFlags,
): Promise<typeof EXIT.done> {
  if (flags.out !== undefined) refuseImpossibleFolder(flags.out, '--out');
  const tokens = namedTokens(flags.token ?? []);
  const pair = flags.pair === undefined ? undefined : pairOf(flags.pair, (symbol) => tokens.bySymbol(symbol));
  if (pair === undefined && flags.size !== undefined)
    throw new GannetError('USAGE', '--size is for candles: name their pair with --pair');
  if (pair === undefined && flags.interval !== undefined)
    throw new GannetError('USAGE', '--interval is for candles: name their pair with --pair');
  const sizes = pair === undefined ? []
    : (flags.size ?? [`100 ${pair.quote.symbol}`, `1 ${pair.base.symbol}`]).map((text) => sizeOf(text, pair));
  const twice = sizes.find(({ token, amount }, index) =>
    sizes.slice(0, index).some((other) => other.token === token && other.amount === amount));
  if (twice !== undefined)
    throw new GannetError('USAGE', `--size: ${twice.amount} smallest units of ${twice.token.symbol} appear twice`);
  const { form, quotes, events, startAt, mints, intervalMs, missing } = await readMarketCsv(csvRows(file, interrupt), {
    map: flags.map ?? new Map(), pair, sizes, intervalMs: flags.interval,
  });
  const unknown = [...mints].filter((mint) => tokens.byMint(mint) === undefined);
  const progress = progressLine(terminal, 'events');
  const written = await writeEvents(quotes, {
    directory: flags.out ?? freeFolderName(join(options.stateDir, 'recordings'), 'imported'),
    tokens: tokens.all.filter(({ mint }) => mints.has(mint)), source: { kind: 'imported', file: basename(file), form },
    startAt, interrupt,
    onProgress: (_, done) => { progress.show(done, events); },
  }).finally(progress.end);
  const warnings = [
    ...unknown.map((mint) =>
      `the decimals of ${mint} are not known: name the token with --token SYMBOL=${mint}:DECIMALS`),
    ...missing.slice(0, MOST_NAMED).map(({ from, until }) =>
      `the file has no candles from ${new Date(from).toISOString()} to ${new Date(until).toISOString()}, for `
        + `${shortDuration(until - from)}: the recording has no prices for that time`),
    ...(missing.length > MOST_NAMED ? [`candles are missing ${pluralize(missing.length - MOST_NAMED, 'time')} more: `
      + '"gannet recording info" names the gaps'] : []),
  ];
  const interval = intervalMs === undefined ? {} : { interval: formatDuration(intervalMs) };
  terminal.result({ ...summary(written), ...interval, warnings }, () => summaryText(written, warnings));
  return EXIT.done;
}

function mapFlag(text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const at = text.lastIndexOf('=');
  const [column, field] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()];
  if (column === '' || !isField(field))
    throw new InvalidArgumentError('expected COLUMN=FIELD with a field of candles or quotes such as "Close=close".');
  if (before.has(column)) throw new InvalidArgumentError(`the column ${column} is named twice.`);
  return new Map([...before, [column, field]]);
}

/** Adds the command that generates a synthetic recording. */
export function addGenerate(group: Command, run: RunCommand): void {
  group.command('generate')
    .description('generates a synthetic recording from the sandbox’s market; with --config, of what the strategies of '
      + 'that configuration watch')
    .addHelpText('after', example('gannet recording generate --days 30'))
    .requiredOption('--days <n>', 'the number of days', days)
    .option('--seed <n>', 'the seed: the same one gives the same recording', wholeNumber(0, 4_294_967_295), 7)
    .option('--pair <base/quote...>', 'without --config: the quoted pairs (default: SOL/USDC)')
    .addOption(new Option('--market <motion>', 'how prices move. stochastic-volatility: clusters of volatility, jumps '
      + 'and trends as in real markets; random-walk: nothing can be earned except by a mistake; swings: around a '
      + 'level, so that buying dips earns')
      .choices(PRICE_MOTIONS).default(USUAL_MOTION))
    .option('--every <duration>', 'without --config: the time between two polls of a quote (default: '
      + `${formatDuration(EVERY_MS)})`, durationFlag)
    .option('--slow-every <duration>', 'without --config: the time between two polls of statistics and order books '
      + `(default: ${formatDuration(SLOW_EVERY_MS)})`, durationFlag)
    .option('--out <dir>', 'the folder of the recording; it must not exist yet')
    .action(run((context: CommandContext, flags: GenerateFlags) => generate(context, flags)));
}

interface GenerateFlags {
  readonly days: number;
  readonly seed: number;
  readonly pair?: readonly string[];
  readonly every?: Millis;
  readonly slowEvery?: Millis;
  readonly market: PriceMotion;
  readonly out?: string;
}

async function generate(context: CommandContext, flags: GenerateFlags): Promise<typeof EXIT.done> {
  const { terminal, options, interrupt } = context;
  if (flags.out !== undefined) refuseImpossibleFolder(flags.out, '--out');
  const { events, tokens, warnings } =
    options.config === undefined ? await ladders(flags) : await watched(context, flags);
  const spanMs = flags.days * 86_400_000;
  const progress = progressLine(terminal, 'hours');
  const written = await writeEvents(events, {
    directory: flags.out ?? freeFolderName(
      join(options.stateDir, 'recordings'),
      `synthetic${flags.market === USUAL_MOTION ? '' : `-${flags.market}`}-${flags.days}d-${flags.seed}`,
    ), tokens, source: { kind: 'synthetic', market: flags.market, seed: flags.seed },
    startAt: GENERATED_START, interrupt,
    onProgress: (
      at,
    ) => { progress.show(Math.floor((at - GENERATED_START) / 3_600_000), Math.ceil(spanMs / 3_600_000)); },
  }).finally(progress.end);
  const warned = warnings();
  terminal.result({ ...summary(written), warnings: warned }, () => summaryText(written, warned));
  return EXIT.done;
}

interface Generated {
  readonly events: Iterable<MarketEvent> | AsyncIterable<MarketEvent>;
  readonly tokens: readonly Token[];
  /** Returns what is wrong with the events, for people, after the last one. */
  readonly warnings: () => readonly string[];
}

/** Quotes of several sizes of pairs, statistics and order books. */
async function ladders({
  seed, pair = ['SOL/USDC'], days: span, every = EVERY_MS, slowEvery = SLOW_EVERY_MS, market,
}: GenerateFlags): Promise<Generated> {
  const { sandboxToken, syntheticMarket } = await import('../../../sandbox/synthetic-market.ts');
  const pairs = pair.map((text) => pairOf(text, sandboxToken));
  const tokens = new Map(pairs.flatMap(({ base, quote }) => [base, quote]).map((token) => [token.mint, token]));
  return {
    tokens: [...tokens.values()], warnings: () => [], events: syntheticMarket({
      seed, pairs, startAt: GENERATED_START, days: span, everyMs: every, slowEveryMs: slowEvery, motion: market,
    }),
  };
}

/** What the strategies of the configuration watch, at their intervals. */
async function watched(
  context: CommandContext, { seed, days: span, market, pair, every, slowEvery }: GenerateFlags,
): Promise<Generated> {
  if (pair !== undefined || every !== undefined || slowEvery !== undefined) {
    throw new GannetError('USAGE', '--pair, --every and --slow-every are for a recording without --config: the '
      + 'strategies of a configuration name their inputs and intervals');
  }
  const { watchedConfig, watchedMarket, watchedSpecs } = await import('./generate-watched.ts');
  const config = await watchedConfig(context);
  const specs = watchedSpecs(config);
  const unanswered = new Set(specs.map(feedKey));
  return {
    tokens: config.tokens.all,
    events: watchedMarket({
      specs, seed, startAt: GENERATED_START, days: span, motion: market, unanswered, interrupt: context.interrupt,
    }),
    warnings: () => [...unanswered].map((feed) =>
      `the embedded service has nothing for ${describeFeedKey(config.tokens, feed)}: the recording holds faults alone`),
  };
}

function days(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(value > 0 && value <= MOST_DAYS))
    throw new InvalidArgumentError(`expected a number of days above 0, up to ${MOST_DAYS}.`);
  return value;
}

function summary({ directory, manifest }: WrittenRecording): object {
  const { kinds, events, firstAt, lastAt } = totalsOf(manifest.files);
  return {
    recording: directory, events, bytes: bytesOf(manifest),
    kinds: Object.fromEntries(kinds.map(({ kind, events: own }) => [kind, own])), feeds: manifest.feeds.length,
    first_at: firstAt === undefined ? null : new Date(firstAt).toISOString(),
    last_at: lastAt === undefined ? null : new Date(lastAt).toISOString(),
  };
}

function summaryText({ directory, manifest }: WrittenRecording, warnings: readonly string[]): string {
  const { events, firstAt = 0, lastAt = 0 } = totalsOf(manifest.files);
  return [
    ...warnings.map((warning) => `  ! ${warning}\n`),
    `  ${pluralize(events, 'event')} over ${lastAt > firstAt ? shortDuration(lastAt - firstAt) : 'no time'} in `
      + `${bytesText(bytesOf(manifest))}\n  ${directory}\n`,
  ].join('');
}

function bytesOf({ files }: WrittenRecording['manifest']): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
