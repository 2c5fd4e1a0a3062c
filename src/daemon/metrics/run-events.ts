import type { Millis } from '../../core/time.ts';
import { isTerminal } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { IntentRecord } from '../reporting/counters.ts';
import type { Reporter, Stamp } from '../reporting/reporter.ts';
import { Distribution } from './distribution.ts';

/** Seconds, from the fastest landing to a transaction that is about to expire, and its proof. */
const LANDING_BOUNDS = [0.5, 1, 1.5, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300];
const SLIPPAGE_BOUNDS = [-50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50, 100, 200];
const FILL_ERROR_BOUNDS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500];

/** How many codes of alerts are counted by themselves: for the run, and for alerts that a strategy may have made up. */
const CODES_MAX = { run: 64, strategy: 16 } as const;
const CODE = /^[A-Z][A-Z0-9_]{1,47}$/;
const NO_CODE = 'none';
const OTHER_CODE = 'other';

/** An alert as it is counted. */
interface AlertCount {
  readonly level: AlertProposal['level'];
  readonly code: string;
  count: number;
}

/** Counts those events of a run that its state does not keep: alerts, and how swaps have landed. */
export class RunEvents {
  readonly landing = new Distribution(LANDING_BOUNDS);
  readonly landingAfterSubmission = new Distribution(LANDING_BOUNDS);
  readonly slippage = new Distribution(SLIPPAGE_BOUNDS);
  readonly fillError = new Distribution(FILL_ERROR_BOUNDS);
  lastDecisionAt: Millis | undefined;
  lastLandedAt: Millis | undefined;
  /** Whether files of the state are gone, so that the run ends. */
  isStateLost = false;
  /** Each level has a count from the start, so that a rule sees the first alert. */
  readonly #alerts = new Map<string, AlertCount>((['info', 'warning', 'critical'] as const).map((level) =>
    [`${level} ${NO_CODE}`, { level, code: NO_CODE, count: 0 }]));
  readonly #codes: Record<keyof typeof CODES_MAX, Set<string>> = { run: new Set(), strategy: new Set() };
  /** When the first attempt of an open intent was sent. */
  readonly #submittedAt = new Map<string, Millis>();

  get alerts(): AlertCount[] {
    return [...this.#alerts.values()];
  }

  readonly reporter: Reporter = {
    started: () => undefined, feed: () => undefined, state: () => undefined, trading: () => undefined,
    protection: () => undefined, summary: () => undefined,
    decided: ({ at }) => { this.lastDecisionAt = at; },
    denied: ({ at }) => { this.lastDecisionAt = at; },
    intent: (stamp, record) => { this.#intent(stamp, record); },
    alert: (_stamp, strategy, { level, data }) => {
      const code = data?.['code'];
      if (strategy === undefined && code === 'STATE_LOST') this.isStateLost = true;
      this.#count(level, this.#codeOf(strategy === undefined ? 'run' : 'strategy', code));
    },
  };

  #count(level: AlertProposal['level'], code: string): void {
    const key = `${level} ${code}`;
    const known = this.#alerts.get(key);
    if (known === undefined) this.#alerts.set(key, { level, code, count: 1 });
    else known.count += 1;
  }

  /** A strategy chooses the codes of its own alerts, so their number is bounded. */
  #codeOf(origin: keyof typeof CODES_MAX, code: unknown): string {
    if (typeof code !== 'string') return NO_CODE;
    const known = this.#codes[origin];
    if (!known.has(code) && (known.size >= CODES_MAX[origin] || !CODE.test(code))) return OTHER_CODE;
    known.add(code);
    return code;
  }

  #intent({ at }: Stamp, { intent, state, fill, quotedOut }: IntentRecord): void {
    if (state === 'submitted' && !this.#submittedAt.has(intent.id)) this.#submittedAt.set(intent.id, at);
    if (!isTerminal(state)) return;
    const submittedAt = this.#submittedAt.get(intent.id);
    this.#submittedAt.delete(intent.id);
    if (state !== 'confirmed') return;
    this.lastLandedAt = at;
    this.landing.observe((at - intent.createdAt) / 1_000);
    if (submittedAt !== undefined) this.landingAfterSubmission.observe((at - submittedAt) / 1_000);
    if (fill === undefined || quotedOut === undefined || quotedOut <= 0n) return;
    const shortfallBps = Number(((quotedOut - fill.amountOut) * 1_000_000n) / quotedOut) / 100;
    this.slippage.observe(shortfallBps);
    this.fillError.observe(Math.abs(shortfallBps));
  }
}
