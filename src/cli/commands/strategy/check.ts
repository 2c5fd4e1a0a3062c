import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { CommandContext, RunCommand } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { wholeNumber } from '../../input/flags.ts';
import { configError } from '../../../config/config-issue.ts';
import type { ConfigFailure } from '../../../config/load-config.ts';
import type { RunConfig } from '../../../config/run-config.ts';
import { findStrategy, shippedConfig } from '../../../config/strategy-file.ts';
import { PROJECT_DIR } from '../../../core/code-files.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { Engine } from '../../../engine/engine.ts';
import type { FeedSpec } from '../../../market/feed.ts';
import { feedKey, sharedFeeds } from '../../../market/feed.ts';

/** Enough for every check, and generated within a second or two. */
const GENERATED_EVENTS = 1_500;
/** An event of a list holds as much as some dozen others: every pass over the market reads all of it. */
const LIST_WEIGHT = 20;
const LISTS: ReadonlySet<FeedSpec['kind']> = new Set(['token-list', 'event-markets', 'prediction-events']);
const GENERATED_START: Millis = Date.UTC(2026, 0, 1);
/** Between two polls the price moves a few steps: the checks need decisions, not a likely market. */
const STEPS_PER_POLL = 5;
const LONGEST_STEP_MS: Millis = 3_600_000;
const DAY_MS: Millis = 86_400_000;
const MOST_DAYS = 3_660;
/** Of a strategy that is checked without a configuration. */
const ASSUMED_BUDGET = '1000 USDC';

interface CheckFlags {
  readonly recording?: string;
  readonly days?: number;
  readonly seed: number;
}

/** What the boxed process checks. */
export interface CheckedSubject {
  /** The file of the one strategy that is checked, absolute; all of the configuration where left out. */
  readonly only?: string | undefined;
  /** Where the parameters come from, for people. */
  readonly parameters: string;
  /** Whether the recording was generated for this check. */
  readonly isGenerated: boolean;
  readonly seed: number;
}

/** Adds the command that checks strategies. */
export function addCheck(group: Command, run: RunCommand): void {
  group.command('check <strategy>')
    .description('checks a strategy: its schema and code, and in runs that it is repeatable, ends silently, survives '
      + 'restarts, needs no future data, and is bounded in memory and time. Takes a name of strategies/, a file, or a '
      + 'configuration, whose strategies are all checked')
    .addHelpText('after', example('gannet strategy check ./my-strategy.ts --config my.yaml'))
    .option('--recording <recording>', 'a recording of what it watches (default: a market is generated)')
    .option('--days <n>', `the length of the generated market (default: about ${GENERATED_EVENTS} events)`, days)
    .option('--seed <n>', 'the seed of the generated market and of the changed futures', wholeNumber(1, 999_999), 1)
    .action(run((context: CommandContext, name: string, flags: CheckFlags) => check(context, name, flags)));
}

function days(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(value > 0 && value <= MOST_DAYS))
    throw new InvalidArgumentError(`expected a number of days above 0, up to ${MOST_DAYS}.`);
  return value;
}

async function check(context: CommandContext, name: string, flags: CheckFlags): Promise<ExitCode> {
  const directory = mkdtempSync(join(tmpdir(), 'gannet-strategy-check-'));
  try {
    const subject = await subjectOf(context, name, directory);
    const { file, only, parameters } = subject;
    const config = await readConfig(context, subject);
    const checked = config.strategies.filter((strategy) => only === undefined || strategy.file === only);
    if (checked.length === 0)
      throw new GannetError('STRATEGY_NOT_FOUND', `${parameters} has no strategy of ${printable(name)}: add one`);
    const isGenerated = flags.recording === undefined;
    const recording = flags.recording
      ?? await generate(context, { config, checked, directory: join(directory, 'market'), flags });
    const checkedSubject: CheckedSubject = { only, parameters, isGenerated, seed: flags.seed };
    return await context.runBoxed(context, { command: 'strategy-check', file, recording, flags: checkedSubject });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Subject {
  /** The configuration with the parameters. */
  readonly file: string;
  readonly only: string | undefined;
  readonly parameters: string;
  /** Whether the configuration was written for this check, without parameters. */
  readonly isBare: boolean;
}

/** Finds the strategy, and the configuration that gives its parameters. */
async function subjectOf({ options }: CommandContext, name: string, directory: string): Promise<Subject> {
  if (/\.ya?ml$/.test(name)) return { file: name, only: undefined, parameters: name, isBare: false };
  const found = await findStrategy(name, { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: process.cwd() });
  if (typeof found === 'string') throw new GannetError('STRATEGY_NOT_FOUND', found);
  const only = found.file;
  if (options.config !== undefined) return { file: options.config, only, parameters: options.config, isBare: false };
  const shipped = shippedConfig(found);
  if (shipped !== undefined)
    return { file: shipped, only, parameters: relative(PROJECT_DIR, shipped), isBare: false };
  const file = join(directory, 'bare.yaml');
  writeFileSync(file, `strategies:\n  - { use: ${JSON.stringify(only)}, budget: "${ASSUMED_BUDGET}" }\n`);
  return { file, only, parameters: `the schema’s defaults, with a budget of ${ASSUMED_BUDGET}`, isBare: true };
}

async function readConfig(context: CommandContext, { file, only, isBare }: Subject): Promise<RunConfig> {
  const { readWatched } = await import('../recording/generate-watched.ts');
  const loaded = await readWatched(context, file);
  if (loaded.ok) return loaded.config;
  throw isBare ? missingParameters(basename(only!), loaded) : configError(loaded);
}

/** The error of a strategy whose schema has not a default for every parameter. */
function missingParameters(file: string, { issues }: ConfigFailure): GannetError {
  const faults = issues.map(({ path, message }) => {
    const parameter = path.replace(/^strategies\[0\]\.?(?:params|use)?\.?/, '');
    return `  ${parameter === '' ? '' : `${parameter}: `}${message}`;
  });
  return new GannetError('CONFIG_INVALID', `${file} cannot be checked with the defaults of its schema alone:\n`
    + `${faults.join('\n')}\nGive its parameters in a configuration: --config my.yaml`);
}

/** Generates a market of what strategies watch, and returns its folder. */
async function generate(context: CommandContext, { config, checked, directory, flags }: {
  readonly config: RunConfig; readonly checked: RunConfig['strategies'];
  readonly directory: string; readonly flags: CheckFlags;
}): Promise<string> {
  const { watchedMarket } = await import('../recording/generate-watched.ts');
  const { writeEvents } = await import('../../../recording/import/write-events.ts');
  const specs = sharedFeeds(Engine.feedsOf(checked));
  if (specs.length === 0) {
    throw new GannetError('USAGE', 'it watches nothing that a market could be generated of: give a recording with '
      + '--recording');
  }
  const { seed, days: given } = flags;
  const spanDays = given ?? spanOf(specs) / DAY_MS;
  const shortestMs = Math.min(...specs.map(({ everyMs }) => everyMs));
  await writeEvents(watchedMarket({
    specs, seed, startAt: GENERATED_START, days: spanDays, motion: 'swings', unanswered: new Set(specs.map(feedKey)),
    slotMs: Math.max(1, Math.min(LONGEST_STEP_MS, Math.round(shortestMs / STEPS_PER_POLL))),
    interrupt: context.interrupt,
  }), {
    directory, tokens: config.tokens.all, source: { kind: 'synthetic', market: 'swings', seed },
    startAt: GENERATED_START, interrupt: context.interrupt,
  });
  return directory;
}

/** The time in which feeds have enough events together. */
function spanOf(specs: readonly FeedSpec[]): Millis {
  const perMs = specs.reduce((sum, { kind, everyMs }) => sum + (LISTS.has(kind) ? LIST_WEIGHT : 1) / everyMs, 0);
  return Math.min(MOST_DAYS * DAY_MS, GENERATED_EVENTS / perMs);
}
