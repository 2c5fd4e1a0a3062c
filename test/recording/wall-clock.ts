import { asyncScheduler } from 'rxjs';
import type { Clock } from '../../src/core/time.ts';

/** The real clock, for processes of their own. */
export const wallClock: Clock = asyncScheduler;
