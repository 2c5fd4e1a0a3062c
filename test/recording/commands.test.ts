import { runHere } from '../cli/in-process.ts';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { bytesText } from '../../src/cli/output/figures.ts';
import type { CommandContext, RunCommand } from '../../src/cli/command.ts';
import { recordCommand } from '../../src/cli/commands/recording/record.ts';
import { recordingCommand } from '../../src/cli/commands/recording/recording.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { formatManifest, parseManifest } from '../../src/recording/manifest.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { buyingSol, stats, trouble } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import { readBack } from './arbitrary-inputs.ts';
import { copyOf, filesIn, openWriter, temporaryFolder } from './temporary.ts';

const HOUR = 3_600_000;

interface Answer {
  readonly code: number;
  readonly document: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Faults of the command line are thrown, not printed. */
function quiet(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  command.commands.forEach(quiet);
}

/** Runs a command in this process, as the program does but for the process around it. */
async function gannet(args: readonly string[], {
  stateDir = temporaryFolder(), interrupt = new AbortController().signal,
}: { readonly stateDir?: string; readonly interrupt?: AbortSignal } = {}): Promise<Answer> {
  let answer: Omit<Answer, 'code'> | undefined;
  let code: number | undefined;
  const context: CommandContext = {
    terminal: {
      json: true, colour: false,
      result: (
        document, text,
      ) => { answer = { document: JSON.parse(JSON.stringify(document)) as Answer['document'], text: text() }; },
      out: () => {}, err: () => {},
    },
    options: {
      json: true, config: undefined, stateDir, baseUrl: undefined, rpcUrl: undefined, apiKeyEnv: undefined,
      logLevel: 'warn',
    }, environment: {}, withheld: [], connectSigner: undefined, runBoxed: runHere, interrupt,
  };
  const run: RunCommand = (action) => async (
    ...given
  ) => { code = await (action as (...all: readonly unknown[]) => Promise<number>)(context, ...given); };
  const program = new Command();
  for (const add of [recordCommand, recordingCommand]) add(program, run);
  quiet(program);
  await program.parseAsync(['node', 'gannet', ...args]);
  return { code: code!, ...answer! };
}

/** Three hours: a quote a minute, statistics, trouble; the quotes are silent for forty minutes. */
async function recorded(): Promise<string> {
  const writer = openWriter(temporaryFolder());
  let seq = 0;
  for (let at = 0; at < 3 * HOUR; at += 60_000) {
    if (at < HOUR + 600_000 || at >= HOUR + 3_000_000) writer.append(++seq, at, buyingSol(150_000 + seq, at));
    if (at % 600_000 === 0) writer.append(++seq, at, stats(SOL, 150, at));
    if (at === HOUR) writer.append(++seq, at, trouble('quote:x', at));
  }
  await writer.close();
  return writer.directory;
}

const issuesOf = ({ document }: Answer): readonly Record<string, unknown>[] =>
  document['issues'] as Record<string, unknown>[];

describe('gannet recording info', () => {
  it('shows kinds, feeds, time, gaps, sizes and versions', async () => {
    const directory = await recorded();
    const { code, document, text } = await gannet(['recording', 'info', directory]);
    expect(code).toBe(0);
    expect(document).toMatchObject({
      recording: directory, format_version: 2, closed: true, node: process.version, events: 159,
      first_at: '1970-01-01T00:00:00.000Z', last_at: '1970-01-01T02:59:00.000Z',
      span_ms: 3 * HOUR - 60_000, truncated_at: null, gaps_left_out: 0,
      kinds: [
        { kind: 'quote', events: 140, rows: 140, segments: 3, compressed: 3 },
        { kind: 'token-stats', events: 18, segments: 3 }, { kind: 'feed-health', events: 1, segments: 1 },
      ],
      gaps: [{ from: '1970-01-01T01:09:00.000Z', until: '1970-01-01T01:50:00.000Z', ms: 41 * 60_000 }],
    });
    expect((document['feeds'] as { usual_ms: number }[]).map(({ usual_ms: usual }) => usual))
      .toStrictEqual([60_000, 600_000, null]);
    expect(text).toMatch(/gaps\n {4}1970-01-01 01:09:00 +41m {2}the price of 25 USDC in SOL\n/);
    expect(text).toMatch(/the price of 25 USDC in SOL +140 +1m {2}1970-01-01 00:00:00 {2}1970-01-01 02:59:00 +1\n/);
    expect(text, 'whole mints are unreadable in a list').not.toMatch(/[1-9A-HJ-NP-Za-km-z]{32,}/);
  });

  it('shows where a cut recording ends, and that an empty one is empty', async () => {
    const writer = openWriter(temporaryFolder());
    writer.append(1, 5, buyingSol(150_000, 5));
    writer.flush();
    expect((await gannet(['recording', 'info', writer.directory])).document)
      .toMatchObject({ closed: false, truncated_at: 1, ended_at: null, kinds: [{ compressed: 0 }] });
    const empty = openWriter(temporaryFolder());
    await empty.close();
    expect((await gannet(['recording', 'info', empty.directory])).document)
      .toMatchObject({ events: 0, span_ms: null, kinds: [], gaps: [] });
    await expect(gannet(['recording', 'info', '/nowhere'])).rejects.toMatchObject({ code: 'RECORDING_NOT_FOUND' });
  });
});

describe('gannet recording verify', () => {
  it('finds no fault in an intact recording', async () => {
    const { code, document } = await gannet(['recording', 'verify', await recorded()]);
    expect([code, document])
      .toMatchObject([0, { valid: true, closed: true, events: 159, files: 7, issues: [], warnings: [] }]);
  });

  it('names each file with a changed byte', async () => {
    const directory = await recorded();
    const copy = copyOf(directory);
    const segments = filesIn(directory).filter((file) => file.endsWith('.zst'));
    for (const file of segments.slice(0, 2)) {
      const bytes = readFileSync(join(directory, file));
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(join(directory, file), bytes);
    }
    rmSync(join(directory, segments[2]!));
    const answer = await gannet(['recording', 'verify', directory]);
    expect(answer.code).toBe(1);
    expect(issuesOf(answer).map(({ code, file }) => `${String(code)} ${String(file)}`).toSorted())
      .toStrictEqual(segments.slice(0, 3).map((file) => `RECORDING_CORRUPT ${file}`).toSorted());
    // The message says what is missing.
    for (const { file, time, message } of issuesOf(answer)) {
      const { rows, firstAt } = openRecording(copy).segments.find((digest) => digest.file === file)!;
      expect([time, message]).toStrictEqual([new Date(firstAt).toISOString(), expect.stringMatching(
        new RegExp(`\\(${rows} rows of ${new Date(firstAt).toISOString()} to 1970-[^)]*\\): expected`),
      )]);
    }
    for (const file of ['digests.ndjson', 'manifest.json']) {
      const other = copyOf(directory);
      writeFileSync(join(other, file), 'x', { flag: 'a' });
      expect(issuesOf(await gannet(['recording', 'verify', other])))
        .toMatchObject([{ code: 'RECORDING_CORRUPT', file }]);
    }
  });

  it('names row and time where time goes backwards, numbers are out of order, or segments overlap', async () => {
    const writer = openWriter(temporaryFolder());
    const put = (seq: number, at: number): void => { writer.append(seq, at, buyingSol(150_000, at)); };
    put(1, 1_000);
    put(2, 900);
    put(5, 2_000);
    put(4, 2_000);
    put(3, HOUR + 1);
    await writer.close();
    const answer = await gannet(['recording', 'verify', writer.directory]);
    expect(answer.code).toBe(1);
    expect(issuesOf(answer)).toMatchObject([
      {
        file: 'quote/1970-01-01T00.arrows.zst', row: 2, time: '1970-01-01T00:00:00.900Z',
        message: expect.stringContaining('time goes backwards'),
      },
      {
        file: 'quote/1970-01-01T00.arrows.zst', row: 4, time: '1970-01-01T00:00:02.000Z',
        message: expect.stringContaining('number 4 (1970-01-01T00:00:02.000Z) comes after 5'),
      },
      {
        file: 'quote/1970-01-01T01.arrows.zst', row: 1,
        message: expect.stringContaining('overlaps quote/1970-01-01T00.arrows.zst'),
      },
    ]);
    expect(answer.text).toContain('DAMAGED: 3 faults');
  });

  it('reports a foreign version, and digests that contradict the rows', async () => {
    const directory = await recorded();
    const foreign = copyOf(directory);
    const manifest = parseManifest(readFileSync(join(directory, 'manifest.json'), 'utf8'));
    writeFileSync(join(foreign, 'manifest.json'), formatManifest({ ...manifest, formatVersion: 9 }));
    expect(issuesOf(await gannet(['recording', 'verify', foreign])))
      .toMatchObject([{ code: 'RECORDING_VERSION', file: 'manifest.json' }]);
    const lying = copyOf(directory);
    const [first, ...others] = manifest.files;
    writeFileSync(join(lying, 'manifest.json'), formatManifest({
      ...manifest, files: [{ ...first!, events: first!.events + 1 }, ...others],
    }));
    expect(issuesOf(await gannet(['recording', 'verify', lying])))
      .toMatchObject([{ file: first!.file, message: expect.stringMatching(/says inputs \d+, its rows say \d+/) }]);
  });

  it('warns of prices that cannot be, and of files that are no part of it', async () => {
    const writer = openWriter(temporaryFolder());
    writer.append(1, 1, buyingSol(150_000, 1));
    writer.append(2, 2, { ...buyingSol(150_000, 2), outAmount: 0n as never, rate: 0 });
    writer.append(3, 3, buyingSol(150, 3));
    await writer.close();
    writeFileSync(join(writer.directory, 'quote', '1970-01-01T00.arrows.zst.new'), 'half');
    const answer = await gannet(['recording', 'verify', writer.directory]);
    expect(answer.code).toBe(0);
    expect(answer.document['warnings']).toMatchObject([
      { row: 2, message: expect.stringContaining('a price of 0') },
      { row: 3, message: expect.stringContaining('leaps') }, { file: 'quote/1970-01-01T00.arrows.zst.new' },
    ]);
  });
});

describe('gannet recording compact', () => {
  it('compresses what a dead writer left, says how much smaller it is, and then has nothing more to do', async () => {
    const writer = openWriter(temporaryFolder());
    for (let seq = 1; seq <= 200; seq++) writer.append(seq, seq * 60_000, buyingSol(150_000 + seq, seq * 60_000));
    writer.flush();
    await expect(gannet(['recording', 'compact', writer.directory]))
      .rejects.toMatchObject({ code: 'STATE_LOCKED', message: expect.stringContaining(writer.directory) });
    const directory = copyOf(writer.directory);
    expect((await gannet(['recording', 'info', directory])).document).toMatchObject({ uncompressed: [
      'quote/1970-01-01T00.arrows', 'quote/1970-01-01T01.arrows', 'quote/1970-01-01T02.arrows',
      'quote/1970-01-01T03.arrows',
    ], lost: [] });
    await expect(gannet(['recording', 'compact', directory], { interrupt: AbortSignal.abort() }))
      .rejects.toMatchObject({ code: 'INTERRUPTED' });
    const { code, document, text } = await gannet(['recording', 'compact', directory]);
    expect([code, document]).toMatchObject([0, { recording: directory, segments: 4 }]);
    expect(Number(document['bytes_after'])).toBeLessThan(Number(document['bytes_before']));
    expect(text).toMatch(/^ {2}4 segments: [\d.]+ kB became [\d.]+ kB\n$/);
    expect((await gannet(['recording', 'info', directory])).document)
      .toMatchObject({ uncompressed: [], kinds: [{ segments: 4, compressed: 4 }] });
    expect((await gannet(['recording', 'compact', directory])).text).toBe('  nothing to compress\n');
  });
});

describe('a command that reads a recording', () => {
  it('stops at an interrupt, and leaves no file', async () => {
    const directory = await recorded();
    const folder = temporaryFolder();
    const commands = [['info', directory], ['verify', directory], [
      'export', directory, '--to', 'jsonl', '--out', join(folder, 'lines'),
    ], ['export', directory, '--to', 'parquet', '--out', join(folder, 'tables')]];
    for (const args of commands) {
      const interrupt = new AbortController();
      const done = expect(gannet(['recording', ...args], { interrupt: interrupt.signal }), args[0])
        .rejects.toMatchObject({ code: 'INTERRUPTED' });
      setImmediate(() => { interrupt.abort(); });
      await done;
    }
    expect(filesIn(folder)).toStrictEqual([]);
  });
});

describe('gannet recording export', () => {
  it('writes every input as a line of JSON, amounts as strings', async () => {
    const directory = await recorded();
    const file = join(temporaryFolder(), 'out.jsonl');
    const { document } = await gannet(['recording', 'export', directory, '--to', 'jsonl', '--out', file]);
    const text = readFileSync(file, 'utf8');
    expect(document).toStrictEqual({ file, events: 159, bytes: Buffer.byteLength(text) });
    const rows = text.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    const expected = readBack(openRecording(directory)).map(({ seq, at, input }) => ({ seq, at, ...JSON.parse(
      JSON.stringify(input, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ) as object }));
    expect(rows).toStrictEqual(expected);
    expect(rows[0]).toMatchObject({ kind: 'quote', inAmount: '25000000' });
    await expect(gannet(['recording', 'export', directory, '--to', 'jsonl', '--out', file]))
      .rejects.toMatchObject({ code: 'USAGE' });
  });

  it('creates the folder of its file, or says in plain words why it cannot', async () => {
    const directory = await recorded();
    const folder = temporaryFolder();
    const file = join(folder, 'not', 'there', 'a.jsonl');
    expect((await gannet(['recording', 'export', directory, '--to', 'jsonl', '--out', file])).document)
      .toMatchObject({ file, events: 159 });
    expect(readdirSync(join(folder, 'not', 'there'))).toStrictEqual(['a.jsonl']);
    for (const [out, why] of [
      [join(file, 'b.jsonl'), 'file, not a folder'], [folder, 'it is a folder'],
      ['/proc/a.jsonl', '/proc takes no files'],
    ] as const) {
      await expect(gannet(['recording', 'export', directory, '--to', 'jsonl', '--out', out]))
        .rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(
          `^--out ${out} cannot be written: .*${why}|^--out ${out} cannot be written: .*file already exists`,
        ) });
    }
  });

  it('takes kinds, and refuses options that it does not support', async () => {
    const directory = await recorded();
    const folder = temporaryFolder();
    expect((await gannet([
      'recording', 'export', directory, '--to', 'jsonl', '--out', join(folder, 'a'), '--kind', 'token-stats',
      'feed-health',
    ])).document).toMatchObject({ events: 19 });
    await expect(gannet(['recording', 'export', directory, '--to', 'csv', '--out', join(folder, 'b')]))
      .rejects.toMatchObject({ code: 'commander.invalidArgument' });
    expect(existsSync(join(folder, 'b'))).toBe(false);
    await expect(gannet(['recording', 'export', directory, '--to', 'jsonl']))
      .rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('--out') });
  });

  it('writes each kind as a Parquet file, into a folder of its own where none is named', async () => {
    const directory = await recorded();
    const stateDir = temporaryFolder();
    const { code, document, text } = await gannet(['recording', 'export', directory, '--to', 'parquet'], { stateDir });
    const folder = join(stateDir, 'exports', 'run');
    const sizes = ['quote', 'token-stats', 'feed-health'].map((kind) => statSync(join(folder, `${kind}.parquet`)).size);
    expect([code, document]).toStrictEqual([0, {
      directory: folder, events: 159, bytes: sizes.reduce((sum, size) => sum + size), files: [
        { kind: 'quote', file: join(folder, 'quote.parquet'), events: 140, rows: 140, bytes: sizes[0] },
        { kind: 'token-stats', file: join(folder, 'token-stats.parquet'), events: 18, rows: 18, bytes: sizes[1] },
        { kind: 'feed-health', file: join(folder, 'feed-health.parquet'), events: 1, rows: 1, bytes: sizes[2] },
      ],
    }]);
    expect(text).toContain(`140 rows in ${bytesText(sizes[0]!)}: ${join(folder, 'quote.parquet')}`);
    expect((await gannet(['recording', 'export', directory, '--to', 'parquet'], { stateDir })).document)
      .toMatchObject({ directory: `${folder}-2` });
    await expect(gannet(['recording', 'export', directory, '--to', 'parquet', '--out', folder]))
      .rejects.toMatchObject({ code: 'USAGE' });
    expect((
      await gannet(['recording', 'export', directory, '--to', 'parquet', '--out', folder, '--kind', 'outcome'])
    ).document).toMatchObject({ events: 0, files: [{ kind: 'outcome', rows: 0 }] });
  });
});

const quote = (...cells: unknown[]): string =>
  `time,input_mint,output_mint,in_amount,out_amount\n1,${USDC_MINT},${SOL_MINT},1,1\n${cells.join(',')}\n`;
const candle = (...rows: string[]): string => ['time,open,high,low,close', ...rows, ''].join('\n');

const imported = async (text: string, ...flags: string[]): Promise<Answer> => {
  const file = join(temporaryFolder(), 'in.csv');
  writeFileSync(file, text);
  return gannet(['recording', 'import', file, ...flags]);
};

const inputsOf = ({ document }: Answer): Record<string, unknown>[] =>
  readBack(openRecording(String(document['recording']))).map(({ at, input }) => ({ at, ...input as object }));

describe('issue 13.2: the close of a candle belongs to the end of that candle', () => {
  const HOUR = 3_600_000;
  /** Candles of an hour at 100, then 38 hours without one, then candles at 50. */
  const rows = [0, 1, 2, 41, 42]
    .map((hour) => `${hour * 3_600},${Array.from({ length: 4 }, () => (hour < 10 ? 100 : 50)).join(',')}`);
  const text = `time,open,high,low,close\n${rows.join('\n')}\n`;
  const pricesOf = (answer: Answer): readonly (readonly [hour: number, price: number])[] => (
    inputsOf(answer)
      .map(({ at, inAmount, outAmount }) => [Number(at) / HOUR, Number(inAmount) / Number(outAmount) * 1_000]));

  it('has no price in a gap of 38 hours, and names its start and its end', async () => {
    const answer = await imported(text, '--pair', 'SOL/USDC', '--size', '100 USDC');
    expect(answer.document).toMatchObject({
      interval: '1h', warnings: ['the file has no candles from 1970-01-01T03:00:00.000Z to 1970-01-02T17:00:00.000Z, '
        + 'for 1d14h: the recording has no prices for that time'],
    });
    expect(pricesOf(answer)).toStrictEqual([[1, 100], [2, 100], [3, 100], [42, 50], [43, 50]]);
  });

  it('takes a given interval, and refuses one longer than the distance between candles', async () => {
    expect(pricesOf(await imported(text, '--pair', 'SOL/USDC', '--size', '100 USDC', '--interval', '15m'))
      .map(([hour]) => hour))
      .toStrictEqual([0.25, 1.25, 2.25, 41.25, 42.25]);
    await expect(imported(text, '--pair', 'SOL/USDC', '--interval', '4h'))
      .rejects.toMatchObject({ code: 'CSV_INVALID', message: expect.stringContaining('mostly 1h apart') as string });
    const single = await imported(
      `time,open,high,low,close\n${rows[0]!}\n`, '--pair', 'SOL/USDC', '--size', '100 USDC', '--interval', '1h',
    );
    expect(pricesOf(single)).toStrictEqual([[1, 100]]);
  });

  it('ends a short month at the start of the next one', async () => {
    const months = [1, 2, 3, 4, 5].map((month) => `2026-0${month}-01,1,1,1,1`);
    const { document } =
      await imported(`time,open,high,low,close\n${months.join('\n')}\n`, '--pair', 'SOL/USDC', '--size', '100 USDC');
    expect(document).toMatchObject({
      interval: '31d', warnings: [], first_at: '2026-02-01T00:00:00.000Z', last_at: '2026-06-01T00:00:00.000Z',
    });
  });
});

describe('gannet recording import', () => {
  it('imports quotes exactly', async () => {
    const answer = await imported(
      'time,input_mint,output_mint,in_amount,out_amount\n'
        + `2026-01-01T00:00:00Z,${USDC_MINT},${SOL_MINT},25000000,18446744073709551615\n`
        + `1767225601,${SOL_MINT},${USDC_MINT},1,9007199254740993\n`,
    );
    expect(answer.document).toMatchObject({ events: 2, feeds: 2, warnings: [] });
    expect(inputsOf(answer)).toMatchObject([
      {
        at: 1_767_225_600_000, inAmount: 25_000_000n, outAmount: 18_446_744_073_709_551_615n,
        feed: `quote:${USDC_MINT}:${SOL_MINT}:25000000`,
      },
      { at: 1_767_225_601_000, inAmount: 1n, outAmount: 9_007_199_254_740_993n },
    ]);
    expect(openRecording(String(answer.document['recording'])).tokens.bySymbol('SOL')?.decimals).toBe(9);
  });

  it('imports each candle as quotes of its close, at its end, in every size', async () => {
    const answer = await imported(
      'time,open,high,low,close,volume\n60,180,210,170,200,5\n120,200,201,150,160,\n', '--pair', 'SOL/USDC', '--size',
      '100 USDC', '2.5 SOL',
    );
    expect(inputsOf(answer).map(({ at, inAmount, outAmount }) => [at, inAmount, outAmount])).toStrictEqual([
      [120_000, 100_000_000n, 500_000_000n], [120_000, 2_500_000_000n, 500_000_000n],
      [180_000, 100_000_000n, 625_000_000n], [180_000, 2_500_000_000n, 400_000_000n],
    ]);
  });

  it('takes quotes of one instant in several sizes and both directions, and repeated ones later', async () => {
    const rows = [
      [1, USDC_MINT, SOL_MINT, 1, 1], [1, USDC_MINT, SOL_MINT, 2, 2], [1, SOL_MINT, USDC_MINT, 1, 1],
      [2, USDC_MINT, SOL_MINT, 1, 1],
    ];
    const answer = await imported(
      ['time,input_mint,output_mint,in_amount,out_amount', ...rows.map((cells) => cells.join(','))].join('\n'),
    );
    expect(inputsOf(answer)).toHaveLength(4);
  });

  it('takes mapped columns, unknown columns, and named tokens', async () => {
    const answer = await imported('Date,o,h,l,Adj Close,close,x\n2026-01-01,1,2,1,2,900,a\n2026-01-02,2,3,2,3,900,b\n',
      '--map', 'Date=time', '--map', 'o=open', '--map', 'h=high', '--map', 'l=low', '--map', 'Adj Close=close',
      '--pair', 'KELP/USDC',
      '--token', 'KELP=Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4:9', '--size', '1 KELP');
    expect(inputsOf(answer).map(({ outAmount }) => outAmount)).toStrictEqual([2_000_000n, 3_000_000n]);
    const unnamed = await imported(
      'time,input_mint,output_mint,in_amount,out_amount\n'
        + `1,${USDC_MINT},Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4,1,2\n`,
    );
    expect(unnamed.document['warnings'])
      .toStrictEqual([expect.stringContaining('the decimals of Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4')]);
  });

  it.each([
    ['', 1, 'found nothing'],
    ['time,open,high,low,close\n', 1, 'no rows'],
    ['when,open,high,low,close\n1,1,1,1,1\n', 1, 'time missing'],
    [quote(0, USDC_MINT, SOL_MINT, 1, 1), 3, 'goes backwards'],
    [quote(1, USDC_MINT, SOL_MINT, 1, 2), 3, 'is quoted twice at 1970-01-01T00:00:01.000Z, also in row 2'],
    [quote(1, USDC_MINT, SOL_MINT, 1, 1), 3, 'is quoted twice'],
    [quote(2, USDC_MINT, SOL_MINT, 0, 1), 3, 'from 1 to'],
    [quote(2, USDC_MINT, SOL_MINT, 1, -1), 3, 'from 1 to'],
    [quote(2, USDC_MINT, SOL_MINT, 1, '1.5'), 3, 'whole number'],
    [quote(2, USDC_MINT, SOL_MINT, 1, '18446744073709551616'), 3, 'smallest units'],
    [quote(2, USDC_MINT, USDC_MINT, 1, 1), 3, 'two different'],
    [quote(2, 'l0l', SOL_MINT, 1, 1), 3, ''],
    [quote(2, USDC_MINT, SOL_MINT, 1), 3, 'cells'],
    [candle('1,1,1,1,0'), 2, 'above 0'],
    [candle('1,1,1,1,1', '1,1,1,1,1'), 3, 'twice'],
    [candle('1,1,2,3,1'), 2, 'low <= open'],
    [candle('1,1,1,1,NaN'), 2, 'finite'],
    [candle('x,1,1,1,1'), 2, 'time'],
    [candle('1,1e-30,1e-30,1e-30,1e-30', '2,1e-30,1e-30,1e-30,1e-30'), 2, '--size'],
    [candle('1,1,1,1,1'), 2, 'one candle does not say when it ends'],
    [candle('9999-12-31T00:00,1,1,1,1', '9999-12-31T23:59,1,1,1,1'), 3, 'years 0 to 9999'],
    [candle('253402300800000,1,1,1,1', '253402300900000,1,1,1,1'), 2, 'years 0 to 9999'],
  ])('refuses %j, naming the row', async (text, row, words) => {
    const error: unknown = await imported(text, '--pair', 'SOL/USDC')
      .then(() => undefined, (thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CSV_INVALID', details: { row }, message: expect.stringContaining(words) });
  });

  it('refuses contradicting options', async () => {
    await expect(imported(candle('1,1,1,1,1')))
      .rejects.toMatchObject({ code: 'CSV_INVALID', message: expect.stringContaining('--pair') });
    await expect(imported(candle('1,1,1,1,1'), '--pair', 'SOL/BONK')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(imported(candle('1,1,1,1,1'), '--size', '1 SOL')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(imported(candle('1,1,1,1,1'), '--pair', 'SOL/USDC', '--size', '0 SOL'))
      .rejects.toMatchObject({ code: 'USAGE' });
    await expect(
      imported(candle('1,1,1,1,1', '2,1,1,1,1'), '--pair', 'SOL/USDC', '--size', '1 SOL', '--size', '1.0 SOL'),
    ).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('twice') });
    await expect(imported(candle('1,1,1,1,1'), '--pair', 'SOL/USDC', '--map', 'nothing=close'))
      .rejects.toMatchObject({ code: 'CSV_INVALID' });
    await expect(imported(candle('1,1,1,1,1'), '--map', 'open=price'))
      .rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });
});

const filesOf = (directory: string): unknown => openRecording(directory).manifest.files;

describe('gannet recording generate', () => {
  it('generates each motion, names it in the recording, and ends on the last instant', async () => {
    for (const market of ['swings', 'random-walk', 'stochastic-volatility']) {
      const { document } = await gannet([
        'recording', 'generate', '--days', '0.05', '--every', '1m', '--seed', '3',
        ...(market === 'stochastic-volatility' ? [] : ['--market', market]),
      ]);
      expect(basename(String(document['recording'])))
        .toBe(market === 'stochastic-volatility' ? 'synthetic-0.05d-3' : `synthetic-${market}-0.05d-3`);
      const { manifest, lastAt, firstAt } = openRecording(String(document['recording']));
      expect(manifest.source).toStrictEqual({ kind: 'synthetic', market, seed: 3 });
      expect(lastAt! - firstAt!).toBeGreaterThanOrEqual(0.05 * 24 * HOUR);
      const { text } = await gannet(['recording', 'info', String(document['recording'])]);
      expect(text).toContain(`source     synthetic: the market "${market}", seed 3\n`);
    }
    await expect(gannet(['recording', 'generate', '--days', '1', '--market', 'bull']))
      .rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });

  it('generates the same files for the same seed, and others for another', async () => {
    const stateDir = temporaryFolder();
    const make = async (seed: string): Promise<string> => String((await gannet(
      ['recording', 'generate', '--days', '0.06', '--every', '30s', '--seed', seed], { stateDir },
    )).document['recording']);
    const [one, again, other] = [await make('7'), await make('7'), await make('8')];
    expect(new Set([one, again, other]).size).toBe(3);
    expect(filesOf(again)).toStrictEqual(filesOf(one));
    expect(filesOf(other)).not.toStrictEqual(filesOf(one));
    expect((await gannet(['recording', 'verify', one])).document).toMatchObject({ valid: true, warnings: [] });
  });

  it('has ladders in both directions with worse prices for larger sizes, statistics and order books', async () => {
    const { document } = await gannet([
      'recording', 'generate', '--days', '0.05', '--every', '30s', '--slow-every', '1m', '--pair', 'SOL/USDC',
      'PEARL/USDC',
    ]);
    const recording = openRecording(String(document['recording']));
    expect(recording.kinds).toStrictEqual(['quote', 'order-book', 'token-stats', 'feed-health']);
    expect(recording.tokens.all.map(({ symbol }) => symbol)).toStrictEqual(['SOL', 'USDC', 'PEARL']);
    expect(recording.feeds.filter((feed) => feed.startsWith('quote:'))).toHaveLength(20);
    const first = readBack(recording, { kinds: ['quote'] }).slice(0, 10)
      .map(({ input }) => input as { inputMint: string; inAmount: bigint; rate: number; priceImpact: number });
    for (const mint of [USDC_MINT, SOL_MINT]) {
      const own = first.filter(({ inputMint }) => inputMint === mint);
      expect(own).toHaveLength(5);
      expect(own.map(({ inAmount }) => inAmount))
        .toStrictEqual(own.map(({ inAmount }) => inAmount).toSorted((a, b) => Number(a - b)));
      expect(own.map(({ rate }) => rate)).toStrictEqual(own.map(({ rate }) => rate).toSorted((a, b) => b - a));
      for (const { priceImpact } of own) expect(priceImpact).toBeLessThan(0);
    }
    expect(first.some(({ inAmount, inputMint }) => inAmount === 100_000_000n && inputMint === USDC_MINT)).toBe(true);
    const stats = readBack(recording, { kinds: ['token-stats'] })[0]!.input as { values: Record<string, number> };
    expect(stats.values['usdPrice']).toBeGreaterThan(0);
    expect(stats.values['5m.buyVolume']).toBeGreaterThan(0);
    const stamps = readBack(recording).map(({ at }) => at);
    expect(stamps).toStrictEqual(stamps.toSorted((a, b) => a - b));
  });

  it('refuses an existing folder, unknown pairs, and an empty time span', async () => {
    const folder = temporaryFolder();
    await expect(gannet(['recording', 'generate', '--days', '1', '--out', folder]))
      .rejects.toMatchObject({ code: 'RECORDING_WRITE_FAILED' });
    await expect(gannet(['recording', 'generate', '--days', '1', '--pair', 'PEARL/KELP']))
      .rejects.toMatchObject({ code: 'TOKEN_UNKNOWN' });
    await expect(gannet(['recording', 'generate', '--days', '1', '--pair', 'SOL/BONK']))
      .rejects.toMatchObject({ code: 'TOKEN_UNKNOWN' });
    await expect(gannet(['recording', 'generate', '--days', '0']))
      .rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });

  it('stops at an interrupt, and leaves no partial recording', async () => {
    const out = join(temporaryFolder(), 'cut');
    await expect(gannet(
      ['recording', 'generate', '--days', '1.1', '--every', '1h', '--slow-every', '6h', '--out', out],
      { interrupt: AbortSignal.abort() },
    )).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(existsSync(out)).toBe(false);
  });
});

describe('gannet record', () => {
  it('records the feeds of the strategies, and runs none of them', async () => {
    const out = join(temporaryFolder(), 'seen');
    const { code, document } = await gannet(['record', '--duration', '1s', '--out', out]);
    expect([code, document]).toMatchObject([0, { recording: out }]);
    const rows = readBack(openRecording(out));
    expect(rows.length).toBe(document['events']);
    expect(rows.some(({ input }) => (input as { kind: string }).kind === 'quote')).toBe(true);
    expect(rows.map(({ seq }) => seq)).toStrictEqual(rows.map((_, index) => index + 1));
    expect(openRecording(out).kinds.filter((kind) => kind === 'command' || kind === 'outcome')).toStrictEqual([]);
    expect(openRecording(out).truncatedAt).toBeUndefined();
  }, 60_000);

  it('refuses an invalid duration', async () => {
    await expect(gannet(['record', '--duration', 'soon'])).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });
});
