import { InvalidArgumentError } from 'commander';
import type { ObjectiveName } from '../../backtest/objectives.ts';
import { isObjectiveName, OBJECTIVES } from '../../backtest/objectives.ts';
import { isGannetError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import type { Millis } from '../../core/time.ts';
import { parseDuration } from '../../core/time.ts';

/** The names of all objectives, for help. */
export const OBJECTIVE_NAMES = Object.keys(OBJECTIVES).join(', ');

/** Reads the name of an objective. Throws InvalidArgumentError. */
export function objectiveName(text: string): ObjectiveName {
  if (isObjectiveName(text)) return text;
  const close = nearest(text, Object.keys(OBJECTIVES));
  throw new InvalidArgumentError(`Expected one of ${OBJECTIVE_NAMES}${close === undefined ? '' : ` (did you mean ${close}?)`}.`);
}

/** Returns what reads a whole number from 1 on. It throws InvalidArgumentError. */
export function wholeNumberTo(most: number): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,14}$/.test(text) || Number(text) > most) throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
    return Number(text);
  };
}

/** Reads a number of threads. Throws InvalidArgumentError. */
export const workerCount = wholeNumberTo(999);

/** Reads a duration. Throws InvalidArgumentError. */
export function durationFlag(text: string): Millis {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(isGannetError(error) ? `${error.message}.` : 'expected a duration such as "10s".');
  }
}
