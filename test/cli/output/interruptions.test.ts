import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { interruptions } from '../../../src/cli/output/process-output.ts';

const SIGNAL = 'SIGUSR2';

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => {
  vi.useRealTimers();
  process.removeAllListeners(SIGNAL);
});

function interruptible(): { readonly signal: AbortSignal; readonly exits: number[] } {
  const exits: number[] = [];
  const output = { ended: new AbortController().signal, isClosed: () => false, fault: () => undefined };
  return { signal: interruptions(output, (code) => { exits.push(code); }, [SIGNAL]), exits };
}

describe('an interrupt', () => {
  it('asks for an end, which a repeated one within a second does not change, and a later one brings at once', () => {
    const { signal, exits } = interruptible();
    process.emit(SIGNAL);
    vi.advanceTimersByTime(900);
    process.emit(SIGNAL);
    expect([signal.aborted, exits]).toEqual([true, []]);
    vi.advanceTimersByTime(200);
    process.emit(SIGNAL);
    expect(exits).toEqual([130]);
  });

  it('ends a command that does not end, after the longest drain', () => {
    const { exits } = interruptible();
    process.emit(SIGNAL);
    vi.advanceTimersByTime(44_999);
    expect(exits).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(exits).toEqual([130]);
  });
});
