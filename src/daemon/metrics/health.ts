import type { Clock, Millis } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import { originOfKey } from '../../market/feed.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { AccessState } from '../control/session-state.ts';

/** Why a process must be started again: nothing else heals it. */
export const SICK_REASONS = ['INBOX_STALLED', 'SIGNER_LOST', 'STATE_LOST'] as const;
export type SickReason = (typeof SICK_REASONS)[number];

/** Why a run does not do its whole work now; most of these pass by themselves, and no restart helps. */
export const WAIT_REASONS = [
  'STARTING', 'RECOVERING', 'DRAINING', 'SAFE_MODE', 'FEEDS_NOT_READ', 'FEEDS_UNHEALTHY', 'SERVICE_SILENT',
  'SERVICE_REFUSED', 'SERVICE_FORBIDDEN',
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** The health of a session. */
export interface RunHealth {
  /** Returns whether inputs or timers wait although the loop turns. */
  isStalled(): boolean;
  /** Returns what the run waits for, each reason with a text that tells nothing about what is traded. */
  waits(): readonly { readonly reason: WaitReason; readonly text: string }[];
}

/** The parts of a session that its health is read from. */
interface HealthView {
  readonly clock: Clock;
  readonly state: Pick<EngineState, 'trading' | 'tradingBy'>;
  readonly engine: { readonly clock: Pick<Engine['clock'], 'now' | 'nextAt'> };
  readonly phase: () => string;
  readonly feeds: () => readonly FeedStats[];
  readonly runRecorder: { readonly access: AccessState };
}

/** Longer than a warm-up at a reload holds events back, and than a busy machine delays a timer. */
const STALLED_MS: Millis = 120_000;

const ACCESS = {
  refused: { reason: 'SERVICE_REFUSED', text: 'the service refuses the API key' },
  forbidden: { reason: 'SERVICE_FORBIDDEN', text: 'the service refuses your region, address or key' },
  silent: { reason: 'SERVICE_SILENT', text: 'the service does not answer' },
} as const;

/** Returns the health of a session. It only reads. */
export function healthOf({ clock, state, engine, phase, feeds, runRecorder }: HealthView): RunHealth {
  return {
    isStalled: () => {
      // Before and after trading, the engine has no timers, and feeds are not read.
      if (phase() !== 'trading') return false;
      const at = engine.clock.now();
      const due = engine.clock.nextAt();
      if (due !== Infinity && clock.now() - Math.max(due, at) > STALLED_MS) return true;
      return feeds().some(({ lastAnswerAt = 0 }) => lastAnswerAt - at > STALLED_MS);
    },
    waits: () => {
      const polled = feeds().filter(({ feed }) => originOfKey(feed) !== 'webhook');
      const unhealthy = polled.filter(({ status }) => status !== 'healthy').length;
      const unread = polled.filter(({ status, answers }) => status === 'healthy' && answers === 0).length;
      const { access } = runRecorder;
      return [
        ...phaseWait(phase()),
        ...(state.trading === 'halted' && state.tradingBy === 'safe-mode'
          ? [{ reason: 'SAFE_MODE', text: 'the run is in safe mode after repeated crashes' } as const] : []),
        ...feedWait('FEEDS_NOT_READ', unread, polled.length, 'were not read yet'),
        ...feedWait('FEEDS_UNHEALTHY', unhealthy, polled.length, 'are not healthy'),
        ...(access.state === 'granted' ? [] : [ACCESS[access.state]]),
      ];
    },
  };
}

function phaseWait(phase: string): ReturnType<RunHealth['waits']> {
  switch (phase) {
    case 'trading': return [];
    case 'recovering': return [{ reason: 'RECOVERING', text: 'the run is recovering' }];
    case 'starting': return [{ reason: 'STARTING', text: 'the run is starting' }];
    default: return [{ reason: 'DRAINING', text: 'the run is ending' }];
  }
}

function feedWait(reason: WaitReason, count: number, total: number, what: string): ReturnType<RunHealth['waits']> {
  return count === 0 ? [] : [{ reason, text: `${count} of ${total} feeds ${what}` }];
}
