import { parseArgs } from 'node:util';
import { createPlayground, startSandbox } from '../e2e/gannet.ts';
import type { BareRun } from '../hostile/bare-run.ts';
import { furnish, hasWorked, runBare, runInBox } from '../hostile/bare-run.ts';
import type { Attack } from '../hostile/catalogue.ts';
import { CATALOGUE } from '../hostile/catalogue.ts';
import type { HostileInstance } from '../hostile/hosted-run.ts';
import { refusalFaults, stageRun } from '../hostile/hosted-run.ts';
import type { Targets } from '../hostile/targets.ts';
import { createTargets } from '../hostile/targets.ts';
import { disturbed, gainsOf, silenceOf, unruled } from '../hostile/verdicts.ts';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** Where attacks are made: without anything, in a box alone, in runs, or before a run begins. */
const PARTS = ['open', 'box', 'live', 'paper', 'refused'] as const;
type Part = typeof PARTS[number];

const ATTACKS: ReadonlyMap<string, Attack> = new Map(CATALOGUE.map((attack) => [attack.name, attack]));
const USAGE = `usage: npm run campaign:hostile -- [--parts ${PARTS.join(',')}] [--together N] [--only NAME,…] `
  + '[--out FILE]\n';

/** What came of some attacks that were made at a time. */
interface Made {
  readonly attacks: readonly string[];
  readonly seconds: number;
  readonly violations: readonly string[];
}

/** Returns attacks in groups that share a run: those that must be alone in a process of their own. */
export function groupsOf(attacks: readonly Attack[], together: number): HostileInstance[][] {
  const mild = attacks.filter(({ alone }) => !alone);
  const alone = attacks.filter((attack) => attack.alone).map(({ name, file }, index) => (
    { name: `culprit-${index}`, file, attacks: [name] }));
  const groups = Array.from({ length: Math.ceil(alone.length / together) }, (_, index) =>
    alone.slice(index * together, (index + 1) * together));
  const all: HostileInstance[] = mild.length === 0 ? []
    : [{ name: 'culprit-together', file: 'together', attacks: mild.map(({ name }) => name) }];
  return together === 1 ? [...mild.map(({ name, file }) => [{ name: 'culprit', file, attacks: [name] }]), ...groups]
    : [all, ...groups].filter((group) => group.length > 0);
}

async function timed(attacks: readonly string[], work: () => Promise<string[]>): Promise<Made> {
  const startedMs = Date.now();
  const violations = await work().catch((error: unknown) => [`it failed: ${String(error).slice(0, 1_000)}`]);
  return { attacks, seconds: (Date.now() - startedMs) / 1_000, violations };
}

/** Makes each attack where nothing stops it, which must show that it works; or in a box, where it must gain nothing. */
async function* makeBare(part: 'open' | 'box', attacks: readonly Attack[]): AsyncGenerator<Made> {
  const made = attacks.filter(({ refused, evidence }) => !refused && (part === 'box' || evidence !== 'none'));
  for (const attack of made) {
    yield await timed([attack.name], async () => {
      const playground = createPlayground();
      const stateDir = playground.path('state');
      furnish(playground, stateDir);
      const targets = await createTargets(playground, { stateDir, attacks: [attack.name, 'control'] });
      try {
        const run = await (part === 'open' ? runBare : runInBox)(attack.file, [attack], targets);
        if (part === 'open') return hasWorked(attack, run) ? [] : [`${attack.name} shows no effect`];
        return boxFaults(attack, run, targets);
      } finally {
        await targets.close();
        await playground.close();
      }
    });
  }
}

/**
 * What a box alone does not stop: effects within its process, and signals to processes of the same user, which the
 * process of a strategy removes from itself before it loads one.
 */
const WITHIN_THE_BOX: ReadonlySet<string> =
  new Set(['signal-to-all', 'repl', 'other-user', 'mask-changed', 'module-hooks']);

function boxFaults({ name }: Attack, { answer, arrivals, marks }: BareRun, targets: Targets): string[] {
  const said = answer?.alerts.filter((text) => text.startsWith('worked ')) ?? [];
  const gained = WITHIN_THE_BOX.has(name) ? [] : said;
  return [...gained, ...arrivals, ...marks, ...targets.damage()].map((what) => `${name}: ${what}`);
}

async function* makeInRuns(
  mode: 'live' | 'paper', groups: readonly HostileInstance[][], sandbox: SandboxAddresses,
): AsyncGenerator<Made> {
  for (const instances of groups) {
    const names = instances.flatMap(({ attacks }) => attacks);
    yield await timed(names, async () => {
      const { run, targets, close } = await stageRun(sandbox, mode, instances);
      try {
        return [
          ...gainsOf({ run, targets }), ...silenceOf({ run, instances, attacks: ATTACKS }),
          ...await unruled({ run, targets }, sandbox), ...await disturbed(run),
        ];
      } finally {
        await close();
      }
    });
  }
}

async function* makeRefused(attacks: readonly Attack[], sandbox: SandboxAddresses): AsyncGenerator<Made> {
  for (const { name, file } of attacks) {
    yield await timed([name], () => refusalFaults(sandbox, [{ name, file, attacks: [name] }]));
  }
}

function options(): { parts: readonly Part[]; attacks: readonly Attack[]; together: number; out: string } | undefined {
  try {
    const { values } = parseArgs({ options: {
      parts: { type: 'string', default: PARTS.join(',') }, together: { type: 'string', default: '10' },
      only: { type: 'string' }, out: { type: 'string', default: resultsFile('hostile') }, help: { type: 'boolean' },
    } });
    if (values.help === true) {
      process.stdout.write(USAGE);
      return undefined;
    }
    const only = values.only?.split(',');
    const parts = values.parts.split(',').filter((part): part is Part => PARTS.some((known) => known === part));
    return {
      parts, together: Math.max(1, Number(values.together)), out: values.out,
      attacks: CATALOGUE.filter(({ name }) => only === undefined || only.includes(name)),
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

/** `node test/campaign/hostile.ts [--parts live,paper] [--together 1] [--only NAME,…] [--out FILE]` */
async function main(): Promise<void> {
  const chosen = options();
  if (chosen === undefined) return;
  const { parts, attacks, together, out } = chosen;
  const playground = createPlayground();
  let violations = 0;
  try {
    const sandbox = await startSandbox(playground, 26);
    const running = attacks.filter(({ refused }) => !refused);
    const groups = groupsOf(running, together);
    for (const part of parts) {
      const made = part === 'open' || part === 'box' ? makeBare(part, attacks)
        : part === 'refused' ? makeRefused(attacks.filter(({ refused }) => refused), sandbox)
          : makeInRuns(part, groups, sandbox);
      for await (const one of made) {
        violations += one.violations.length;
        addResult(out, {
          type: 'hostile', at: new Date().toISOString(), ...codeVersion('everything'), part,
          alone: part !== 'live' && part !== 'paper' ? true : together === 1, ...one,
        });
        const told = one.violations.map((what) => `  ${what}\n`).join('');
        process.stdout.write(`${part} ${one.attacks.join(', ').slice(0, 80)}: ${one.seconds.toFixed(1)} s\n${told}`);
      }
    }
  } finally {
    await playground.close();
  }
  packResults(out);
  process.stdout.write(`${violations} violations\n`);
  process.exitCode = violations === 0 ? 0 : 1;
}

if (import.meta.main) await main();
