import { InvalidArgumentError } from 'commander';
import { isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { parseDuration } from '../../core/time.ts';

/** Returns the reader of a flag that takes a whole number. The reader throws InvalidArgumentError. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };
}

/** Reads a duration. Throws InvalidArgumentError. */
export function durationFlag(text: string): Millis {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(isGannetError(error) ? `${error.message}.` : 'expected a duration such as "10s".');
  }
}
