import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom, type Random } from '../../../src/core/random.ts';
import { startDaemon, type CrashDaemon } from '../../crash/daemon.ts';
import { readJournal, violationsOf } from '../../crash/invariants.ts';
import { openPlace, runArgs, type Place } from '../../crash/place.ts';
import { ending, openIn, recovered } from '../../crash/recovery.ts';
import type { WireRule } from '../../crash/wire.ts';
import { nodeOptions, type CrashFixture } from '../../crash/crash-fixture.ts';
import { pick } from '../../signer/random-transaction.ts';
import { planName, type Lie } from './lie-kinds.ts';
import { createLiar, type Liar } from './liar.ts';

/** One lie or two that were told at the same time, and how soon a swap that was decided on after it was confirmed. */
export interface ToldLie {
  readonly plan: string;
  /** How many lies it is made of. */
  readonly lies: number;
  readonly fate: string;
  readonly lastedMs: number;
  /** Answers that were not the node's. */
  readonly answers: number;
  /** Of the fixture's own time; undefined where the daemon was ended before. */
  readonly tradesAfterMs: number | undefined;
}

/** A wallet whose daemon traded through a node that lied, and what it left behind. */
export interface LyingLife {
  readonly lies: readonly ToldLie[];
  readonly kills: number;
  readonly states: Readonly<Record<string, number>>;
  /** Of swaps that were given up before anything was signed, by code. */
  readonly givenUp: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

export interface LyingLifeOptions {
  /** Of the folder. */
  readonly name: string;
  readonly seed: string;
  readonly timeFactor: number;
  readonly plans: readonly (readonly Lie[])[];
  /** Daemons that are killed in the middle of a lie; the next one recovers through it. */
  readonly kills: number;
  /** How many nodes the daemon has; the first one lies. One where absent. */
  readonly nodes?: 1 | 2 | undefined;
  /** How long lies last, of the fixture's own time; by chance one of these. */
  readonly lasting?: readonly number[];
  /** How long the truth is told at the end, so that the ledger is compared; long enough for every lie where absent. */
  readonly comparedMs?: number;
}

/** Purchases by both routes and of every size, and sales: without a pause in the time of the fixture. */
const STRATEGIES =
  `  - { use: dca, name: small, budget: "200000 USDC", params: { buy: SOL, spend: "25 USDC", every: 2s, watch: 2s } }
  - { use: dca, name: firm, budget: "300000 USDC", params: { buy: SOL, spend: "200 USDC", every: 8s, watch: 4s } }
  - { use: dca, name: composed, budget: "200000 USDC", params: { buy: SOL, spend: "30 USDC", every: 5s, watch: 2s,
      route: build } }
  - { use: dca, name: sold, budget: "500 SOL", params: { buy: USDC, spend: "0.1 SOL", every: 3s, watch: 2s } }
  - { use: dca, name: sold-composed, budget: "500 SOL", params: { buy: USDC, spend: "0.2 SOL", every: 7s,
      watch: 2s, route: build } }
`;
const FUNDS = { usdc: 900_000, lamports: 1_200_000_000_000n };
/** Mostly short: what takes a expiry proof to show needs a minute. */
const LASTING_MS = [2_000, 2_000, 4_000, 4_000, 8_000, 8_000, 15_000, 70_000];
/** What the issue asks for, of the fixture's own time. */
const TRADES_WITHIN_MS = 60_000;
/** After so long without a swap this life is given up. */
const STALLED_MS = 300_000;
const SETTLED_MS = 300_000;
/** A comparison a minute, a second one that confirms it, and some more. */
const COMPARED_MS = 100_000;
const POLL_MS = 10;
const PRICE_STEP = 1.03;

const SENT = ['/swap/v2/execute', 'sendTransaction'] as const;
/** What becomes of signed bytes while the node lies. */
const FATES: Readonly<Record<string, readonly Omit<WireRule, 'request'>[]>> = {
  'they land': [],
  'they fail': [],
  'the answers are lost': [{ fault: { kind: 'drop_after' }, times: 2 }],
  'they land late': [{ fault: { kind: 'late', ms: 400 } }],
  'they never arrive': [{ fault: { kind: 'drop_before' } }],
};

/** Has one wallet’s daemon trade while its node lies, plan after plan; then checks the result. */
export async function playLyingLife(fixture: CrashFixture, options: LyingLifeOptions): Promise<LyingLife> {
  const { name, seed, plans, timeFactor } = options;
  const random = seededRandom(seed);
  const place = await openPlace(fixture, {
    name, funds: FUNDS, strategies: STRATEGIES, isRecorded: false, risk: 'max_quote_age: 15s, max_open_intents: 10,',
    nodes: options.nodes,
  });
  const liar = createLiar(timeFactor);
  const killAt = new Set(Array.from({ length: options.kills }, (_, index) =>
    Math.floor(((index + 0.5) * plans.length) / options.kills)));
  const lies: ToldLie[] = [];
  const violations: string[] = [];
  let running: Running | undefined;
  let kills = 0;
  try {
    await fates(fixture, liar, { fate: 'they land', random });
    running = start(place, timeFactor);
    await running.tradesAgain(0, STALLED_MS);
    for (const [index, plan] of plans.entries()) {
      const fate = pick(random, Object.keys(FATES));
      const lastedMs = pick(random, options.lasting ?? LASTING_MS);
      const answersBefore = liar.answers();
      await fates(fixture, liar, { fate, random });
      liar.lie(plan);
      if (killAt.has(index)) {
        await sleep(lastedMs / 2 / timeFactor);
        running = await killed(running, place, timeFactor);
        kills += 1;
        await sleep(lastedMs / 2 / timeFactor);
      } else {
        await sleep(lastedMs / timeFactor);
      }
      liar.tellTheTruth();
      await fates(fixture, liar, { fate: 'they land', random });
      // A daemon that could not start through the lie is started again, as its supervisor would.
      if (running.hasEnded()) running = await killed(running, place, timeFactor);
      const tradesAfterMs = await running.tradesAgain(running.now(), STALLED_MS);
      lies.push({
        plan: planName(plan), lies: plan.length, fate, lastedMs, answers: liar.answers() - answersBefore, tradesAfterMs,
      });
      if (tradesAfterMs !== undefined && tradesAfterMs <= TRADES_WITHIN_MS) continue;
      violations.push(`${planName(plan)}, ${fate}, for ${lastedMs} ms: trading went on after `
      + `${tradesAfterMs ?? 'never'} ms: ${running.lastLines()}`);
      if (tradesAfterMs === undefined) break;
    }
    await settled(place, timeFactor);
    // The ledger is held against the chain by then, and what lies about balances made it is put right.
    await sleep((options.comparedMs ?? COMPARED_MS) / timeFactor);
    running.daemon.signal('SIGTERM');
    violations.push(...await ending(running.daemon, { expected: 'an end' }), ...await recovered(place));
    const found = await violationsOf({ stateDir: place.stateDir, wallet: place.wallet.address, chain: fixture.chain });
    // What a lie about balances made the ledger, the truth makes right again.
    violations.push(...found.filter((violation) => !violation.startsWith('the ledger had to be set right')));
    const states: Record<string, number> = {};
    for (const { state } of readJournal(place.stateDir)?.intents ?? []) states[state] = (states[state] ?? 0) + 1;
    return { lies, kills, states, givenUp: givenUpIn(place), violations };
  } finally {
    running?.daemon.signal('SIGKILL');
    await running?.daemon.gone(0);
    fixture.service.rule([]);
    fixture.rpc.rule([]);
    fixture.secondRpc.rule([]);
    rmSync(place.dir, { recursive: true, force: true });
  }
}

async function fates(
  fixture: CrashFixture, { onAnswer }: Liar, { fate, random }: { readonly fate: string; readonly random: Random },
): Promise<void> {
  await fixture.priceSol(1);
  const rules = FATES[fate]!;
  let factor = 1;
  const onRequest = async (request: string): Promise<void> => {
    if (fate !== 'they fail' || !(SENT as readonly string[]).includes(request) || random() < 0.3) return;
    factor = factor === 1 ? PRICE_STEP : 1;
    await fixture.priceSol(factor);
  };
  const [execute, send] = SENT.map((request) => rules.map((rule) => ({ request, ...rule })));
  fixture.service.rule(execute!, { onRequest });
  fixture.rpc.rule(send!, { onRequest, onAnswer });
  fixture.secondRpc.rule(send!);
}

/** A daemon and what it has said. */
interface Running {
  readonly daemon: CrashDaemon;
  readonly now: () => number;
  readonly hasEnded: () => boolean;
  /**
   * Returns how long after an instant a swap was confirmed that was decided on after it; undefined where none was in
   * time.
   */
  readonly tradesAgain: (since: number, withinMs: number) => Promise<number | undefined>;
  readonly lastLines: () => string;
}

function start(place: Place, timeFactor: number): Running {
  const daemon = startDaemon(runArgs(place), {
    cwd: place.dir, environment: { ...place.environment, NODE_OPTIONS: nodeOptions({ points: false }) },
  });
  const anchorMs = Number(place.environment['GANNET_TIME_ANCHOR']);
  const now = (): number => anchorMs + (Date.now() - anchorMs) * timeFactor;
  const decidedAt = new Map<string, number>();
  const confirmed: { readonly decidedAt: number; readonly at: number }[] = [];
  let read = 0;
  let startedAt: number | undefined;
  const end = { isOver: false };
  void daemon.ended.then(() => { end.isOver = true; });
  const readLines = (): void => {
    const text = daemon.stdout();
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(read, end).split('\n')) {
      if (startedAt === undefined && line.startsWith('{"type":"started"'))
        startedAt = (JSON.parse(line) as { readonly at: number }).at;
      if (!line.includes('"intent_id"')) continue;
      const { type, at, intent_id: id, state } = JSON.parse(
        line,
      ) as { readonly type: string; readonly at: number; readonly intent_id: string; readonly state: string };
      if (type === 'decision') decidedAt.set(id, at);
      else if (type === 'intent' && state === 'confirmed') confirmed.push({ decidedAt: decidedAt.get(id) ?? 0, at });
    }
    read = end;
  };
  return {
    daemon, now,
    hasEnded: () => end.isOver,
    async tradesAgain(since, withinMs) {
      const from = now();
      while (now() - from < withinMs && !end.isOver) {
        readLines();
        const found = confirmed.find((swap) => swap.decidedAt > since);
        // To start takes the machine's own time, which is many times as long here.
        if (found !== undefined) return Math.max(0, Math.round(found.at - Math.max(since, startedAt ?? 0)));
        await sleep(POLL_MS);
      }
      return undefined;
    },
    lastLines: () => `${daemon.stdout().slice(-1_500)} ${daemon.stderr().slice(-500)}`,
  };
}

/** Kills a daemon with all its processes, and starts the next one. */
async function killed({ daemon }: Running, place: Place, timeFactor: number): Promise<Running> {
  await daemon.gone(0);
  return start(place, timeFactor);
}

/** Returns the codes of swaps that ended before anything was signed. */
function givenUpIn({ stateDir }: Place): Record<string, number> {
  const database = new DatabaseSync(join(stateDir, 'journal.sqlite'), { readOnly: true });
  try {
    const rows = database.prepare("SELECT outcome FROM transitions WHERE state = 'abandoned'").all();
    const counts: Record<string, number> = {};
    for (const { code = 'none' } of rows.map((row) => JSON.parse(String(row['outcome'])) as { readonly code?: string }))
      counts[code] = (counts[code] ?? 0) + 1;
    return counts;
  } finally {
    database.close();
  }
}

/** Waits until what was open when the last lie was over is known. */
async function settled({ stateDir }: Place, timeFactor: number): Promise<void> {
  const open = new Set(openIn(stateDir));
  for (const until = Date.now() + SETTLED_MS / timeFactor; Date.now() < until;) {
    if (openIn(stateDir).every((id) => !open.has(id))) return;
    await sleep(POLL_MS * 5);
  }
}
