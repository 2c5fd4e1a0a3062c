import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playground } from '../e2e/gannet.ts';
import { createPlayground } from '../e2e/gannet.ts';
import type { BareRun } from './bare-run.ts';
import { furnish, hasWorked, runBare, runInBox } from './bare-run.ts';
import type { Attack } from './catalogue.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Targets } from './targets.ts';
import { createTargets } from './targets.ts';

// An attack that fails proves something only where it can succeed. These are made where nothing stops them, and in a
// box alone, without what the process of a strategy removes from itself.

const FILES = new Set(['key', 'network', 'loading']);
const SILENT = ['journal-opened'];
const mild: readonly Attack[] = CATALOGUE.filter(({ name, file, alone, refused, evidence }) =>
  FILES.has(file) && !alone && !refused && evidence !== 'none' && !SILENT.includes(name));
const skipped = CATALOGUE.filter(({ name }) => name === 'rules-skipped');
const disturbing = CATALOGUE.filter(({ name }) => name === 'swap-of-a-neighbour');

interface Stage {
  readonly playground: Playground;
  readonly targets: Targets;
}

const stages: Stage[] = [];
async function stage(): Promise<Stage> {
  const playground = createPlayground();
  const stateDir = playground.path('state');
  furnish(playground, stateDir);
  const targets = await createTargets(playground, { stateDir, attacks: mild.map(({ name }) => name) });
  const made = { playground, targets };
  stages.push(made);
  return made;
}

let [bare, boxed, risk, neighbour]: (BareRun | undefined)[] = [];
let boxedTargets: Targets;
beforeAll(async () => {
  const [open, closed, ruled, shared] = await Promise.all([stage(), stage(), stage(), stage()]);
  boxedTargets = closed.targets;
  [bare, boxed, risk, neighbour] = await Promise.all([
    runBare('together', mild, open.targets), runInBox('together', mild, closed.targets),
    runBare('prototypes', skipped, ruled.targets), runBare('prototypes', disturbing, shared.targets),
  ]);
});
afterAll(async () => {
  for (const { playground, targets } of stages) {
    await targets.close();
    await playground.close();
  }
});

describe('an attack on key, files, network and modules', () => {
  it('works in a process without a box', () => {
    expect(mild.length).toBeGreaterThan(50);
    expect(mild.filter((attack) => !hasWorked(attack, bare!)).map(({ name }) => name)).toEqual([]);
  });

  it('gains nothing in the box alone', () => {
    const { answer, arrivals, marks } = boxed!;
    expect(answer!.alerts.filter((text) => text.startsWith('tried '))).toHaveLength(mild.length);
    expect(answer!.alerts.filter((text) => text.startsWith('worked '))).toEqual([]);
    expect([...arrivals, ...marks, ...boxedTargets.damage()]).toEqual([]);
  });
});

it('a strategy in the engine’s process can switch off every limit of risk, and change the swap of another', () => {
  expect(hasWorked(skipped[0]!, risk!)).toBe(true);
  expect(hasWorked(disturbing[0]!, neighbour!)).toBe(true);
});
