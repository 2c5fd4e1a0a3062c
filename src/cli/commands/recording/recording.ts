import { basename, join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { counted } from '../../../core/counted.ts';
import { GannetError } from '../../../core/errors.ts';
import { formatDuration, shortDuration } from '../../../core/time.ts';
import type { Millis } from '../../../core/time.ts';
import { findRecording } from '../../../daemon/files/find-run.ts';
import type { Token } from '../../../market/token.ts';
import { compactRecording } from '../../../recording/compression/compact.ts';
import { RECORDING_KINDS } from '../../../recording/format.ts';
import type { RecordingKind } from '../../../recording/format.ts';
import { inspectSteps } from '../../../recording/check/inspect.ts';
import type { Inspection } from '../../../recording/check/inspect.ts';
import { totalsOf } from '../../../recording/manifest.ts';
import type { Recording } from '../../../recording/reader.ts';
import { openSteps } from '../../../recording/reader.ts';
import type { RecordingIssue } from '../../../recording/check/recording-issue.ts';
import { PRICE_MOTIONS } from '../../../sandbox/market/price-process.ts';
import type { PriceMotion } from '../../../sandbox/market/price-process.ts';
import { bytesText } from '../../output/figures.ts';
import { csvRows } from '../../csv-rows.ts';
import type { CommandContext, CommandModule } from '../../command.ts';
import { EXIT } from '../../command.ts';
import { interruption, runInterruptibly } from '../../../recording/interrupt.ts';
import { isField } from '../../recording/csv-header.ts';
import { readMarketCsv } from '../../recording/csv-market.ts';
import { ensureWritable, refuseImpossibleFolder } from '../../input/files.ts';
import { progressLine } from '../../output/progress.ts';
import { exportJsonl } from '../../recording/export-jsonl.ts';
import type { ExportedTable } from '../../recording/export-parquet.ts';
import { infoOf, infoText } from '../../recording/info.ts';
import { namedTokens, pairOf, sizeOf, tokenFlag } from '../../recording/tokens.ts';
import type { WrittenRecording } from '../../recording/write-events.ts';
import { freeName, writeEvents } from '../../recording/write-events.ts';
import { durationFlag } from '../../input/flags.ts';

const WHICH = 'its folder, or the id of the run that made it';
/** Nothing about now: the same command writes the same recording. */
const GENERATED_START: Millis = Date.UTC(2026, 0, 1);
const MOST_DAYS = 3_660;
const EVERY_MS: Millis = 10_000;
const SLOW_EVERY_MS: Millis = 300_000;
/** So many gaps of a file are named, the others counted. */
const MOST_NAMED = 3;
const USUAL_MOTION: PriceMotion = 'stochastic-volatility';

export const recordingCommand: CommandModule = (program, run) => {
  const group = program.command('recording')
    .description('looks at recordings, checks them, converts them, makes synthetic ones');

  group.command('info').argument('<recording>', WHICH)
    .description('what a recording holds: kinds, feeds, time, gaps, sizes, versions')
    .action(run(async (context: CommandContext, name: string) => {
      const { terminal, interrupt } = context;
      const info = await runInterruptibly(infoOf(await opened(context, name)), interrupt);
      terminal.result(info, () => infoText(info));
      return EXIT.done;
    }));

  group.command('verify').argument('<recording>', WHICH)
    .description('checks every byte and every row, and names what is wrong')
    .action(run(async ({ terminal, options, interrupt }: CommandContext, name: string) => {
      const directory = findRecording(options.stateDir, name);
      const inspection = await runInterruptibly(inspectSteps(directory), interrupt);
      terminal.result(verdict(directory, inspection), () => verdictText(inspection));
      return inspection.issues.length === 0 ? EXIT.done : EXIT.failed;
    }));

  group.command('compact').argument('<recording>', WHICH)
    .description('compresses what a writer that was killed left uncompressed')
    .action(run(async ({ terminal, options, interrupt }: CommandContext, name: string) => {
      const directory = findRecording(options.stateDir, name);
      const { segments, bytesBefore, bytesAfter, left } = await compactRecording(directory, interrupt);
      if (left > 0) throw interruption();
      terminal.result({ recording: directory, segments, bytes_before: bytesBefore, bytes_after: bytesAfter }, () => (
        segments === 0 ? '  nothing to compress\n'
          : `  ${counted(segments, 'segment')}: ${bytesText(bytesBefore)} became ${bytesText(bytesAfter)}\n`));
      return EXIT.done;
    }));

  group.command('export').argument('<recording>', WHICH)
    .description('writes every input as a line of JSON, or each kind as a Parquet file')
    .addOption(new Option('--to <format>', 'the format').choices(['jsonl', 'parquet']).makeOptionMandatory())
    .option('--out <path>', 'jsonl: the file to write; parquet: the folder of the files (default: one in exports of '
      + 'the state directory). No file may be there yet; a folder that is not there is made')
    .addOption(new Option('--kind <kinds...>', 'these kinds only').choices(RECORDING_KINDS))
    .action(run((context: CommandContext, name: string, flags: ExportFlags) =>
      (flags.to === 'jsonl' ? toJsonl(context, name, flags) : toParquet(context, name, flags))));

  group.command('import <file>')
    .description('makes a recording of a CSV file (or "-"): candles (time,open,high,low,close,volume) or quotes '
      + '(time,input_mint,output_mint,in_amount,out_amount)')
    .option('--map <column=field>', 'what a column is; may be repeated', mapFlag)
    .option('--token <symbol=mint:decimals>', 'a token that is neither SOL nor USDC; may be repeated', tokenFlag)
    .option('--pair <base/quote>', 'what candles are prices of')
    .addOption(
      new Option('--interval <duration>', 'how long a candle lasts (default: as long as candles most often are apart)')
        .argParser(durationFlag),
    )
    .option('--size <amount...>', 'what is quoted at each candle’s close, such as "100 USDC"; several make a ladder '
      + '(default: 100 of the quote token and 1 of the base token)')
    .option('--out <dir>', 'the recording’s folder; it must not be there yet')
    .action(run((context: CommandContext, file: string, flags: ImportFlags) => importCsv(context, file, flags)));

  group.command('generate')
    .description('makes a synthetic recording from the sandbox’s market')
    .requiredOption('--days <n>', 'how much time it covers', days)
    .option('--seed <n>', 'the same seed, the same recording', seed, 7)
    .addOption(new Option('--pair <base/quote...>', 'what is quoted').default(['SOL/USDC'], 'SOL/USDC'))
    .addOption(new Option('--market <motion>', 'stochastic-volatility: clusters of volatility, jumps and trends as in '
      + 'real markets; random-walk: nothing can be earned, and what earns all the same is a mistake; swings: prices '
      + 'swing about their level, so that buying dips earns')
      .choices(PRICE_MOTIONS).default(USUAL_MOTION))
    .addOption(new Option('--every <duration>', 'between two looks at each quote').argParser(durationFlag)
      .default(EVERY_MS, formatDuration(EVERY_MS)))
    .addOption(new Option('--slow-every <duration>', 'between two looks at statistics and order books')
      .argParser(durationFlag).default(SLOW_EVERY_MS, formatDuration(SLOW_EVERY_MS)))
    .option('--out <dir>', 'the recording’s folder; it must not be there yet')
    .action(run((context: CommandContext, flags: GenerateFlags) => generate(context, flags)));
};

/** Checks every byte on the way, and hears of an interrupt. */
function opened({ options, interrupt }: CommandContext, name: string): Promise<Recording> {
  return runInterruptibly(openSteps(findRecording(options.stateDir, name)), interrupt);
}

interface ExportFlags {
  readonly to: 'jsonl' | 'parquet';
  readonly out?: string;
  readonly kind?: readonly RecordingKind[];
}

async function toJsonl(context: CommandContext, name: string, { out, kind }: ExportFlags): Promise<typeof EXIT.done> {
  const { terminal, interrupt } = context;
  if (out === undefined) throw new GannetError('USAGE', '--to jsonl needs the file to write: --out FILE');
  ensureWritable(out, '--out');
  const recording = await opened(context, name);
  const progress = progressLine(terminal, 'events');
  const done = await exportJsonl(recording, {
    file: out, kinds: kind, interrupt, onEvents: (events) => { progress.show(events, recording.events); },
  }).finally(progress.end);
  terminal.result({ file: out, ...done }, () =>
    `  ${counted(done.events, 'event')} in ${bytesText(done.bytes)}: ${out}\n`);
  return EXIT.done;
}

async function toParquet(context: CommandContext, name: string, { out, kind }: ExportFlags): Promise<typeof EXIT.done> {
  const { terminal, options, interrupt } = context;
  if (out !== undefined) refuseImpossibleFolder(out, '--out');
  const { exportParquet } = await import('../../recording/export-parquet.ts');
  const recording = await opened(context, name);
  const directory = out ?? freeName(join(options.stateDir, 'exports'), basename(recording.directory));
  const progress = progressLine(terminal, 'events');
  const files = await exportParquet(recording, {
    directory, kinds: kind, interrupt, onEvents: (events) => { progress.show(events, recording.events); },
  }).finally(progress.end);
  const sum = (of: (file: ExportedTable) => number): number => files.reduce((total, file) => total + of(file), 0);
  const done = { directory, events: sum(({ events }) => events), bytes: sum(({ bytes }) => bytes), files };
  terminal.result(done, () =>
    files.map(({ file, rows, bytes }) => `  ${counted(rows, 'row')} in ${bytesText(bytes)}: ${file}\n`).join('')
      || `  nothing was recorded: ${directory}\n`);
  return EXIT.done;
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
    throw new GannetError('USAGE', '--size is for candles: name what they are prices of with --pair');
  if (pair === undefined && flags.interval !== undefined)
    throw new GannetError('USAGE', '--interval is for candles: name what they are prices of with --pair');
  const sizes = pair === undefined ? []
    : (flags.size ?? [`100 ${pair.quote.symbol}`, `1 ${pair.base.symbol}`]).map((text) => sizeOf(text, pair));
  const twice = sizes.find(({ token, amount }, index) =>
    sizes.slice(0, index).some((other) => other.token === token && other.amount === amount));
  if (twice !== undefined)
    throw new GannetError('USAGE', `--size: ${twice.amount} smallest units of ${twice.token.symbol} are there twice`);
  const { form, quotes, events, startAt, mints, intervalMs, missing } = await readMarketCsv(csvRows(file, interrupt), {
    map: flags.map ?? new Map(), pair, sizes, intervalMs: flags.interval,
  });
  const unknown = [...mints].filter((mint) => tokens.byMint(mint) === undefined);
  const progress = progressLine(terminal, 'events');
  const written = await writeEvents(quotes, {
    directory: flags.out ?? freeName(join(options.stateDir, 'recordings'), 'imported'),
    tokens: tokens.all.filter(({ mint }) => mints.has(mint)), source: { kind: 'imported', file: basename(file), form },
    startAt, interrupt,
    onProgress: (_, done) => { progress.show(done, events); },
  }).finally(progress.end);
  const warnings = [
    ...unknown.map((mint) =>
      `the recording does not say how many decimals ${mint} has: name it with --token SYMBOL=${mint}:DECIMALS`),
    ...missing.slice(0, MOST_NAMED).map(({ from, until }) =>
      `the file has no candles from ${new Date(from).toISOString()} to ${new Date(until).toISOString()}, for `
        + `${shortDuration(until - from)}: the recording holds no price of then`),
    ...(missing.length > MOST_NAMED ? [`candles are missing ${counted(missing.length - MOST_NAMED, 'time')} more: `
      + '"gannet recording info" names the gaps'] : []),
  ];
  const interval = intervalMs === undefined ? {} : { interval: formatDuration(intervalMs) };
  terminal.result({ ...summary(written), ...interval, warnings }, () => summaryText(written, warnings));
  return EXIT.done;
}

interface GenerateFlags {
  readonly days: number;
  readonly seed: number;
  readonly pair: readonly string[];
  readonly every: Millis;
  readonly slowEvery: Millis;
  readonly market: PriceMotion;
  readonly out?: string;
}

async function generate(
  { terminal, options, interrupt }: CommandContext, flags: GenerateFlags,
): Promise<typeof EXIT.done> {
  if (flags.out !== undefined) refuseImpossibleFolder(flags.out, '--out');
  const { sandboxToken, syntheticMarket } = await import('../../../sandbox/synthetic-market.ts');
  const pairs = flags.pair.map((text) => pairOf(text, sandboxToken));
  const tokens = new Map(pairs.flatMap(({ base, quote }) => [base, quote]).map((token) => [token.mint, token]));
  const spanMs = flags.days * 86_400_000;
  const progress = progressLine(terminal, 'hours');
  const written = await writeEvents(syntheticMarket({
    seed: flags.seed, pairs, startAt: GENERATED_START, days: flags.days, everyMs: flags.every,
    slowEveryMs: flags.slowEvery, motion: flags.market,
  }), {
    directory: flags.out ?? freeName(
      join(options.stateDir, 'recordings'),
      `synthetic${flags.market === USUAL_MOTION ? '' : `-${flags.market}`}-${flags.days}d-${flags.seed}`,
    ), tokens: [...tokens.values()], source: { kind: 'synthetic', market: flags.market, seed: flags.seed },
    startAt: GENERATED_START, interrupt,
    onProgress: (
      at,
    ) => { progress.show(Math.floor((at - GENERATED_START) / 3_600_000), Math.ceil(spanMs / 3_600_000)); },
  }).finally(progress.end);
  terminal.result(summary(written), () => summaryText(written, []));
  return EXIT.done;
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
    `  ${counted(events, 'event')} over ${lastAt > firstAt ? shortDuration(lastAt - firstAt) : 'no time'} in `
      + `${bytesText(bytesOf(manifest))}\n  ${directory}\n`,
  ].join('');
}

function bytesOf({ files }: WrittenRecording['manifest']): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function issueJson({ code, file, row, at, message }: RecordingIssue): object {
  return { code, file, row: row ?? null, time: at === undefined ? null : new Date(at).toISOString(), message };
}

function verdict(directory: string, { closed, files, events, issues, warnings }: Inspection): object {
  return {
    recording: directory, valid: issues.length === 0, closed: closed ?? null, files, events,
    issues: issues.map(issueJson), warnings: warnings.map((warning) => ({ ...issueJson(warning), code: undefined })),
  };
}

const MOST_SHOWN = 50;

function shown(all: readonly RecordingIssue[], mark: string): string[] {
  return [
    ...all.slice(0, MOST_SHOWN).map(({ message }) => `  ${mark} ${message}\n`),
    ...(all.length > MOST_SHOWN ? [`  ${mark} and ${all.length - MOST_SHOWN} more\n`] : []),
  ];
}

function verdictText({ closed, files, events, issues, warnings }: Inspection): string {
  const end = issues.length === 0
    ? `  whole: ${counted(events, 'event')} `
      + `in ${counted(files, 'segment')}`
      + `${closed === true ? '' : '; not closed: it is still written, or its writer died'}\n`
    : `  NOT whole: ${issues.length === 1 ? 'one fault' : `${issues.length} faults`}\n`;
  return [...shown(issues, '✗'), ...shown(warnings, '!'), end].join('');
}

function mapFlag(text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const at = text.lastIndexOf('=');
  const [column, field] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()];
  if (column === '' || !isField(field))
    throw new InvalidArgumentError('expected COLUMN=FIELD with a field of candles or quotes such as "Close=close".');
  if (before.has(column)) throw new InvalidArgumentError(`the column ${column} is named twice.`);
  return new Map([...before, [column, field]]);
}

function days(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(value > 0 && value <= MOST_DAYS))
    throw new InvalidArgumentError(`expected a number of days above 0, up to ${MOST_DAYS}.`);
  return value;
}

function seed(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > 4_294_967_295)
    throw new InvalidArgumentError('expected a whole number of 0 to 4294967295.');
  return Number(text);
}
