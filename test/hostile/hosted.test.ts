import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { createPlayground, startSandbox } from '../e2e/gannet.ts';
import { CATALOGUE } from './catalogue.ts';
import type { HostileInstance, Stage } from './hosted-run.ts';
import { refusalFaults, stageRun } from './hosted-run.ts';
import { disturbed, gainsOf, silenceOf, unruled } from './verdicts.ts';

// The short form: every attack that leaves its process able to go on, in one live and one paper run, and a choice of
// those that end it. The long one, every attack in every mode: `npm run campaign:hostile`.

const ATTACKS = new Map(CATALOGUE.map((attack) => [attack.name, attack]));
/** One for each way in which a process ends: time, memory, promises, an exception, an exit, an answer, a proposal. */
const ENDING = {
  live: [
    'spin', 'memory-of-buffers', 'promise-rejected', 'answer-of-a-neighbour', 'rules-skipped', 'swap-of-a-neighbour',
  ],
  paper: ['heap', 'answer-of-another-form', 'getter-throws'],
} as const;
const EARLY = ['exit-at-import', 'reject-at-import', 'issues-without-end', 'input-of-an-unknown-kind'];
/** Their decisions depend on what no run can repeat. */
const UNREPEATABLE = 'recording and replay';

function instancesOf(mode: 'live' | 'paper'): HostileInstance[] {
  const together = CATALOGUE.filter(({ alone, refused, asset }) =>
    !alone && !refused && (mode === 'paper' || asset !== UNREPEATABLE)).map(({ name }) => name);
  return [
    { name: 'culprit-together', file: 'together', attacks: together },
    ...ENDING[mode].map((name, at) => ({ name: `culprit-${at}`, file: ATTACKS.get(name)!.file, attacks: [name] })),
  ];
}

const sandboxes = createPlayground();
const stages = new Map<'live' | 'paper', Stage>();
let sandbox: SandboxAddresses;

beforeAll(async () => {
  sandbox = await startSandbox(sandboxes, 26);
  await Promise.all((['live', 'paper'] as const).map(async (mode) => {
    stages.set(mode, await stageRun(sandbox, mode, instancesOf(mode)));
  }));
});
afterAll(async () => {
  for (const { close } of stages.values()) await close();
  await sandboxes.close();
});

it('the catalogue has at least 60 attacks, each under a name of its own', () => {
  expect(ATTACKS.size).toBe(CATALOGUE.length);
  expect(CATALOGUE.length).toBeGreaterThanOrEqual(60);
});

it('strategies that act before a run begins, or declare what they may not, are refused, each by name', async () => {
  const early = CATALOGUE.filter(({ name }) => EARLY.includes(name));
  expect(await refusalFaults(sandbox, early.map(({ name, file }) => ({ name, file, attacks: [name] })))).toEqual([]);
});

describe.each(['live', 'paper'] as const)('a %s run with hostile strategies', (mode) => {
  const at = (): Stage => stages.get(mode)!;

  it('loses no secret, file, process or order to them, not even to its replay, and ends in order', () => {
    expect(gainsOf(at())).toEqual([]);
  });

  it('makes all their attacks, and names those that it stopped with the reason', () => {
    const { run, instances } = at();
    expect(silenceOf({ run, instances, attacks: ATTACKS })).toEqual([]);
  });

  it('approves and signs nothing of theirs, and nothing that no ruling explains', async () => {
    expect(await unruled(at(), sandbox)).toEqual([]);
  });

  it('lets the neighbours decide as they do without them', async () => {
    expect(await disturbed(at().run)).toEqual([]);
  });
});

it('a live run names file and line of a strategy that it stopped in the middle of a call', () => {
  expect(stages.get('live')!.run.stopped.get('culprit-0'))
    .toMatchObject({ code: 'STRATEGY_TIMEOUT', place: expect.stringMatching(/^spin\.ts:13:\d+$/) });
});
