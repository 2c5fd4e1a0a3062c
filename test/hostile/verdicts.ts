import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringifyJson } from '../../src/core/json.ts';
import { openReplayInput } from '../../src/daemon/files/replay-input.ts';
import { readDecisions } from '../../src/daemon/files/run-files.ts';
import { Engine } from '../../src/engine/engine.ts';
import { timersDueBefore } from '../../src/engine/engine-orders.ts';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { openJournalReader } from '../../src/store/journal-reader.ts';
import type { Input } from '../../src/trading/step.ts';
import type { Attack } from './catalogue.ts';
import type { HostileInstance, HostileRun } from './hosted-run.ts';
import { hasTriedAll, NEIGHBOURS, saidBy, signaturesOnChain } from './hosted-run.ts';
import type { Targets } from './targets.ts';
import { leaksInFiles } from './targets.ts';

/** Text that a terminal would carry out: control characters but line feeds and tabs, and marks of direction. */
const CARRIED_OUT = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

interface Judged {
  readonly run: HostileRun;
  readonly targets: Targets;
  readonly instances: readonly HostileInstance[];
  readonly attacks: ReadonlyMap<string, Attack>;
}

/** Returns what one of the attacks of a run has gained, or what it did to the daemon; empty where all held. */
export function gainsOf({ run, targets }: Omit<Judged, 'instances' | 'attacks'>): string[] {
  const { ended, lines, stateDir, statusText, tokens, leftOver, replay } = run;
  const said = lines.filter(({ type, strategy }) => type === 'alert' && !isNeighbour(strategy))
    .map(({ message }) => String(message)).filter((message) => message.startsWith('worked '));
  const out = [ended.stdout, ended.stderr, statusText].join('\n');
  return [
    ...said, ...targets.arrivals().map((what) => `arrived: ${what}`), ...targets.marks().map((what) => `mark: ${what}`),
    ...targets.damage(), ...leaksInFiles(stateDir, targets),
    ...targets.leaksIn(Buffer.from(out + replay.stdout + replay.stderr)).map(({ secret }) => `${secret} in the output`),
    ...tokens.filter((token) => out.includes(token)).map(() => 'the control token is in the output'),
    ...lines.filter(({ by }) => by === 'operator' || by === 'stop-file')
      .map(({ state }) => `an order: ${String(state)}`),
    ...(CARRIED_OUT.test(out) ? [`the output has control characters: ${JSON.stringify(CARRIED_OUT.exec(out))}`] : []),
    ...(ended.code === 0 && lines.at(-1)?.type === 'summary' ? []
      : [`the daemon ended with code ${ended.code}: ${ended.stderr.slice(-500)}`]),
    ...leftOver.map((pid) => `process ${pid} outlived the run`),
  ];
}

/** Returns the attacks that were not tried, and the culprits that were not named; empty where all were. */
export function silenceOf({ run: { lines, stopped }, instances, attacks }: Omit<Judged, 'targets'>): string[] {
  return instances.flatMap((instance) => {
    const { name } = instance;
    const said = new Set(saidBy(lines, name));
    const untried = instance.attacks.filter((attack) => !said.has(`tries ${attack}`) && attack !== 'loop-in-run'
      && attack !== 'thrown-in-run').map((attack) => `${attack} was not tried`);
    const why = stopped.get(name);
    const expected = instance.attacks.flatMap((attack) => attacks.get(attack)!.stops);
    const list = instance.attacks.join(', ').slice(0, 80);
    if (why === undefined) {
      // One that changes its own process may have nothing left to say it with.
      const mustEnd = expected.length === 0 && instance.attacks.some((attack) => !attacks.get(attack)!.alone);
      return [
        ...untried, ...(expected.length > 0 ? [`${list}: it was not stopped`] : []),
        ...(mustEnd && !hasTriedAll(lines, instance) ? [`${list}: it did not come to its end`] : []),
      ];
    }
    return [
      ...untried, ...(expected.length > 0 && !expected.includes(why.code) ? [`${list}: stopped with ${why.code}`] : []),
      ...(why.reason === '' || CARRIED_OUT.test(`${why.reason}${why.place}`) ? [`${list}: it has no reason`] : []),
      ...(said.values().some((text) => text.includes('stopped: ')) ? [] : [`${list}: no alert names it`]),
    ];
  });
}

/** Returns approved swaps of hostile strategies, and signatures and intents that no ruling explains. */
export async function unruled(
  { run, targets }: Omit<Judged, 'instances' | 'attacks'>, sandbox: SandboxAddresses,
): Promise<string[]> {
  const decisions = decisionsIn(runDirOf(run));
  const approved = decisions.filter(({ proposal, verdict }) => proposal.kind === 'swap' && verdict === 'approved');
  const hostile = approved.filter(({ strategy }) => !isNeighbour(strategy)).map(({ strategy, seq }) =>
    `a swap of ${strategy} was approved with decision ${seq}`);
  const reader = openJournalReader(join(run.stateDir, run.mode === 'live' ? 'journal.sqlite' : 'journal-paper.sqlite'));
  const listed = reader?.list({ limit: 1_000 }) ?? [];
  reader?.close();
  const journalled = new Set(listed.flatMap(({ attempts }) => attempts.map(({ signature }) => signature)));
  const onChain = await signaturesOnChain(sandbox, targets.canaries.wallet.address);
  return [
    ...hostile,
    ...onChain.filter((signature) => !journalled.has(signature)).map((signature) => `${signature} is in no journal`),
    ...(listed.length > approved.length ? [`${listed.length} intents for ${approved.length} approved swaps`] : []),
  ];
}

/**
 * Returns the neighbours that decided otherwise than they do without the hostile strategies, over the same recorded
 * inputs; empty where the hashes of their decisions are the same.
 */
export async function disturbed(run: HostileRun): Promise<string[]> {
  const runDir = runDirOf(run);
  const alone = `${runDir}-alone`;
  cpSync(runDir, alone, { recursive: true });
  const file = join(alone, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { config: { strategies: readonly { name: string }[] } };
  manifest.config.strategies = manifest.config.strategies.filter(({ name }) => isNeighbour(name));
  writeFileSync(file, JSON.stringify(manifest));
  const decided = await repeat(alone);
  return NEIGHBOURS.filter((name) => {
    const before = decisionsIn(runDir).filter(({ strategy }) => strategy === name).map(bodyOf);
    const after = decided.filter(({ strategy }) => strategy === name).map(bodyOf);
    return before.length === 0 || hashOf(before) !== hashOf(after);
  }).map((name) => `${name} decided otherwise beside the hostile strategies`);
}

interface Decided {
  readonly seq: number;
  readonly strategy: string;
  readonly at: number;
  readonly proposal: { readonly kind: string };
  readonly verdict: string;
  readonly code: string | null;
}

/** Returns the decisions of a run. Throws where one is not that of its hash. */
function decisionsIn(runDir: string): Decided[] {
  return readDecisions(runDir).map(({ line }) => JSON.parse(line) as Decided);
}

/** Repeats the inputs of a run that are not of hostile strategies. */
async function repeat(runDir: string): Promise<Decided[]> {
  const { cursor, started, stopped, recorded: _recorded, cutOff: _cutOff, warmup: _warmup, stops: _stops, ...options } =
    (await openReplayInput(runDir)).replay();
  const decided: Decided[] = [];
  const engine = new Engine({ ...options, listener: { onRuling: (_ruling, logged) => { decided.push(logged); } } });
  let begun = false;
  while (cursor.next()) {
    const { seq, at, input } = cursor;
    if (!begun && started !== null && seq > started.after_seq) {
      begun = true;
      engine.advanceTo(started.at);
      engine.start();
    }
    if (stopped !== null && seq > stopped.after_seq) break;
    if (isHostile(input)) continue;
    engine.advanceTo(timersDueBefore(input, at));
    engine.accept(input, at);
  }
  if (stopped !== null) engine.advanceTo(stopped.at);
  return decided;
}

function isHostile(input: Input): boolean {
  if (input.kind === 'outcome') return !NEIGHBOURS.some((name) => input.intentId.startsWith(`${name}-`));
  return input.kind === 'command' && 'strategy' in input && !isNeighbour(input.strategy);
}

function isNeighbour(name: unknown): boolean {
  return NEIGHBOURS.some((neighbour) => neighbour === name);
}

function bodyOf({ at, proposal, verdict, code }: Decided): string {
  return stringifyJson({ at, proposal, verdict, code });
}

function hashOf(bodies: readonly string[]): string {
  return createHash('sha256').update(bodies.join('\n')).digest('hex');
}

/** Returns the folder of a run's files. */
export function runDirOf({ stateDir, lines }: HostileRun): string {
  return join(stateDir, 'runs', String(lines[0]!['run_id']));
}
