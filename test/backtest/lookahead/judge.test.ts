import { describe, expect, it } from 'vitest';
import type { LookaheadResult, StrategyVerdict, ThreadPool } from '../../../src/backtest/lookahead.ts';
import { lookahead } from '../../../src/backtest/lookahead.ts';
import type { PassAnswer, PassTask } from '../../../src/backtest/lookahead/pass.ts';
import type { LookaheadProgress } from '../../../src/backtest/lookahead/workload.ts';
import type { Decision } from '../../../src/trading/step.ts';

const SPAN = { startAt: 0, endAt: 10_000, times: 3, seed: 1 } as const;

/** Which run this is: of its thread and of all, from 1 on. */
interface Turn {
  readonly inThread: number;
  readonly overall: number;
}

type Behaviour = (task: PassTask, turn: Turn) => string;

/** Threads in which a strategy says the same thing at 1,000, 5,000 and 9,000 ms. */
function poolOf(behave: Behaviour, reaches: readonly string[] = []): ThreadPool & { readonly tasks: PassTask[] } {
  const tasks: PassTask[] = [];
  return {
    tasks,
    lend: () => {
      let inThread = 0;
      return Promise.resolve({
        isSpoiled: false,
        run: (task): Promise<PassAnswer> => {
          tasks.push(task);
          inThread += 1;
          const message = behave(task, { inThread, overall: tasks.length });
          return Promise.resolve({ decisions: message === '' ? [] : [1_000, 5_000, 9_000].filter((at) => at < (task.poison?.from ?? Infinity)).map((at) => said(at, message)), reaches, traces: [] });
        },
        close: () => Promise.resolve(),
      });
    },
    takeBack: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function said(at: number, message: string): Decision {
  return { seq: at, at, strategy: 'own', proposal: { kind: 'alert', level: 'info', message }, verdict: 'approved', code: null };
}

async function judged(behave: Behaviour, reaches?: readonly string[]): Promise<StrategyVerdict> {
  const { strategies: [verdict] } = await lookahead(['own'], poolOf(behave, reaches), SPAN);
  return verdict!;
}

const holds = (task: PassTask, world: string): boolean => task.worlds?.some((one) => one === world) === true;

describe('the cause of what moved', () => {
  it('is none where nothing moves, and it is told how much was held against what', async () => {
    expect(await judged(() => 'same')).toMatchObject({ clean: true, firstLeak: undefined, decisions: 3, instants: 3, passes: 4 + 2 * 3 * 3 });
  });

  it('is what a process keeps outside of modules, where a later run in it differs and a first one in another does not', async () => {
    const { firstLeak } = await judged((_task, { inThread }) => (inThread === 1 ? 'first' : 'later'));
    expect(firstLeak).toMatchObject({ poison: 'repetition', process: 'same' });
    expect(firstLeak!.detail).toContain('keeps something outside of them');
  });

  it('is what modules keep, where only the process of the first run differs', async () => {
    const generations = new Set<number>();
    const { firstLeak } = await judged(({ generation }) => {
      const isKnown = generations.has(generation);
      generations.add(generation);
      return isKnown ? 'again' : 'once';
    });
    expect(firstLeak).toMatchObject({ process: 'same' });
    expect(firstLeak!.detail).toContain('something of that run is kept');
  });

  it.each(['chance', 'clock', 'environment', 'locale'])('is presumably %s, where two runs agree once it is held fast, and else do not', async (world) => {
    const { firstLeak } = await judged((task, { overall }) => (holds(task, world) ? 'held' : `run ${overall}`));
    expect(firstLeak).toMatchObject({ poison: world, process: 'fresh' });
    expect(firstLeak!.detail).toMatch(/^two runs over the same rows, .* they agree, so presumably/);
  });

  it('is not known where two things at once move it', async () => {
    const { firstLeak } = await judged((task, { overall }) => (holds(task, 'chance') && holds(task, 'clock') ? 'held' : `run ${overall}`));
    expect(firstLeak).toMatchObject({ poison: 'elsewhere' });
    expect(firstLeak!.detail).toContain('why is not known');
  });

  it('is not known where it is seldom', async () => {
    for (const seldom of [2, 5]) {
      const { firstLeak } = await judged((_task, { overall }) => (overall === seldom ? 'otherwise' : 'same'));
      expect(firstLeak!.detail, `in run ${seldom}`).toMatch(/not known|not again/);
      expect(firstLeak!.poison).not.toBe('chance');
    }
  });

  it('is presumably a file where the first run of all differs from every later one', async () => {
    const { firstLeak } = await judged((_task, { overall }) => (overall === 1 ? 'first' : 'later'), ['notes.json']);
    expect(firstLeak).toMatchObject({ poison: 'disk' });
    expect(firstLeak!.detail).toMatch(/presumably it keeps something in files.*notes\.json/);
  });

  it('is found where each process keeps what it read first of the future: the other one reads a spoiled one first', async () => {
    let isKeptTrue = true;
    const { clean } = await judged(({ poison }, { inThread }) => {
      if (inThread === 1) isKeptTrue = poison === undefined;
      return isKeptTrue ? 'the future is true' : 'the future is noise';
    }, ['manifest.json']);
    expect(clean).toBe(false);
  });

  it.each(['truncation', 'reversal'])('is found where each process keeps what it read first of the future, and only %s shows it', async (kind) => {
    let kept: string | undefined;
    const { clean } = await judged(({ poison }, { inThread }) => {
      if (inThread === 1) kept = poison?.kind;
      return kept === kind ? 'something else' : 'the true end';
    }, ['manifest.json']);
    expect(clean).toBe(false);
  });

  it('is the future, where that alone moves it each time', async () => {
    const { firstLeak } = await judged(({ poison }) => (poison?.kind === 'noise' ? 'the future is noise' : 'the future is true'));
    expect(firstLeak).toMatchObject({ poison: 'noise', process: 'fresh' });
  });

  it('is one thing of the machine, or several at once', async () => {
    expect((await judged((task) => (holds(task, 'locale') ? 'there' : 'here'))).firstLeak).toMatchObject({ poison: 'locale', detail: expect.stringContaining('time zone') as string });
    expect((await judged((task) => (holds(task, 'locale') && holds(task, 'clock') ? 'there' : 'here'))).firstLeak).toMatchObject({ poison: 'elsewhere', detail: expect.stringContaining('several things') as string });
  });
});

describe('the passes', () => {
  it('end soon after their future has begun, but for the last one in the process that saw the truth', async () => {
    const pool = poolOf(() => 'same');
    await lookahead(['own'], pool, SPAN);
    const whole = pool.tasks.filter((task) => task.whole === true);
    expect(whole).toMatchObject([{ poison: { kind: 'noise', from: Math.min(...pool.tasks.flatMap(({ poison }) => poison?.from ?? [])) } }]);
    // Each thread has had the same kinds at the same instants.
    const kinds = pool.tasks.flatMap(({ poison }) => (poison === undefined ? [] : [`${poison.kind} ${poison.from}`])).sort();
    expect(kinds).toEqual([...new Set(kinds)].flatMap((kind) => [kind, kind]));
  });

  it('spoil the disk only where a strategy reaches for it, and in processes that never saw the truth', async () => {
    const pool = poolOf(() => 'same', ['closes.csv']);
    await lookahead(['own'], pool, SPAN);
    const [reference] = pool.tasks;
    // Nine in that one, and a kind each in two that saw nothing else.
    expect(pool.tasks.filter(({ onDisk }) => onDisk === true)).toHaveLength(9 + 2);
    expect(pool.tasks.some(({ onDisk, generation }) => onDisk === true && generation === reference!.generation)).toBe(false);
  });

  it('are told as they go by, and all of them are done in the end', async () => {
    const told: LookaheadProgress[] = [];
    const result: LookaheadResult = await lookahead(['a', 'b'], poolOf(() => 'same'), { ...SPAN, onProgress: (progress) => { told.push(progress); } });
    expect(told.every(({ done }, i) => i === 0 || done >= told[i - 1]!.done)).toBe(true);
    expect(told.every(({ done, all }) => done <= all + 1e-9)).toBe(true);
    expect(told.at(-1)!.done).toBeCloseTo(told.at(-1)!.all, 9);
    expect(result.strategies.map(({ passes }) => passes)).toEqual([23, 23]);
  });
});
