import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { RetentionConfig } from '../../src/config/operations/retention-config.ts';
import { resolveRetention, retentionSchema } from '../../src/config/operations/retention-config.ts';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import { createRunFiles } from '../../src/daemon/files/run-files.ts';
import type { RunManifest } from '../../src/daemon/files/run-manifest.ts';
import { createLog } from '../../src/daemon/reporting/log.ts';
import type { Pruning } from '../../src/daemon/retention/prune.ts';
import { prune } from '../../src/daemon/retention/prune.ts';
import { DecisionLog } from '../../src/engine/decision-log.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import { createTransactor, openDatabase } from '../../src/store/database.ts';
import { createFillRecords } from '../../src/store/fill-records.ts';
import { openHistory, USD } from '../../src/store/history.ts';
import { createIntents } from '../../src/store/intents.ts';
import { readProfitRecords } from '../../src/store/journal-reader.ts';
import { JOURNAL } from '../../src/store/journal-schema.ts';
import { openJournal } from '../../src/store/journal.ts';
import { createSavedSnapshot } from '../../src/store/saved-state.ts';
import type { Input } from '../../src/trading/step.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

interface RetentionOptions {
  readonly days: number;
  /** The section "retention" of the configuration; its defaults unless given. */
  readonly retention?: object | undefined;
  readonly seed: number;
  /** How often the recording is flushed in virtual time; it is a second in a run. */
  readonly flushMs: number;
  /** Which share of the demonstration's rate: 1 unless given. */
  readonly share?: number | undefined;
  /** The hours between two prunings; it is one in a run. */
  readonly pruneEvery?: number | undefined;
  readonly onDay?: ((day: DayFigures) => void) | undefined;
}

/** The sizes at the end of a virtual day, in bytes, and the largest total within it. */
interface DayFigures {
  readonly day: number;
  readonly recordings: number;
  readonly runs: number;
  readonly logs: number;
  readonly journal: number;
  readonly history: number;
  readonly total: number;
  readonly most: number;
}

interface RetentionReport {
  readonly days: readonly DayFigures[];
  readonly most: number;
  readonly end: number;
  readonly budget: number;
  readonly swaps: number;
  readonly quotes: number;
  readonly bytesPerQuote: number;
  readonly violations: readonly string[];
}

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** The demonstration: two purchases, four quotes, two books every ten seconds. */
const STEP_MS = 10_000;

/**
 * Runs the recorder, the log, the files of a run, the journal and the history at the rate of the demonstration, hour
 * by hour in virtual time, with the pruning of a run after each. Nothing about a swap may be lost on the way.
 */
export async function campaign(options: RetentionOptions): Promise<RetentionReport> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gannet-retention-'));
  const config = resolveRetention(retentionSchema.parse(options.retention ?? {}));
  try {
    return await new Demonstration(stateDir, config, options).run();
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** A swap with all its outcomes. */
interface Swap {
  readonly intent: Intent;
  readonly at: number;
  readonly outcomes: readonly Outcome[];
}

class Demonstration {
  readonly #stateDir: string;
  readonly #config: RetentionConfig;
  readonly #options: RetentionOptions;
  readonly #clock = new VirtualClock(START);
  readonly #random: () => number;
  readonly #journal: ReturnType<typeof createTransactor>;
  readonly #decisions = new DecisionLog();
  readonly #touched = new Map<string, number>();
  readonly #violations: string[] = [];
  #seq = 0;
  #swaps = 0;
  #quotes = 0;

  constructor(stateDir: string, config: RetentionConfig, options: RetentionOptions) {
    this.#stateDir = stateDir;
    this.#config = config;
    this.#options = options;
    this.#random = seededRandom(`retention-${options.seed}`);
    this.#journal = createTransactor(openDatabase(join(stateDir, 'journal.sqlite'), JOURNAL), 'journal', JOURNAL);
  }

  async run(): Promise<RetentionReport> {
    const stateDir = this.#stateDir;
    const runId = '20260101T000000-abcdef';
    const recordingDir = join(stateDir, 'recordings');
    const writer = createRecordingWriter({
      dir: recordingDir, name: runId, clock: this.#clock, tokens: [], flushMs: this.#options.flushMs,
      onError: (error) => { throw error; },
    });
    const files = createRunFiles(stateDir, runId);
    files.manifest(manifestOf(runId, relative(files.dir, writer.directory)));
    const { log, close } = createLog({ level: 'error', secrets: [], terminal: false, file: { stateDir, name: runId } });
    const history = openHistory({
      path: join(stateDir, 'history.sqlite'), onFault: (message) => { this.#violations.push(message); },
    });
    const days: DayFigures[] = [];
    let [most, mostOfDay] = [0, 0];
    let last: Pruning | undefined;
    for (let hour = 0; hour < 24 * this.#options.days; hour++) {
      this.#hour(START + hour * HOUR, { writer, files, log });
      const now = START + (hour + 1) * HOUR;
      this.#clock.advanceTo(now);
      history.add(sampleAt(now));
      // The hour ends with the first row of the next one.
      await compressed(writer.directory, new Date(now - HOUR - 1).toISOString().slice(0, 13));
      this.#touch(now, [join(stateDir, 'logs'), files.dir]);
      if ((hour + 1) % (this.#options.pruneEvery ?? 1) !== 0) continue;
      last = await prune({ stateDir, recordingDir, config: this.#config, now, warmupMs: 0 });
      mostOfDay = Math.max(mostOfDay, last.before.total, last.after!.total);
      if (hour % 24 !== 23) continue;
      const { other: _, ...after } = last.after!;
      days.push({ day: days.length + 1, ...after, most: mostOfDay });
      this.#options.onDay?.(days.at(-1)!);
      most = Math.max(most, mostOfDay);
      mostOfDay = 0;
    }
    files.close();
    history.close();
    await close();
    const manifest = await writer.close();
    this.#journal.close();
    if (most > this.#config.budgetBytes) this.#violations.push(`${most} bytes were over the budget`);
    this.#check(writer.directory);
    const quotes = manifest.files.filter(({ file }) => file.startsWith('quote/'));
    return {
      days, most, end: days.at(-1)?.total ?? 0, budget: this.#config.budgetBytes, swaps: this.#swaps,
      quotes: this.#quotes, bytesPerQuote: quotes.reduce((sum, { bytes }) => sum + bytes, 0) / this.#quotes,
      violations: this.#violations,
    };
  }

  /** One hour of the demonstration. Its swaps are journalled at once, because a commit each takes most of the time. */
  #hour(from: number, { writer, files, log }: {
    readonly writer: ReturnType<typeof createRecordingWriter>; readonly files: ReturnType<typeof createRunFiles>;
    readonly log: ReturnType<typeof createLog>['log'];
  }): void {
    const swaps: Swap[] = [];
    for (let time = 0; time < HOUR; time += STEP_MS / (this.#options.share ?? 1)) {
      const at = from + time;
      const record = (delay: number, input: (received: number) => Input): void => {
        const received = at + delay + Math.floor(this.#random() * 400);
        this.#clock.advanceTo(received);
        writer.append(++this.#seq, received, input(received));
      };
      for (const [delay, mint, amount] of [[0, SOL_MINT, 1e6], [20, PEARL, 1e6], [40, SOL_MINT, 25e6]] as const)
        record(delay, (received) => this.#quote(mint, amount, received));
      record(500, (received) => this.#book(received));
      for (const [delay, mint] of [[1_000, SOL_MINT], [5_500, PEARL]] as const) {
        const swap = this.#swap(mint, at + delay);
        swaps.push(swap);
        const decision = this.#decisions.append({
          seq: ++this.#seq, at: swap.at, strategy: swap.intent.strategy,
          proposal: {
            kind: 'swap', inputMint: USDC_MINT, outputMint: mint, amount: swap.intent.amountIn,
            reason: swap.intent.reason, route: swap.intent.route, key: swap.intent.key!,
          },
          verdict: 'approved', code: null,
        });
        files.decision(decision);
        log('info', 'decision', { ...decision, intent_id: swap.intent.id });
        for (const [index, outcome] of swap.outcomes.entries()) {
          record(delay + 450 * index, () => outcome);
          const { strategy, route, amountIn } = swap.intent;
          log('info', 'intent', { at: swap.at, seq: this.#seq, ...outcome, strategy, route, amount_in: amountIn });
        }
      }
      record(6_500, (received) => this.#quote(SOL_MINT, 25e6, received));
      record(7_000, (received) => this.#book(received));
    }
    this.#keep(swaps, from);
  }

  #keep(swaps: readonly Swap[], from: number): void {
    const { commit, prepare } = this.#journal;
    const [intents, fills] = [createIntents(prepare), createFillRecords(prepare)];
    commit(() => {
      for (const { intent, at, outcomes } of swaps) {
        intents.approve(intent);
        for (const outcome of outcomes) {
          if (outcome.state === 'signed') intents.sign(this.#attempt(intent, outcome), at);
          intents.move(outcome, at);
        }
        fills.putValues(intent.id, {
          isManual: false, currency: USDC_MINT, feeValue: 1_055n, input: { microUsd: 1_000_000n, source: 'usdc' },
          output: { microUsd: BigInt(990_000 + Math.floor(this.#random() * 20_000)), source: 'quote' }, feeUsd: 1_055n,
        });
        intents.settle(intent.id);
      }
      createSavedSnapshot(prepare).put({
        wallet: { [SOL_MINT]: '1' }, books: {}, keys: [], approvals: [], trading: 'active', intentCounts: {},
      }, from + HOUR);
    });
    this.#swaps += swaps.length;
  }

  #quote(mint: Mint, amount: number, receivedAt: number): Input {
    this.#quotes += 1;
    const out = BigInt(Math.floor(amount * (5.4 + this.#random() / 50)));
    return {
      kind: 'quote', feed: `quote:${USDC_MINT}:${mint}:${amount}`, receivedAt, eventAt: undefined, inputMint: USDC_MINT,
      outputMint: mint, inAmount: BigInt(amount) as Amount, outAmount: out as Amount,
      threshold: (out * 995n / 1_000n) as Amount, priceImpact: this.#random() / 1e4,
      contextSlot: BigInt(450_000_000 + Math.floor((receivedAt - START) / 400)),
      router: this.#random() < 0.7 ? 'iris' : 'routerA', feeBps: 2 as Bps, rate: Number(out) / amount,
    };
  }

  #book(receivedAt: number): Input {
    const side = (from: number) => Array.from({ length: 10 }, (_, level) =>
      ({ priceMicroUsd: (from + level) * 10_000, size: Math.floor(this.#random() * 2_000) }));
    return {
      kind: 'order-book', feed: 'order-book:SPRINGTIDE-26DEC31', receivedAt, marketId: 'SPRINGTIDE-26DEC31',
      yes: side(40), no: side(50),
    };
  }

  #swap(mint: Mint, at: number): Swap {
    const number = Math.floor((at - START) / STEP_MS) + 1;
    const strategy = mint === SOL_MINT ? 'dca-sol' : 'dca-pearl';
    const id = `${strategy}-${number}`;
    const router = mint === SOL_MINT ? 'iris' : 'build';
    const out = BigInt(Math.floor(5_400_000 + this.#random() * 100_000)) as Amount;
    const signature = this.#text(88, BASE58);
    const of = (state: Outcome['state'], more: Partial<Outcome> = {}): Outcome =>
      ({ kind: 'outcome', intentId: id, attempt: 1, state, ...more });
    return {
      at,
      intent: {
        id, strategy, createdAt: at, purpose: 'entry', inputMint: USDC_MINT, outputMint: mint,
        amountIn: 1_000_000n as Amount, maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps,
        minimumOut: out, route: mint === SOL_MINT ? 'order' : 'build',
        reason: `purchase due at ${new Date(at).toISOString().slice(11, 19)} UTC, every 10s`,
        key: `slot-${Math.floor(at / STEP_MS)}`,
      },
      outcomes: [
        of('building'),
        of('signed', {
          router, quotedOut: out, signature, messageHash: createHash('sha256').update(signature).digest('hex'),
          lastValidBlockHeight: BigInt(429_000_000 + number), feePayer: '2qCyb5d8tCHRDifULDpznuKU1LGmuifVvoawZwVAX9C8',
        }),
        of('submitted', { signature }),
        of('confirmed', {
          router, quotedOut: out, signature, slot: BigInt(450_000_000 + number),
          fill: {
            inputMint: USDC_MINT, outputMint: mint, amountIn: 1_000_000n as Amount, amountOut: out,
            feeLamports: BigInt(5_000 + Math.floor(this.#random() * 2_000)) as Lamports, rentLamports: 0n as Lamports,
          },
        }),
      ],
    };
  }

  #attempt(intent: Intent, { signature, messageHash, quotedOut }: Outcome): Parameters<
    ReturnType<typeof createIntents>['sign']>[0] {
    return {
      intentId: intent.id, number: 1, route: intent.route, router: 'iris', quotedOut: quotedOut!, threshold: quotedOut!,
      signature: signature!, transactionId: signature!, messageHash: messageHash!, blockhash: this.#text(44, BASE58),
      lastValidBlockHeight: 429_000_000n, feePayer: '2qCyb5d8tCHRDifULDpznuKU1LGmuifVvoawZwVAX9C8',
      inputBalance: 9_989_000_000n as Amount, inputSlots: { from: 450_000_312n, to: 450_000_312n },
      signedTransaction: Uint8Array.from({ length: 405 }, () => Math.floor(this.#random() * 256)),
    };
  }

  #text(length: number, letters: string): string {
    return Array.from({ length }, () => letters[Math.floor(this.#random() * letters.length)]!).join('');
  }

  /** The age of logs and decisions is that of their last change. */
  #touch(now: number, folders: readonly string[]): void {
    for (const path of folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))) {
      try {
        if (this.#touched.get(path) === statSync(path).mtimeMs) continue;
        utimesSync(path, now / 1_000, now / 1_000);
        this.#touched.set(path, statSync(path).mtimeMs);
      } catch (error) {
        // A file that is compressed at this moment gets another name.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }

  #check(recording: string): void {
    const path = join(this.#stateDir, 'journal.sqlite');
    const { swaps } = readProfitRecords(path)!;
    const inOrder = swaps.every(({ number }, index) => index === 0 || number > swaps[index - 1]!.number);
    if (swaps.length !== this.#swaps || !inOrder)
      this.#violations.push(`profit is computed from ${swaps.length} of ${this.#swaps} swaps`);
    const journal = openJournal({ path, clock: this.#clock });
    const { writtenTo } = journal.standing();
    if (writtenTo !== undefined) this.#violations.push('the journal seems to lack entries');
    const first = journal.showIntent(swaps[0]!.intentId);
    if (first?.state !== 'confirmed') this.#violations.push('the first swap is not found');
    journal.close();
    const { firstAt, lastAt } = openRecording(recording);
    const oldest = Math.max(START, this.#clock.now() - this.#config.recordings.maxAgeMs - 2 * HOUR);
    if (firstAt === undefined || lastAt === undefined || firstAt < oldest)
      this.#violations.push(`the recording begins at ${String(firstAt)}, expected ${oldest} or later`);
  }
}

/** Waits until the hour that has ended is compressed. */
async function compressed(directory: string, hour: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const open = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
      .some(({ name }) => existsSync(join(directory, name, `${hour}.arrows`)));
    if (!open) return;
    await wait(10);
  }
}

function sampleAt(at: number): Parameters<ReturnType<typeof openHistory>['add']>[0] {
  return {
    at,
    equity: ['', 'dca-sol', 'dca-pearl', 'sol-dip'].map((strategy) =>
      ({ strategy, currency: USDC_MINT, value: BigInt(at), deposits: 8_000_000_000n, holding: BigInt(at) })),
    prices: [SOL_MINT, PEARL].map((input) => ({ input, output: USD, amountIn: 1_000_000n, amountOut: BigInt(at) })),
  };
}

function manifestOf(runId: string, recording: string): RunManifest {
  return {
    format_version: 1, run_id: runId, mode: 'live', recording, config: { tokens: [] }, clock_start: START, ended: null,
  } as unknown as RunManifest;
}

/** Returns the defaults for a part of the demonstration's rate: every size is that part of its default. */
function partOf(share: number): object {
  const { budgetBytes, recordings, runs, logs } = resolveRetention(retentionSchema.parse({}));
  const size = (bytes: number): string => `${Math.round((bytes * share) / 1e3)}kB`;
  const limit = ({ maxBytes }: { readonly maxBytes: number }): object => ({ max_size: size(maxBytes) });
  return { budget: size(budgetBytes), recordings: limit(recordings), runs: limit(runs), logs: limit(logs) };
}

/** `node test/campaign/retention.ts --days 90 [--share 1] [--every 1] [--seed 7] [--flush 60000] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    days: { type: 'string', default: '90' }, seed: { type: 'string', default: '7' },
    flush: { type: 'string', default: '60000' }, share: { type: 'string', default: '1' },
    every: { type: 'string', default: '1' }, out: { type: 'string', default: resultsFile('retention') },
  } });
  const startedMs = Date.now();
  const share = Number(values.share);
  const { days, violations, ...figures } = await campaign({
    days: Number(values.days), seed: Number(values.seed), flushMs: Number(values.flush), share,
    pruneEvery: Number(values.every), retention: share === 1 ? {} : partOf(share),
    onDay: (day) => { process.stderr.write(`${JSON.stringify(day)}\n`); },
  });
  mkdirSync(join(values.out, '..'), { recursive: true });
  addResult(values.out, {
    type: 'retention', at: new Date().toISOString(), ...codeVersion('everything'), seed: Number(values.seed),
    days: days.length, share, every: Number(values.every), ...figures, last: days.at(-1),
    course: days.map(({ total }) => total),
    minutes: (Date.now() - startedMs) / 60_000, violations: violations.length,
  });
  return endCampaign(values.out, violations, figures);
}

if (import.meta.main) process.exitCode = await main();
