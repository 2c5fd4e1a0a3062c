import { setTimeout as sleep } from 'node:timers/promises';
import type { WireHooks } from '../../crash/wire.ts';
import type { Asked, Lie } from './lie-kinds.ts';

/** Stands between the daemon and the node, and lies as long as it has a plan. */
export interface Liar {
  /** Answers that were not the node's, so far. */
  readonly answers: () => number;
  readonly lie: (plan: readonly Lie[]) => void;
  readonly tellTheTruth: () => void;
  readonly onAnswer: NonNullable<WireHooks['onAnswer']>;
}

/** Returns a liar in a fixture whose time runs faster by a factor. */
export function createLiar(timeFactor: number): Liar {
  let plan: readonly { readonly lie: Lie; readonly memory: Map<string, unknown> }[] = [];
  let answers = 0;
  return {
    answers: () => answers,
    lie: (lies) => { plan = lies.map((lie) => ({ lie, memory: new Map() })); },
    tellTheTruth: () => { plan = []; },
    async onAnswer(request, body, answer) {
      const lies = plan.filter(({ lie }) => lie.methods.includes(request));
      if (lies.length === 0) return answer;
      const text = answer.toString('utf8');
      const { result, ...rest } = JSON.parse(text) as { readonly result?: unknown };
      const asked = JSON.parse(body.toString('utf8')) as Asked;
      const told = result === undefined ? undefined
        : lies.reduce<unknown>((value, { lie, memory }) => lie.falsify(value, asked, memory), result);
      const lateMs = Math.max(0, ...lies.map(({ lie }) => lie.lateMs ?? 0));
      if (lateMs > 0) await sleep(lateMs / timeFactor);
      const changed = told === undefined ? text : JSON.stringify({ ...rest, result: told });
      if (lateMs > 0 || changed !== text) answers += 1;
      return Buffer.from(changed);
    },
  };
}
