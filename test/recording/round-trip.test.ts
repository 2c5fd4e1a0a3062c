import * as fc from 'fast-check';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { OrderBook } from '../../src/market/order-book.ts';
import { RECORDING_KINDS } from '../../src/recording/format.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import { asPlain, plain, readBack, stampedInputs } from './arbitrary-inputs.ts';
import { appendAll, filesIn, openWriter, stillClock, temporaryFolder } from './temporary.ts';

describe('a closed recording', () => {
  it('gives back every input of every kind, in order, with its stamp', async () => {
    const folder = temporaryFolder();
    await fc.assert(fc.asyncProperty(stampedInputs, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }),
      async (rows, flushEvery, flushRows) => {
        rmSync(join(folder, 'run'), { recursive: true, force: true });
        const writer = openWriter(folder, { flushRows });
        appendAll(writer, rows, flushEvery);
        await writer.close();
        const recording = openRecording(join(folder, 'run'));
        expect(readBack(recording)).toStrictEqual(rows.map(asPlain));
        expect(recording.events).toBe(rows.length);
        expect(recording.firstAt).toBe(rows[0]?.at);
        expect(recording.lastAt).toBe(rows.at(-1)?.at);
        expect(recording.truncatedAt).toBeUndefined();
      }), { numRuns: 30 });
  });

  it('gives each kind alone, and blocks that hold the same inputs', async () => {
    const folder = temporaryFolder();
    const rows = fc.sample(stampedInputs, { numRuns: 20, seed: 3 }).toSorted((a, b) => b.length - a.length)[0]!;
    const writer = openWriter(folder, { flushRows: 4 });
    appendAll(writer, rows, 7);
    await writer.close();
    const recording = openRecording(writer.directory);
    for (const kind of RECORDING_KINDS) {
      const own = rows.filter(({ input }) => input.kind === kind).map(asPlain);
      expect(readBack(recording, { kinds: [kind] })).toStrictEqual(own);
      const blocks = [...recording.read({ kinds: [kind] })];
      expect(blocks.flatMap((block) => Array.from({ length: block.length }, (_, index) =>
        ({ seq: block.seqAt(index), at: block.timeAt(index), input: plain(block.inputAt(index)) }))))
        .toStrictEqual(own);
    }
    const firsts = [...recording.read()].map((block) => block.seqAt(0));
    expect(firsts).toStrictEqual(firsts.toSorted((a, b) => a - b));
  });

  it('keeps an order book without levels', async () => {
    const folder = temporaryFolder();
    const book: OrderBook =
      { kind: 'order-book', feed: 'order-book:rain', receivedAt: 5, marketId: 'rain', yes: [], no: [] };
    const writer = openWriter(folder);
    writer.append(1, 5, book);
    writer.append(2, 6, { ...book, receivedAt: 6, no: [{ priceMicroUsd: 0, size: 0 }] });
    await writer.close();
    expect(readBack(openRecording(writer.directory)).map(({ input }) => input))
      .toStrictEqual([book, { ...book, receivedAt: 6, no: [{ priceMicroUsd: 0, size: 0 }] }]);
  });

  it('keeps a book with more levels than a batch has rows', async () => {
    const writer = openWriter(temporaryFolder(), { flushRows: 8 });
    const yes = Array.from({ length: 100 }, (_, index) => ({ priceMicroUsd: index, size: index / 3 }));
    const book: OrderBook =
      { kind: 'order-book', feed: 'order-book:rain', receivedAt: 5, marketId: 'rain', yes, no: yes };
    for (let seq = 1; seq <= 5; seq++) writer.append(seq, 5, book);
    await writer.close();
    expect(readBack(openRecording(writer.directory)).map(({ input }) => input))
      .toStrictEqual([book, book, book, book, book]);
  });

  it('starts a file each hour and stays in it when the time goes backwards', async () => {
    const writer = openWriter(temporaryFolder());
    const hour = 3_600_000;
    for (const [index, at] of [hour - 1, hour, 2 * hour - 1, 2 * hour, 2 * hour - 5, 2 * hour + 7].entries()) {
      writer.append(index + 1, at, { kind: 'command', name: 'set-trading-state', state: 'active', reason: String(at) });
    }
    await writer.close();
    expect(filesIn(writer.directory).filter((file) => file.startsWith('command'))).toStrictEqual([
      'command/1970-01-01T00.arrows.zst', 'command/1970-01-01T01.arrows.zst', 'command/1970-01-01T02.arrows.zst',
    ]);
    expect(readBack(openRecording(writer.directory)).map(({ at }) => at))
      .toStrictEqual([hour - 1, hour, 2 * hour - 1, 2 * hour, 2 * hour - 5, 2 * hour + 7]);
  });

  it('is an Arrow stream that other readers open, with the documented columns', async () => {
    const writer = openWriter(temporaryFolder(), { flushRows: 2 });
    for (let seq = 1; seq <= 5; seq++) {
      writer.append(seq, seq, {
        kind: 'quote', feed: `feed-${seq}`, receivedAt: seq, inputMint: USDC_MINT, outputMint: SOL_MINT,
        inAmount: 2n ** 60n as never, outAmount: BigInt(seq) as never, threshold: 1n as never,
        router: `router-${seq % 2}`, feeBps: 0 as never, rate: 0,
      });
    }
    await writer.close();
    const table =
      tableFromIPC(zstdDecompressSync(readFileSync(join(writer.directory, 'quote/1970-01-01T00.arrows.zst'))));
    expect(table.schema.fields.map(({ name, type }) => `${name}: ${String(type)}`)).toStrictEqual([
      'seq: Uint64', 'received_at: Int64', 'event_at: Int64', 'feed: Dictionary<Int32, Utf8>', 'stamp_lag_ms: Int32',
      'input_mint: Dictionary<Int32, Utf8>', 'output_mint: Dictionary<Int32, Utf8>', 'in_amount: Uint64',
      'out_amount: Uint64', 'threshold: Uint64',
      'price_impact: Float64', 'context_slot: Uint64', 'router: Dictionary<Int32, Utf8>', 'fee_bps: Uint16',
    ]);
    expect(
      table.toArray().map((row) => [row.seq, row.feed, row.in_amount, row.out_amount, row.router, row.price_impact]),
    ).toStrictEqual(
      [1, 2, 3, 4, 5].map((seq) => [BigInt(seq), `feed-${seq}`, 2n ** 60n, BigInt(seq), `router-${seq % 2}`, null]),
    );
  });

  it('may be empty', async () => {
    const writer = openWriter(temporaryFolder());
    const manifest = await writer.close();
    const recording = openRecording(writer.directory);
    expect(manifest).toStrictEqual(recording.manifest);
    expect(readBack(recording)).toStrictEqual([]);
    expect([recording.events, recording.kinds, recording.feeds, recording.firstAt, recording.truncatedAt])
      .toStrictEqual([0, [], [], undefined, undefined]);
  });

  it('lists its kinds, feeds, tokens and counts', async () => {
    const token = { mint: SOL_MINT, symbol: 'SOL', decimals: 9 };
    const writer = createRecordingWriter({
      dir: temporaryFolder(), clock: stillClock(), tokens: [token], onError: (error) => { throw error; },
    });
    writer.append(1, 10, {
      kind: 'feed-health', feed: 'quote:a', receivedAt: 9, status: 'down', consecutiveFailures: 3,
    });
    writer.append(2, 11, {
      kind: 'order-book', feed: 'order-book:rain', receivedAt: 11, marketId: 'rain',
      yes: [{ priceMicroUsd: 1, size: 1 }, { priceMicroUsd: 2, size: 1 }], no: [],
    });
    writer.append(3, 12, { kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'test' });
    expect(writer.stats()).toMatchObject({ events: 3, dropped: 0, failed: false });
    await writer.close();
    const { manifest, ...recording } = openRecording(writer.directory);
    expect(recording.kinds).toStrictEqual(['order-book', 'feed-health', 'command']);
    expect([...recording.feeds].sort()).toStrictEqual(['order-book:rain', 'quote:a']);
    expect(recording.tokens.byMint(SOL_MINT)).toStrictEqual(token);
    expect(manifest.kinds).toStrictEqual([
      { kind: 'order-book', rows: 2, events: 1 }, { kind: 'feed-health', rows: 1, events: 1 },
      { kind: 'command', rows: 1, events: 1 },
    ]);
    expect([manifest.node, manifest.arch]).toStrictEqual([process.version, process.arch]);
  });

  it('cannot be created twice under one name', () => {
    const folder = temporaryFolder();
    openWriter(folder, { name: 'twice' });
    expect(() => openWriter(folder, { name: 'twice' }))
      .toThrow(expect.objectContaining({ code: 'RECORDING_WRITE_FAILED' }));
  });
});
