import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startBoxedProcess } from '../../../src/research/box/boxed-process.ts';
import type { BoxEnd } from '../../../src/research/box/supervise.ts';
import { stopText, superviseBox } from '../../../src/research/box/supervise.ts';
import { PROJECT } from '../../e2e/gannet.ts';

const LIMIT_MS = 900;
const LINE = expect.stringMatching(/^watched-acts\.ts:\d+:\d+$/) as string;

interface Streams {
  readonly out?: Writable;
  readonly err?: Writable;
}

function start(
  act: string, { out = new PassThrough(), err = new PassThrough(), ...watch }: Streams & Idleness = {},
): Promise<BoxEnd> {
  const child = startBoxedProcess({
    entry: join(import.meta.dirname, 'watched-acts.ts'), readable: [join(PROJECT, 'test')], writable: [], pipes: 0,
    variables: { ACT: act },
  });
  return superviseBox(child, { out, err, limitMs: LIMIT_MS, ...watch }).ended;
}

interface Idleness {
  readonly idleMs?: number;
  readonly isWaiting?: () => boolean;
}

/** Returns what an act writes, as a terminal or another output shows it. */
async function shown(act: string, isTTY: boolean): Promise<readonly [string, string]> {
  const [out, err] = [Object.assign(new PassThrough(), { isTTY }), Object.assign(new PassThrough(), { isTTY })];
  const read = Promise.all([text(out), text(err)]);
  await start(act, { out, err });
  out.end();
  err.end();
  return read;
}

describe('a boxed process', { timeout: 60_000 }, () => {
  it.each([
    ['loop', 'STRATEGY_TIMEOUT', 'it took longer than 900 ms for one call'],
    ['load', 'STRATEGY_TIMEOUT', 'loading it took longer than 900 ms'],
    ['microtasks', 'STRATEGY_TIMEOUT', 'loading it took longer than 900 ms'],
  ])('is ended with the reason and the line where a strategy never returns: %s', async (act, code, reason) => {
    const err = new PassThrough();
    const said = text(err);
    const { stop } = await start(act, { err });
    err.end();
    expect(stop).toEqual({ code, reason, who: 'strategy dip', place: LINE });
    expect(stopText(stop!)).toBe(`strategy dip: ${reason}, at ${stop!.place!}`);
    // What Node says about it is read, and not shown.
    expect(await said).toBe('');
  });

  it('blames the strategy in whose file the line is', async () => {
    expect((await start('loop of a neighbour')).stop).toMatchObject({ who: 'strategy dip', place: LINE });
  });

  it.each(['slow rows', 'other work'])('is not ended for what takes long but is no loop: %s', async (act) => {
    expect(await start(act)).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['crash', 'its process was ended by signal SIGABRT'], ['code', 'its process ended with code 13'],
  ])('that ends within a strategy names it: %s', async (act, reason) => {
    expect((await start(act)).stop).toMatchObject({ code: 'STRATEGY_ENDED', who: 'strategy dip', reason });
  });

  it('is ended where it neither works nor ends after strategies, unless it waits for an answer', async () => {
    let waits = 20;
    const isWaiting = (): boolean => waits-- > 0;
    expect((await start('idle', { idleMs: 500, isWaiting })).stop).toEqual({
      code: 'STRATEGY_ENDED', who: 'strategy dip',
      reason: 'it left its process in a state in which it neither works nor ends, for 0.5 s',
    });
    expect(waits).toBeLessThan(0);
    expect(await start('other work', { idleMs: 500, isWaiting: () => false })).toEqual({ code: 0, signal: null });
  });

  it('whose heap a strategy fills is ended with the bound', async () => {
    const given = process.env['NODE_OPTIONS'];
    process.env['NODE_OPTIONS'] = '--max-old-space-size=200';
    try {
      expect((await start('heap')).stop).toMatchObject({
        code: 'STRATEGY_MEMORY', who: 'strategy dip',
        reason: expect.stringMatching(/^it exhausted the memory of its process, \d+ MB$/) as string,
      });
    } finally {
      if (given === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = given;
    }
  });

  it('reaches a terminal with the sequences of our own output alone', async () => {
    const hidden = '\\u001b[8mhidden\\u202e\n';
    expect(await shown('escapes', true)).toEqual([
      'a\tb\\u001b]0;title\\u0007\\u001b[2J\u001B[1mbold\u001B[22m\\u009b31m\r\u001B[K end\n', hidden,
    ]);
    expect(await shown('escapes', false)).toEqual([
      'a\tb\\u001b]0;title\\u0007\\u001b[2J\\u001b[1mbold\\u001b[22m\\u009b31m\\u000d\\u001b[K end\n', hidden,
    ]);
  });

  it('loses nothing of what it writes to a slow reader', async () => {
    let written = '';
    const out = new Writable({
      highWaterMark: 1_000,
      write: (chunk: Buffer, _encoding, done) => {
        written += chunk.toString();
        setTimeout(done, 1);
      },
    });
    expect(await start('much', { out })).toEqual({ code: 0, signal: null });
    expect(written).toBe(Array.from({ length: 60_000 }, (_, line) => `${String(line).padStart(99, '.')}\n`).join(''));
  });

  it('is told by its own pipe that the reader has closed the output', async () => {
    const out = new Writable({
      write: (_chunk, _encoding, done) => { done(Object.assign(new Error('closed'), { code: 'EPIPE' })); },
    });
    out.on('error', () => undefined);
    expect(await start('until it is closed', { out })).toEqual({ code: 2, signal: null });
  });
});
