import { filter, take, timer } from 'rxjs';
import type { Subscription } from 'rxjs';
import { systemClock } from '../daemon/system-clock.ts';
import type { World } from '../daemon/world.ts';
import type { Terminal } from './terminal.ts';

const PATIENCE_MS = 1_500;
const LOOK_EVERY_MS = 500;

/** Tells a person, once, that it is the rate of the plan that keeps a command waiting. A script is told nothing. */
export function noticeWaiting({ service }: Pick<World, 'service'>, terminal: Pick<Terminal, 'err'>): Subscription | undefined {
  if (!process.stderr.isTTY) return undefined;
  return timer(PATIENCE_MS, LOOK_EVERY_MS, systemClock)
    .pipe(filter(() => service.stats().main.queued > 0), take(1))
    .subscribe(() => { terminal.err('waiting for the rate of the plan to leave room …\n'); });
}
