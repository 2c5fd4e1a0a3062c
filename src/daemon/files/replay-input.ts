import type { replayRun } from '../../backtest/replay.ts';
import { readLimits } from '../../config/risk-limits.ts';
import { readExits, readValue } from '../../config/value-record.ts';
import { importStrategy } from '../../config/strategy-file.ts';
import { STRATEGIES_DIR } from '../../core/code-files.ts';
import { parseRaw } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { Engine } from '../../engine/engine.ts';
import { createRealm, inThisProcess } from '../../engine/host/realm.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { RecordedRows } from '../../engine/warm-up.ts';
import type { TokenTable } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import { runInterruptibly } from '../../recording/interrupt.ts';
import type { Recording } from '../../recording/reader.ts';
import { MARKET_KINDS } from '../../recording/format.ts';
import { refusePruned } from '../../recording/pruning.ts';
import { openRecordingInChunks } from '../../recording/reader.ts';
import type { LostRows } from '../../recording/check/verify.ts';
import { strategyHash } from '../../research/trials/strategy-source.ts';
import type { Strategy } from '../../strategy/define.ts';
import { withTokens } from '../../strategy/params.ts';
import { whileLoading } from '../../research/box/phases.ts';
import type { ReloadStrategy, StopStrategy, WarmupWindow } from '../../trading/engine-command.ts';
import { readOutcome } from '../../trading/intent.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { createState } from '../../trading/engine-state.ts';
import type { RestoredStates } from '../../trading/strategy-state.ts';
import { concatenated, repeatWarmup } from '../run/recorded-warm-up.ts';
import { recordingOfRun } from './find-run.ts';
import { importKept } from './kept-code.ts';
import { refusePrunedRun } from './pruned-run.ts';
import type { RecordedDecision } from './run-files.ts';
import { readDecisions } from './run-files.ts';
import type { RunManifest } from './run-manifest.ts';
import { readManifest } from './run-manifest.ts';

/** A run of the daemon with its recording: everything that a replay needs. */
export interface ReplayInput {
  readonly manifest: RunManifest;
  /** The decisions whose inputs are complete. */
  readonly recorded: readonly RecordedDecision[];
  /** The last number with complete inputs, when the run was cut off or still continues. */
  readonly truncatedAt: number | undefined;
  /** The number of decisions after that, whose inputs are incomplete. */
  readonly unreached: number;
  /** Recorded rows that are missing now. */
  readonly lost: readonly LostRows[];
  /** The strategies whose code is not that of the run. */
  readonly otherCode: readonly string[];
  /** All events in the recording, including those after a gap. */
  readonly events: number;
  /** Returns new options of a replay. Each replay needs its own, because it changes the state. */
  replay(): Parameters<typeof replayRun>[0];
}

/**
 * Opens a run for a replay. Throws USAGE for a backtest, RECORDING_CORRUPT when data is missing, RECORDING_PRUNED when
 * the retention deleted it, INTERRUPTED, and what reading its files and its strategies throws.
 */
export async function openReplayInput(runDir: string, interrupt = new AbortController().signal): Promise<ReplayInput> {
  const manifest = readManifest(runDir);
  if (manifest.mode === 'backtest') {
    throw new GannetError(
      'USAGE',
      `${manifest.run_id} is a backtest: run "gannet backtest" on the same recording again, it gives the same hash`,
    );
  }
  refusePrunedRun(runDir);
  const decisions = readDecisions(runDir);
  const directory = recordingOfRun(runDir);
  refusePruned(directory, 'a replay of the run');
  const recording = await runInterruptibly(openRecordingInChunks(directory), interrupt);
  const { ended } = manifest;
  const whole = ended !== null && recording.truncatedAt === undefined;
  const lastSeq = await runInterruptibly(recording.lastGapFreeSeq(decisions.map(({ seq }) => seq)), interrupt);
  if (whole && lastSeq < ended.after_seq) {
    throw new GannetError('RECORDING_CORRUPT', `the run has ${ended.after_seq} stamps, but only those up to ${lastSeq} `
      + 'are complete: a line of its decisions.ndjson is missing, or the recording belongs to another run; '
      + 'restore both from a copy');
  }
  const rows = whole ? recording : await runInterruptibly(recording.cutInChunks(lastSeq), interrupt);
  const recorded = whole ? decisions : decisions.filter(({ seq }) => seq <= lastSeq);
  const tokens = tokenTable(manifest.config.tokens);
  const { stops, reloads } = ordersIn(rows);
  // Where strategies were reloaded, files have changed since: every strategy begins with the run's copy.
  const kept = reloads.length === 0 ? {} : manifest.strategy_code?.sha256 ?? {};
  const strategies = await strategiesOf(manifest, tokens, (name) =>
    (kept[name] === undefined ? undefined : importKept(runDir, kept[name])));
  const versions = await versionsOf(manifest, runDir, { reloads, tokens, strategies });
  return {
    manifest, recorded,
    truncatedAt: whole ? undefined : lastSeq,
    unreached: decisions.length - recorded.length,
    lost: recording.lost,
    otherCode: reloads.length === 0 ? await otherCodeIn(manifest) : [],
    events: recording.events,
    replay: () => ({
      state: stateOf(manifest, tokens, strategies),
      strategies: stops.length === 0 ? strategies : strategies.map((instance) => apart(instance, manifest)),
      stops,
      versionOf: ({ warmup }, seq) => {
        const instance = versions.get(seq)!;
        return {
          instance: stops.length === 0 ? instance : apart(instance, manifest),
          rows: warmup === null ? undefined : rowsUpTo(seq, { warmup, runDir, rows }),
        };
      },
      seed: manifest.config.seed,
      startAt: manifest.clock_start,
      started: manifest.strategies_started,
      stopped: stoppedBy(manifest, whole ? Infinity : lastSeq),
      restored: restoredStateOf(manifest),
      intervals: manifest.own_intervals === true ? Engine.intervalsOf(strategies) : undefined,
      warmup: manifest.warmup ? repeatWarmup(manifest.warmup, runDir) : undefined,
      cutOff: !whole,
      cursor: rows.cursor(),
      recorded,
    }),
  };
}

/** A reload with its stamp. */
type StampedReload = ReloadStrategy & { readonly seq: number };

/**
 * Returns the orders by which the run stopped and reloaded strategies. Only a strategy that runs apart counts its
 * calls, so that a replay can leave out the one that was ended.
 */
function ordersIn(
  rows: Pick<Recording, 'cursor'>,
): { readonly stops: readonly StopStrategy[]; readonly reloads: readonly StampedReload[] } {
  const stops: StopStrategy[] = [];
  const reloads: StampedReload[] = [];
  for (const cursor = rows.cursor({ kinds: ['command'] }); cursor.next();) {
    const { input, seq } = cursor;
    if (input.kind !== 'command') continue;
    if (input.name === 'stop-strategy') stops.push(input);
    else if (input.name === 'reload-strategy') reloads.push({ ...input, seq });
  }
  return { stops, reloads };
}

/** Returns the versions that the run's reloads have started, by their stamps. */
async function versionsOf(manifest: RunManifest, runDir: string, { reloads, tokens, strategies }: {
  readonly reloads: readonly StampedReload[]; readonly tokens: TokenTable;
  readonly strategies: readonly StrategyInstance[];
}): Promise<ReadonlyMap<number, StrategyInstance>> {
  return new Map(await Promise.all(reloads.map(async ({ strategy: name, code, params, seq }) => {
    const use = manifest.config.strategies.find((entry) => entry.name === name)?.use ?? name;
    const strategy = await whileLoading([{ name, use }], () => importKept(runDir, code));
    const instance = strategies.find((one) => one.name === name)!;
    return [seq, { ...instance, strategy, params: await readParams({ name, use, strategy, params }, tokens) }] as const;
  })));
}

/** Returns what a version was warmed up with: what earlier runs recorded, then the run's own events before it. */
function rowsUpTo(seq: number, { warmup, runDir, rows }: {
  readonly warmup: WarmupWindow; readonly runDir: string; readonly rows: Pick<Recording, 'cursor'>;
}): RecordedRows {
  const own = rows.cursor({ kinds: MARKET_KINDS });
  return concatenated([
    repeatWarmup(warmup, runDir),
    { next: () => own.next() && own.seq < seq, get at() { return own.at; }, get input() { return own.input; } },
  ]);
}

function apart(instance: StrategyInstance, { config: { seed } }: RunManifest): StrategyInstance {
  return { ...instance, apart: inThisProcess(createRealm({ ...instance, seed })) };
}

/** A run that was cut off while draining had already stopped its strategies. */
function stoppedBy({ strategies_stopped: stopped }: RunManifest, lastSeq: number): RunManifest['strategies_stopped'] {
  return stopped !== null && lastSeq >= stopped.after_seq ? stopped : null;
}

/** A run records each `use` so that it is found from here. */
const PLACES = { strategiesDir: STRATEGIES_DIR, baseDir: STRATEGIES_DIR };

/** Returns the names of strategies whose code has changed since the run, where the run has recorded it. */
async function otherCodeIn({ config, strategy_code: code }: RunManifest): Promise<string[]> {
  const recorded = config.strategies.filter(({ name }) => code?.sha256[name] !== undefined);
  const hashes = await Promise.all(recorded.map(({ use }) => strategyHash(use, PLACES)));
  return recorded.filter(({ name }, index) => code?.sha256[name] !== hashes[index]).map(({ name }) => name);
}

async function strategiesOf(
  manifest: RunManifest, tokens: TokenTable, keptCode: (name: string) => Promise<Strategy> | undefined,
): Promise<StrategyInstance[]> {
  return Promise.all(manifest.config.strategies.map(async ({ name, use, params, exits }) => {
    const strategy = await whileLoading([{ name, use }], () => keptCode(name) ?? importNow(name, use));
    const warmupMs = manifest.warmup?.strategies[name];
    return {
      name, strategy, params: await readParams({ name, use, strategy, params }, tokens), warmupMs,
      exits: readExits(exits),
    };
  }));
}

async function importNow(name: string, use: string): Promise<Strategy> {
  const imported = await importStrategy(use, PLACES);
  if (typeof imported !== 'string') return imported.strategy;
  throw new GannetError('STRATEGY_NOT_FOUND', `strategy ${name} of the run: ${imported}`);
}

async function readParams({ name, use, strategy, params }: {
  readonly name: string; readonly use: string; readonly strategy: Strategy; readonly params: unknown;
}, tokens: TokenTable): Promise<unknown> {
  const parsed = await whileLoading([{ name, use }], () => withTokens(tokens, () => strategy.params.safeParse(params)));
  if (parsed.success) return parsed.data;
  throw new GannetError('STRATEGY_INVALID',
    `strategy ${name} no longer takes the parameters of the run: ${parsed.error.issues[0]?.message ?? ''}`);
}

function stateOf(manifest: RunManifest, tokens: TokenTable, strategies: readonly StrategyInstance[]): EngineState {
  return createState({
    tokens,
    limits: readLimits(manifest.config.limits),
    strategies: strategies.map(({ name }) => {
      const { budget, max_age_ms: maxAge, max_exposure: maxExposure, swap, by_hand: isManual, exits } =
        manifest.config.strategies.find((strategy) => strategy.name === name)!;
      return {
        name,
        budget: readValue(budget),
        limits: {
          maxAgeMs: maxAge ?? undefined, maxExposure: readValue(maxExposure ?? null), route: swap?.route ?? undefined,
          exits: readExits(exits),
        },
        isManual,
      };
    }),
    snapshot: manifest.snapshot,
    open: manifest.open_intents.map(({ intent, state }) => ({ intent: reviveIntent(intent), state })),
  });
}

function restoredStateOf({ strategy_states: states = {}, unseen_outcomes: unseen = [] }: RunManifest): RestoredStates {
  return { states, unseen: unseen.map((outcome) => readOutcome(stringifyJson(outcome))) };
}

/** Amounts are strings in a manifest. */
function reviveIntent(
  intent: RunManifest['open_intents'][number]['intent'],
): RunManifest['open_intents'][number]['intent'] {
  return {
    ...intent,
    amountIn: parseRaw(String(intent.amountIn)),
    minimumOut: intent.minimumOut === undefined ? undefined : parseRaw(String(intent.minimumOut)),
  };
}
