import { describe, expect, it } from 'vitest';
import type {
  LookaheadProgress, LookaheadResult, StrategyVerdict, ThreadPool,
} from '../../../src/research/lookahead/lookahead.ts';
import { lookahead } from '../../../src/research/lookahead/lookahead.ts';
import type { PassAnswer, PassTask } from '../../../src/research/lookahead/pass.ts';
import type { Decision } from '../../../src/trading/step.ts';

const SPAN = { startAt: 0, endAt: 10_000, times: 3, seed: 1 } as const;

/** Which run this is: of its thread and of all, from 1 on. */
interface Turn {
  readonly inThread: number;
  readonly overall: number;
}

type Behaviour = (task: PassTask, turn: Turn) => string;

/** Threads in which a strategy says the same thing at 1,000, 5,000 and 9,000 ms. */
function poolOf(behave: Behaviour, accesses: readonly string[] = []): ThreadPool & { readonly tasks: PassTask[] } {
  const tasks: PassTask[] = [];
  return {
    tasks,
    acquire: () => {
      let inThread = 0;
      return Promise.resolve({
        isContaminated: false,
        run: (task): Promise<PassAnswer> => {
          tasks.push(task);
          inThread += 1;
          const message = behave(task, { inThread, overall: tasks.length });
          return Promise.resolve({
            decisions: message === '' ? [] : [1_000, 5_000, 9_000]
              .filter((at) => at < (task.perturbation?.from ?? Infinity)).map((at) => said(at, message)),
            accesses, globalChanges: [],
          });
        },
        close: () => Promise.resolve(),
      });
    },
    release: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function said(at: number, message: string): Decision {
  return {
    seq: at, at, strategy: 'own', proposal: { kind: 'alert', level: 'info', message }, verdict: 'approved', code: null,
  };
}

async function judged(behave: Behaviour, accesses?: readonly string[]): Promise<StrategyVerdict> {
  const { strategies: [verdict] } = await lookahead(['own'], poolOf(behave, accesses), SPAN);
  return verdict!;
}

const holds = (task: PassTask, factor: string): boolean => task.machineFactors?.some((one) => one === factor) === true;

describe('the cause of a changed decision', () => {
  it('is none when nothing changes, and the verdict counts passes and comparisons', async () => {
    expect(await judged(() => 'same'))
      .toMatchObject({ clean: true, firstLeak: undefined, decisions: 3, instants: 3, passes: 6 + 2 * 3 * 3 });
  });

  it('is state outside of modules when only later runs in a process differ', async () => {
    const { firstLeak } = await judged((_task, { inThread }) => (inThread === 1 ? 'first' : 'later'));
    expect(firstLeak).toMatchObject({ cause: 'repetition', process: 'same' });
    expect(firstLeak!.detail).toContain('keeps something outside of them');
  });

  it('is state in modules when only the process of the first run differs', async () => {
    const generations = new Set<number>();
    const { firstLeak } = await judged(({ generation }) => {
      const isKnown = generations.has(generation);
      generations.add(generation);
      return isKnown ? 'again' : 'once';
    });
    expect(firstLeak).toMatchObject({ process: 'same' });
    expect(firstLeak!.detail).toContain('it keeps something from that run');
  });

  it.each([
    'chance', 'clock', 'environment', 'locale',
  ])('is presumably %s when two runs agree only while it is controlled', async (factor) => {
    const { firstLeak } = await judged((task, { overall }) => (holds(task, factor) ? 'controlled' : `run ${overall}`));
    expect(firstLeak).toMatchObject({ cause: factor, process: 'fresh' });
    expect(firstLeak!.detail).toMatch(/^two runs over the same rows, .* they agree, so presumably/);
  });

  it('is unknown when two factors together change the decision', async () => {
    const { firstLeak } = await judged((task, { overall }) =>
      (holds(task, 'chance') && holds(task, 'clock') ? 'controlled' : `run ${overall}`));
    expect(firstLeak).toMatchObject({ cause: 'elsewhere' });
    expect(firstLeak!.detail).toContain('the cause is unknown');
  });

  it('is unknown when the difference is rare', async () => {
    for (const odd of [2, 5]) {
      const { firstLeak } = await judged((_task, { overall }) => (overall === odd ? 'otherwise' : 'same'));
      expect(firstLeak!.detail, `in run ${odd}`).toMatch(/is unknown|only once/);
      expect(firstLeak!.cause).not.toBe('chance');
    }
  });

  it('is presumably a file when the very first run differs from all later ones', async () => {
    const { firstLeak } = await judged((_task, { overall }) => (overall === 1 ? 'first' : 'later'), ['notes.json']);
    expect(firstLeak).toMatchObject({ cause: 'disk' });
    expect(firstLeak!.detail).toMatch(/presumably it keeps something in files.*notes\.json/);
  });

  it('is found when each process keeps the future that it read first', async () => {
    let keepsRecorded = true;
    const { clean } = await judged(({ perturbation }, { inThread }) => {
      if (inThread === 1) keepsRecorded = perturbation === undefined;
      return keepsRecorded ? 'the future is true' : 'the future is noise';
    }, ['manifest.json']);
    expect(clean).toBe(false);
  });

  it.each([
    'truncation', 'reversal',
  ])('is found when each process keeps the future that it read first and only %s shows it', async (kind) => {
    let kept: string | undefined;
    const { clean } = await judged(({ perturbation }, { inThread }) => {
      if (inThread === 1) kept = perturbation?.kind;
      return kept === kind ? 'something else' : 'the true end';
    }, ['manifest.json']);
    expect(clean).toBe(false);
  });

  it('is the future when only the future changes the decision, each time', async () => {
    const { firstLeak } = await judged(({ perturbation }) =>
      (perturbation?.kind === 'noise' ? 'the future is noise' : 'the future is true'));
    expect(firstLeak).toMatchObject({ cause: 'noise', process: 'fresh' });
  });

  it('is one property of the machine, or several at once', async () => {
    expect((await judged((task) => (holds(task, 'locale') ? 'there' : 'here'))).firstLeak)
      .toMatchObject({ cause: 'locale', detail: expect.stringContaining('time zone') as string });
    expect((await judged((task) => (holds(task, 'locale') && holds(task, 'clock') ? 'there' : 'here'))).firstLeak)
      .toMatchObject({ cause: 'elsewhere', detail: expect.stringContaining('several properties') as string });
  });
});

describe('the passes', () => {
  it('end soon after their perturbation begins, except for the last one in the used process', async () => {
    const pool = poolOf(() => 'same');
    await lookahead(['own'], pool, SPAN);
    const whole = pool.tasks.filter((task) => task.isWholeFuture === true);
    expect(whole).toMatchObject([{ perturbation: {
      kind: 'noise', from: Math.min(...pool.tasks.flatMap(({ perturbation }) => perturbation?.from ?? [])),
    } }]);
    // Each thread runs the same kinds at the same instants.
    const kinds = pool.tasks.flatMap(({ perturbation }) =>
      (perturbation === undefined ? [] : [`${perturbation.kind} ${perturbation.from}`])).sort();
    expect(kinds).toEqual([...new Set(kinds)].flatMap((kind) => [kind, kind]));
  });

  it('perturb the disk only for a strategy that accesses it, and only in fresh processes', async () => {
    const pool = poolOf(() => 'same', ['closes.csv']);
    await lookahead(['own'], pool, SPAN);
    const [reference] = pool.tasks;
    // Nine in the fresh process, and one kind each in two new ones.
    expect(pool.tasks.filter(({ onDisk }) => onDisk === true)).toHaveLength(9 + 2);
    expect(pool.tasks.some(({ onDisk, generation }) => onDisk === true && generation === reference!.generation))
      .toBe(false);
  });

  it('report their progress, up to all work done', async () => {
    const told: LookaheadProgress[] = [];
    const result: LookaheadResult = await lookahead(['a', 'b'], poolOf(() => 'same'), {
      ...SPAN, onProgress: (progress) => { told.push(progress); },
    });
    expect(told.every(({ done }, i) => i === 0 || done >= told[i - 1]!.done)).toBe(true);
    expect(told.every(({ done, all }) => done <= all + 1e-9)).toBe(true);
    expect(told.at(-1)!.done).toBeCloseTo(told.at(-1)!.all, 9);
    expect(result.strategies.map(({ passes }) => passes)).toEqual([25, 25]);
  });
});
