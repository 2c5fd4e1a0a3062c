import { GannetError, messageOf } from '../core/errors.ts';
import { parseDuration } from '../core/time.ts';
import { GENESIS_TOKENS } from './genesis.ts';
import { parsePrice } from './service/control/sandbox-control.ts';
import { parseFaultRule } from './service/faults/fault-rule.ts';
import { MOST_RULES, type FaultRule } from './service/faults/faults.ts';

/** One step of a scenario file: when, and the body of `POST /sandbox/faults` or of `POST /sandbox/price`. */
export interface ScenarioStep {
  /** Once, this long after the start: "30s". */
  readonly at?: string;
  /** Repeatedly, with this period: "1m". */
  readonly every?: string;
  readonly match?: { readonly method?: string; readonly path: string };
  readonly fault?: { readonly kind: string; readonly [key: string]: unknown };
  readonly times?: number;
  readonly probability?: number;
  readonly mint?: string;
  readonly usd?: number;
}

type ScenarioAction =
  | { readonly kind: 'fault'; readonly rule: FaultRule }
  | { readonly kind: 'price'; readonly mint: string; readonly usd: number };

/** A scenario that runs by slots. */
interface Scenario {
  /**
   * Performs the steps that are due in the slots after `from` up to `to`, counted from the start, in the order of time.
   */
  run(span: { readonly from: number; readonly to: number }): void;
}

interface TimedAction {
  readonly slots: number;
  readonly repeats: boolean;
  readonly action: ScenarioAction;
}

/** Returns a scenario that calls `perform` for each step when it is due. Throws CONFIG_INVALID, naming the step. */
export function createScenario(
  options: { steps: readonly ScenarioStep[]; slotMs: number; perform: (action: ScenarioAction) => void },
): Scenario {
  const actions = options.steps.map((step, index) => parseStep(step, { index, slotMs: options.slotMs }));
  return {
    run({ from, to }) {
      const due = actions.map(({ slots, repeats, action }) => {
        const times = repeats ? Math.floor(to / slots) - Math.floor(from / slots) : Number(from < slots && slots <= to);
        // A leap may be long, and every repetition is the same.
        return { action, times: Math.min(times, action.kind === 'price' ? 1 : MOST_RULES), last: repeats
          ? to - (to % slots) : slots };
      });
      for (const { action, times } of due.sort((a, b) => a.last - b.last)) {
        for (let i = 0; i < times; i++) options.perform(action);
      }
    },
  };
}

function parseStep(step: ScenarioStep, { index, slotMs }: { index: number; slotMs: number }): TimedAction {
  try {
    const { at, every, ...body } = step;
    if ((at === undefined) === (every === undefined)) throw new RangeError('expected one of "at" and "every"');
    const slots = Math.max(1, Math.round(parseDuration(String(at ?? every)) / slotMs));
    const action: ScenarioAction = 'fault' in body
      ? { kind: 'fault', rule: parseFaultRule(body) }
      : { kind: 'price', ...parsePrice({ tokens: GENESIS_TOKENS }, body) };
    return { slots, repeats: at === undefined, action };
  } catch (cause) {
    throw new GannetError(
      'CONFIG_INVALID', `scenario step ${index + 1}: ${messageOf(cause)}`, { cause, details: { step: index + 1 } },
    );
  }
}
