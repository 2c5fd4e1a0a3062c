import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Profile } from '../../src/sandbox/sandbox.ts';
import { openCrashFixture } from '../crash/crash-fixture.ts';
import { createChoose } from './choose.ts';
import { playLyingLife, type LyingLife } from './lies/life.ts';
import { PLANS, type Lie } from './lies/lie-kinds.ts';
import { PROFILE_FLAG, campaignName, profileOf } from './profile-flag.ts';
import { addResult, endAtSignals, endCampaign, readResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

export interface LyingCampaignOptions {
  /** Lies in all, those that stand in the results included. */
  readonly lies: number;
  readonly seed: number;
  /** Daemons at once. */
  readonly lanes: number;
  /** Where results are added, and where it is seen what was done before. */
  readonly out: string;
  readonly timeFactor: number;
  /** How many nodes each daemon has; the first one lies. */
  readonly nodes: 1 | 2;
  /** Of the sandbox; the service's description by default. */
  readonly profile?: Profile | undefined;
  readonly onProgress?: (progress: { readonly done: number; readonly of: number; readonly violations: number }) => void;
}

const PLANS_PER_LIFE = 60;
const KILLS_PER_LIFE = 2;

/**
 * Has daemons trade through nodes that lie, each lie alone and every two, and adds each life to the results. Returns
 * the violations.
 */
export async function lyingCampaign(
  { lies, seed, lanes, out, timeFactor, nodes, profile, onProgress }: LyingCampaignOptions,
): Promise<readonly string[]> {
  const { digest, commit } = codeVersion('daemon');
  const known = readResults(out)
    .filter((line) => line.type === 'life' && line['digest'] === digest && line['seed'] === seed
      && (line['nodes'] ?? 1) === nodes);
  const before = new Set(known.map((line) => line['number']));
  let done = known.reduce((sum, line) => sum + Number(line['lies']), 0);
  const violations: string[] = [];
  const startedMs = performance.now();
  let told = 0;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (done < lies) {
      while (before.has(next)) next += 1;
      const number = next++;
      const fixture = await openCrashFixture({ seed, timeFactor, profile });
      try {
        const life = await playLyingLife(fixture, {
          name: `life-${number}`, seed: `${seed}:${number}`, timeFactor, plans: plansOf(seed, number),
          kills: KILLS_PER_LIFE, nodes,
        });
        addResult(out, { type: 'life', digest, seed, number, nodes, ...figuresOf(life) });
        violations.push(...life.violations);
        const count = life.lies.reduce((sum, { lies: number }) => sum + number, 0);
        done += count;
        told += count;
        onProgress?.({ done, of: lies, violations: violations.length });
      } finally {
        await fixture.close();
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (told > 0) {
    addResult(out, {
      type: 'session', digest, commit, node: process.version, seed, lanes, nodes, lies: told, time_factor: timeFactor,
      minutes: Math.round((performance.now() - startedMs) / 6_000) / 10, cores: availableParallelism(),
      load: Math.round(loadavg()[2]! * 10) / 10,
    });
  }
  return violations;
}

/** Returns the plans of a life: all there are come in turn, in an order that the seed says. */
function plansOf(seed: number, life: number): readonly (readonly Lie[])[] {
  return Array.from({ length: PLANS_PER_LIFE }, (_, index) => {
    const position = life * PLANS_PER_LIFE + index;
    return shuffled(seed, Math.floor(position / PLANS.length))[position % PLANS.length]!;
  });
}

const orders = new Map<string, readonly (readonly Lie[])[]>();
function shuffled(seed: number, round: number): readonly (readonly Lie[])[] {
  const name = `${seed}:${round}`;
  const known = orders.get(name);
  if (known !== undefined) return known;
  const choose = createChoose(`lies ${name}`);
  const order = [...PLANS];
  for (let index = order.length - 1; index > 0; index--) {
    const other = choose.integer(0, index);
    [order[index], order[other]] = [order[other]!, order[index]!];
  }
  orders.set(name, order);
  return order;
}

function figuresOf({ lies, kills, states, givenUp, violations }: LyingLife): Readonly<Record<string, unknown>> {
  const after = lies.flatMap(({ tradesAfterMs }) => (tradesAfterMs === undefined ? [] : [tradesAfterMs]));
  return {
    lies: lies.reduce((sum, { lies: number }) => sum + number, 0), times: lies.length,
    answers: lies.reduce((sum, { answers }) => sum + answers, 0), kills, states, givenUp,
    slowestMs: Math.max(0, ...after), plans: lies.map(({ plan, fate, lastedMs, answers, tradesAfterMs }) => [
      plan, fate, lastedMs, answers, tradesAfterMs ?? null,
    ]), violations,
  };
}

const USAGE = 'usage: npm run campaign:lies -- [--lies 2000] [--seed 1] [--lanes 2] [--nodes 1] '
  + '[--time-factor 10] [--profile live] [--out FILE]\n';

type Chosen = 'lies' | 'seed' | 'lanes' | 'timeFactor' | 'nodes' | 'profile' | 'out';
interface Flags extends Pick<LyingCampaignOptions, Chosen> {
  readonly help: boolean;
}

/** Throws ERR_PARSE_ARGS_… on what is no option of the campaign. */
function flagsOf(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'lies': { type: 'string', default: '2000' }, 'seed': { type: 'string', default: '1' },
      'lanes': { type: 'string', default: '2' }, 'nodes': { type: 'string', default: '1' },
      'time-factor': { type: 'string', default: '10' },
      'out': { type: 'string' }, ...PROFILE_FLAG, 'help': { type: 'boolean', short: 'h', default: false },
    },
  });
  const profile = profileOf(values);
  return {
    lies: Number(values.lies), seed: Number(values.seed), lanes: Number(values.lanes),
    timeFactor: Number(values['time-factor']), nodes: values.nodes === '2' ? 2 : 1, profile,
    out: values.out ?? resultsFile(campaignName('lies', profile)), help: values.help,
  };
}

async function main(): Promise<number> {
  let flags: Flags;
  try {
    flags = flagsOf(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')))
      throw error;
    process.stderr.write(`${error.message}\n${USAGE}`);
    return 2;
  }
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const violations = await lyingCampaign({
    ...flags,
    onProgress: (
      { done, of, violations: found },
    ) => { process.stderr.write(`${done} of ${of} lies · ${found} violations\n`); },
  });
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  return endCampaign(flags.out, violations.length);
}

if (import.meta.main) {
  endAtSignals();
  process.exitCode = await main();
}
