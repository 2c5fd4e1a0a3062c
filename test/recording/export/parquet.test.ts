import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { exportParquet } from '../../../src/recording/export/parquet.ts';
import type { Amount, Lamports, MicroUsd } from '../../../src/core/amount.ts';
import { U64_MAX } from '../../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { Outcome } from '../../../src/trading/intent.ts';
import type { Input } from '../../../src/trading/step.ts';
import { RECORDING_KINDS } from '../../../src/recording/format.ts';
import type { RecordingKind } from '../../../src/recording/format.ts';
import type { Recording } from '../../../src/recording/reader.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { book, buyingSol, record, stats, trouble } from '../../market/events.ts';
import { SOL } from '../../market/tokens.ts';
import type { Stamped } from '../arbitrary-inputs.ts';
import { readBack, stampedInputs } from '../arbitrary-inputs.ts';
import { inputsIn, withDecimals } from '../parquet-inputs.ts';
import { aboutFile, integersByRust, rowsByJavaScript, rowsByRust, typesByRust } from '../parquet-readers.ts';
import { appendAll, openWriter, temporaryFolder } from '../temporary.ts';

const never = new AbortController().signal;

/** Returns a closed recording of inputs that come a second apart. */
async function recordingOf(inputs: readonly Input[]): Promise<Recording> {
  const writer = openWriter(temporaryFolder());
  appendAll(writer, inputs.map((input, index): Stamped => ({ seq: index + 1, at: 1_000 * index, input })), 50_000);
  await writer.close();
  return openRecording(writer.directory);
}

async function exported(
  recording: Recording, kinds?: readonly RecordingKind[],
): Promise<{ readonly directory: string; readonly path: (kind: RecordingKind) => string }> {
  const directory = temporaryFolder();
  await exportParquet(recording, { directory, kinds, interrupt: never });
  return { directory, path: (kind) => join(directory, `${kind}.parquet`) };
}

/** Deposits are lamports of the one chain there is: they fit into 63 bits, where the arbitrary ones may not. */
function withDeposit(input: Input): Input {
  return input.kind !== 'outcome' || input.fill === undefined ? input
    : { ...input, fill: { ...input.fill, rentLamports: BigInt.asIntN(64, input.fill.rentLamports) as Lamports } };
}

describe('a recording exported to Parquet', () => {
  it('is read with every input of every kind by two other readers', async () => {
    const folder = temporaryFolder();
    const directory = join(folder, 'out');
    await fc.assert(fc.asyncProperty(stampedInputs, async (stamped) => {
      for (const name of ['run', 'out']) rmSync(join(folder, name), { recursive: true, force: true });
      const writer = openWriter(folder);
      appendAll(writer, stamped.map((row) => ({ ...row, input: withDeposit(row.input) })), 7);
      await writer.close();
      const recording = openRecording(writer.directory);
      const tables = await exportParquet(recording, { directory, interrupt: never });
      expect(tables.map(({ kind }) => kind)).toStrictEqual(recording.kinds);
      for (const { kind, file, rows, events } of tables) {
        const inputs = readBack(recording, { kinds: [kind] });
        const expected = /^(?:prediction-|quote-detail)/.test(kind) ? inputs.map(withDecimals) : inputs;
        const byRust = rowsByRust(file);
        expect(inputsIn(kind, byRust)).toStrictEqual(expected);
        expect(inputsIn(kind, await rowsByJavaScript(file))).toStrictEqual(expected);
        expect([events, rows]).toStrictEqual([expected.length, byRust.length]);
      }
    }), { numRuns: 12 });
  }, 60_000);

  it('keeps amounts exactly, in types that hold them', async () => {
    const amounts = [2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, U64_MAX - 1n, U64_MAX] as Amount[];
    const recording = await recordingOf(amounts.map((amount) =>
      ({ ...buyingSol(150_000, 5), inAmount: amount, outAmount: amount, threshold: amount, contextSlot: amount })));
    const { path } = await exported(recording);
    for (const rows of [rowsByRust(path('quote')), await rowsByJavaScript(path('quote'))]) {
      for (const column of ['in_amount', 'out_amount', 'threshold', 'context_slot'])
        expect(rows.map((row) => row[column])).toStrictEqual(amounts);
    }
    expect(typesByRust(path('quote'))).toStrictEqual({
      seq: 'Int64', stamped_at: 'Timestamp<MILLISECOND, UTC>', received_at: 'Timestamp<MILLISECOND, UTC>',
      event_at: 'Timestamp<MILLISECOND, UTC>?', feed: 'Utf8',
      input_mint: 'Utf8', output_mint: 'Utf8', in_amount: 'Uint64', out_amount: 'Uint64', threshold: 'Uint64',
      price_impact: 'Float64?', context_slot: 'Uint64?', router: 'Utf8', fee_bps: 'Int64',
    });
  });

  it('has the single members of documents in columns with types, and all of them as JSON', async () => {
    const { kind: _kind, ...terms } = buyingSol(150_000, 3);
    const detail: Input = {
      ...terms, kind: 'quote-detail', inAmount: U64_MAX as Amount, inUsdValue: 24.5, gasless: false, contextSlot: 9n,
      route: [],
    };
    const complete = record(SOL, 150, 4);
    const token: Input = {
      ...complete, record: {
        ...complete.record, createdAt: 86_400_000, isVerified: true, audit: { isSus: false },
        values: { 'usdPrice': 150, '5m.buyVolume': 2.5 }, stats7d: { priceChange: -1.5 },
      },
    };
    const market: Input = {
      kind: 'prediction-market', feed: 'prediction-market:E:0:M', receivedAt: 5, eventId: 'E', market: {
        marketId: 'M', status: 'closed', result: 'yes', closeTime: 7, outcomes: [], metadata: { title: 'Tide' },
        pricing: { buyYesPriceUsd: 640_000n as MicroUsd, volume: 12 },
      },
    };
    const { path } = await exported(await recordingOf([detail, token, market]));
    expect(rowsByRust(path('quote-detail'))).toMatchObject([{
      input_mint: USDC_MINT, in_amount: U64_MAX, context_slot: 9n, in_usd_value: 24.5, gasless: false,
      out_usd_value: null, json: expect.stringContaining('"route":[]'),
    }]);
    expect(rowsByRust(path('token-record'))).toMatchObject([{
      mint: SOL_MINT, symbol: 'SOL', decimals: 9, created_at: 86_400_000, is_verified: true, audit_is_sus: false,
      usd_price: 150, buy_volume_5m: 2.5, price_change_7d: -1.5, price_change_30d: null, name: 'SOL', website: null,
    }]);
    expect(await rowsByJavaScript(path('prediction-market'))).toMatchObject([{
      event_id: 'E', market_id: 'M', status: 'closed', result: 'yes', close_time: 7, metadata_title: 'Tide',
      pricing_buy_yes_price_usd: 640_000n, pricing_sell_no_price_usd: null, pricing_volume: 12,
    }]);
    expect(typesByRust(path('token-record'))).toMatchObject({
      mint: 'Utf8?', decimals: 'Float64?', is_verified: 'Bool?', created_at: 'Timestamp<MILLISECOND, UTC>?',
      usd_price: 'Float64?', json: 'Utf8',
    });
    expect(typesByRust(path('quote-detail'))).toMatchObject({ in_amount: 'Uint64?', gasless: 'Bool?' });
    expect(typesByRust(path('prediction-market'))).toMatchObject({ pricing_buy_yes_price_usd: 'Int64?' });
  });

  it('keeps failures, gaps, books without levels, and what an outcome cost', async () => {
    const failed: Outcome = {
      kind: 'outcome', intentId: 'dip-1', attempt: 2, state: 'building', ended: 'expired',
      feeLamports: 5_000n as Lamports, slot: U64_MAX,
      fill: {
        inputMint: USDC_MINT, outputMint: SOL_MINT, amountIn: U64_MAX as Amount, amountOut: 0n as Amount,
        feeLamports: 0n as Lamports, rentLamports: -2_039_280n as Lamports,
      },
    };
    const recording = await recordingOf([
      buyingSol(150_000, 0), trouble('quote:x', 1), book([], [], 2), book([[60, 1.5], [60, 0]], [[1, -0]], 3),
      stats(SOL, undefined, 4), failed,
    ]);
    const { path } = await exported(recording);
    for (const kind of recording.kinds)
      expect(inputsIn(kind, rowsByRust(path(kind)))).toStrictEqual(readBack(recording, { kinds: [kind] }));
    expect(rowsByRust(path('order-book')).map((row) => [row['seq'], row['side'], row['price_micro_usd'], row['size']]))
      .toStrictEqual([
        [3n, null, null, null], [4n, 'yes', 600_000n, 1.5], [4n, 'yes', 600_000n, 0], [4n, 'no', 10_000n, -0],
      ]);
    expect(rowsByRust(path('feed-health'))).toMatchObject([
      { feed: 'quote:x', status: 'down', code: 'SERVICE_TIMEOUT', message: null, consecutive_failures: 3n },
    ]);
    expect(rowsByRust(path('outcome'))).toMatchObject([
      { ended: 'expired', slot: U64_MAX, fill_amount_in: U64_MAX, fill_rent_lamports: -2_039_280n, quoted_out: null },
    ]);
  });

  it('keeps 0 and -0 apart where sizes repeat', async () => {
    const levels = Array.from({ length: 40 }, (_, index) => [index, index % 2 === 0 ? 0 : -0] as const);
    const recording = await recordingOf([book(levels, [])]);
    const { path } = await exported(recording);
    expect(rowsByRust(path('order-book')).map((row) => row['size'])).toStrictEqual(levels.map(([, size]) => size));
  });

  it('writes row groups with snappy and old encodings, and stops between them at an interrupt', async () => {
    const first = buyingSol(150_000, 0);
    const amounts = Array.from({ length: 80_000 }, (_, index) => BigInt(index) * 2n ** 47n as Amount);
    const recording = await recordingOf(amounts.map((outAmount) => ({ ...first, outAmount })));
    const { path } = await exported(recording);
    const { groups, codecs, encodings } = aboutFile(path('quote'));
    expect([groups, codecs, encodings])
      .toStrictEqual([[74_898, 80_000 - 74_898], ['SNAPPY'], ['PLAIN', 'RLE_DICTIONARY']]);
    const [seqs, outAmounts] = [integersByRust(path('quote'), 'seq'), integersByRust(path('quote'), 'out_amount')];
    expect([seqs.length, outAmounts.length]).toStrictEqual([80_000, 80_000]);
    expect(amounts.findIndex((amount, index) => outAmounts[index] !== amount || seqs[index] !== BigInt(index + 1)))
      .toBe(-1);

    // It is cut short here too, for it takes long to make.
    const directory = join(temporaryFolder(), 'out');
    const controller = new AbortController();
    const done = expect(exportParquet(recording, { directory, interrupt: controller.signal }))
      .rejects.toMatchObject({ code: 'INTERRUPTED' });
    while (!existsSync(join(directory, 'quote.parquet.new'))) await nextTurn();
    controller.abort();
    await done;
    expect(existsSync(directory)).toBe(false);
  }, 60_000);

  it('names its origin, and is the same file each time', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0)]);
    const [first, again] = [await exported(recording), await exported(recording)];
    const manifest = readFileSync(join(recording.directory, 'manifest.json'), 'utf8');
    const { sha256 } = JSON.parse(manifest) as { sha256: string };
    expect(createHash('sha256').update(manifest.slice(0, manifest.lastIndexOf(',\n  "sha256"'))).digest('hex'))
      .toBe(sha256);
    expect(aboutFile(first.path('quote')).metadata).toStrictEqual({
      'gannet.kind': 'quote', 'gannet.recording_format': '2', 'gannet.manifest_sha256': sha256, 'gannet.tokens': '[]',
    });
    expect(readFileSync(first.path('quote')).equals(readFileSync(again.path('quote')))).toBe(true);
  });

  it('ends where the recording was cut off, and says so', async () => {
    const writer = openWriter(temporaryFolder());
    for (let seq = 1; seq <= 3; seq++) writer.append(seq, seq, buyingSol(150_000, seq));
    writer.flush();
    const cut = openRecording(writer.directory);
    const { path } = await exported(cut);
    expect(rowsByRust(path('quote')).map((row) => row['seq'])).toStrictEqual([1n, 2n, 3n]);
    expect(aboutFile(path('quote')).metadata)
      .toMatchObject({ 'gannet.truncated_at': '3', 'gannet.manifest_sha256': expect.stringMatching(/^[0-9a-f]{64}$/) });
    await writer.close();
    const later = await exported(cut);
    expect(aboutFile(later.path('quote')).metadata).not.toHaveProperty('gannet.manifest_sha256');
  });

  it('has an empty table for a requested kind without rows, and no file for other kinds', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0)]);
    const { directory, path } = await exported(recording, RECORDING_KINDS);
    for (const kind of RECORDING_KINDS.filter((other) => other !== 'quote')) {
      expect(rowsByRust(path(kind))).toStrictEqual([]);
      expect(await rowsByJavaScript(path(kind))).toStrictEqual([]);
      expect(Object.keys(typesByRust(path(kind))).slice(0, 2)).toStrictEqual(['seq', 'stamped_at']);
    }
    expect(readdirSync(directory)).toHaveLength(RECORDING_KINDS.length);
    expect(readdirSync((await exported(recording)).directory)).toStrictEqual(['quote.parquet']);
    expect(readdirSync((await exported(await recordingOf([]))).directory)).toStrictEqual([]);
  });
});

describe('a failed export to Parquet', () => {
  it('overwrites no file, and leaves none', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0), trouble('quote:x', 1)]);
    const directory = temporaryFolder();
    for (const taken of ['feed-health.parquet', 'feed-health.parquet.new']) {
      writeFileSync(join(directory, taken), 'mine');
      await expect(exportParquet(recording, { directory, interrupt: never }))
        .rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(taken) });
      expect(readdirSync(directory)).toStrictEqual([taken]);
      expect(readFileSync(join(directory, taken), 'utf8')).toBe('mine');
      rmSync(join(directory, taken));
    }
    writeFileSync(join(directory, 'file'), '');
    await expect(exportParquet(recording, { directory: join(directory, 'file', 'out'), interrupt: never }))
      .rejects.toMatchObject({ code: 'USAGE' });
  });

  it('leaves no file at an interrupt, and can be repeated', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0)]);
    const directory = temporaryFolder();
    await expect(exportParquet(recording, { directory, interrupt: AbortSignal.abort() }))
      .rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(readdirSync(directory)).toStrictEqual([]);
    expect(await exportParquet(recording, { directory, interrupt: never })).toMatchObject([{ kind: 'quote', rows: 1 }]);
  });

  it('reports a fault of the disk', async () => {
    const recording = await recordingOf([buyingSol(150_000, 0)]);
    const directory = join(temporaryFolder(), 'out');
    const done = expect(exportParquet(recording, { directory, interrupt: never }))
      .rejects.toMatchObject({ code: 'RECORDING_WRITE_FAILED' });
    rmSync(directory, { recursive: true });
    await done;
  });
});
