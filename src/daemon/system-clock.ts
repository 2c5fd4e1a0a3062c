import { asyncScheduler } from 'rxjs';
import type { Clock } from '../core/time.ts';

/** The wall clock and the process's timers. Only the daemon and the commands hand it out. */
export const systemClock: Clock = asyncScheduler;
