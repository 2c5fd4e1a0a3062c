import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watchedBy } from '../../src/config/run-config.ts';
import type { StrategyReader, StrategyReading } from '../../src/config/strategies/strategy-reader.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { configOf, GENESIS, issuesOf, loadText } from './load-text.ts';
import { temporaryFolder } from './temporary-folder.ts';

const TEXT = 'strategies:\n  - use: dca\n    name: mine\n    params: { every: 5s }\n';
const QUOTE = { kind: 'quote', inputMint: SOL_MINT, outputMint: USDC_MINT, amount: '1000', everyMs: 5_000 };

/** A process that runs a strategy's code, and says what it likes. */
function saying(reading: StrategyReading | { readonly ended: string }): { readonly strategyReader: StrategyReader } {
  return { strategyReader: { load: () => ({ read: async () => reading }) } };
}

function answering(answer: unknown): { readonly strategyReader: StrategyReader } {
  return saying({ answer: typeof answer === 'string' ? answer : JSON.stringify(answer) });
}

function watching(...inputs: readonly unknown[]): { readonly strategyReader: StrategyReader } {
  return answering({ kind: 'read', name: 'dca', summary: 's', inputs });
}

function watchingFeed(spec: object): { readonly strategyReader: StrategyReader } {
  return watching({ name: 'price', spec: { ...QUOTE, ...spec } });
}

const USE = 'bot.yaml:2:10 strategies[0].use: strategy "dca" cannot be';
const UNREADABLE = `${USE} used: it says about itself what cannot be read`;
const PRICE = `${USE} used: its input "price"`;
const INPUTS = [
  'quotes', 'orderBook', 'predictionMarket', 'predictionEvent', 'predictionEvents', 'predictionPositions',
  'predictionHistory', 'tokenStats', 'tokenRecord', 'tokenList', 'lendEarnings', 'signals',
  'walletActivity', 'portfolio',
];
const numbered = Array.from({ length: 10_000 }, (_, index) => ({ name: `i${index}`, spec: QUOTE }));

const CASES: readonly (readonly [string, { readonly strategyReader: StrategyReader }, string])[] = [
  ['no JSON', answering('{'), UNREADABLE],
  ['another kind of answer', answering({ kind: 'trusted', name: 'dca' }), UNREADABLE],
  ['a name that is a path', answering({ kind: 'read', name: '../x', summary: '', inputs: [] }), UNREADABLE],
  ['findings without an end', answering({
    kind: 'refused', name: 'dca', schema: {},
    findings: Array.from({ length: 5_000 }, () => ({ code: 'custom', path: [], message: 'm', keys: [] })),
  }), UNREADABLE],
  ['a finding far below every key', answering({
    kind: 'refused', name: 'dca', schema: {},
    findings: [{ code: 'custom', path: Array.from({ length: 40 }, () => 'a'), keys: [] }],
  }), UNREADABLE],
  ['megabytes', answering({ kind: 'not-loaded', message: 'x'.repeat(1_000_001) }),
    `${USE} used: it says more about itself than 1000000 characters`],
  ['10,000 inputs', watching(...numbered.map(({ name }) => ({ name, spec: {} }))),
    `${USE} used: it declares 10000 inputs, expected at most 1000`],
  ['one name twice', watching({ name: 'a', spec: QUOTE }, { name: 'a', spec: QUOTE }),
    `${USE} used: it declares an input without a spec, or without a name of its own of at most 100 characters`],
  ['an input that is a text', watching('price'),
    `${USE} used: it declares an input without a spec, or without a name of its own of at most 100 characters`],
  ['a feed of another kind', watchingFeed({ kind: 'key' }),
    `${PRICE} is of the kind "key": expected one of ${INPUTS.slice(0, -1).join(', ')} and ${INPUTS.at(-1)!}`],
  ['no mint', watchingFeed({ inputMint: '../../wallet' }),
    `${PRICE} names the mint "../../wallet": expected a base58 address of 32 bytes`],
  ['a mint of 31 bytes', watchingFeed({ outputMint: '2'.repeat(42) }),
    `${PRICE} names the mint "(not shown)": expected a base58 address of 32 bytes`],
  ['a quote of nothing', watchingFeed({ amount: '0' }),
    `${PRICE} asks for a quote of "0" units: expected an amount above 0, of 64 bits at most`],
  ['a quote of 65 bits', watchingFeed({ amount: '18446744073709551616' }),
    `${PRICE} asks for a quote of "18446744073709551616" units: expected an amount above 0, of 64 bits at most`],
  ['polls without a pause', watchingFeed({ everyMs: 0 }),
    `${PRICE} has the interval 0: expected a whole number of milliseconds of at least 1`],
  ['polls without an end', watchingFeed({ everyMs: Infinity }),
    `${PRICE} has the interval null: expected a whole number of milliseconds of at least 1`],
  ['a weight that starves the others', watchingFeed({ weight: 1e300 }),
    `${PRICE} has the weight 1e+300: expected a number above 0, at most 1000000`],
  ['a market with control characters', watchingFeed({ kind: 'order-book', marketId: 'a\u001b[2J' }),
    `${PRICE} watches the market "a\\u001b[2J": expected an id of 1 to 200 characters`],
  ['a record of no token', watchingFeed({ kind: 'token-record', mint: 7 }),
    `${PRICE} names the mint 7: expected a base58 address of 32 bytes`],
  ['a list without an end', watchingFeed({ kind: 'token-list', list: 'recent', limit: 1e9 }),
    `${PRICE} asks for 1000000000 tokens: expected a whole number of 1 to 100`],
  ['a list that is a path', watchingFeed({ kind: 'token-list', list: '../content', limit: 1 }),
    `${PRICE} names the list "../content": expected recent, tag, search, toporganicscore, toptraded, toptrending`],
  ['a tag that is a path', watchingFeed({ kind: 'token-list', list: 'tag', tag: 'a/b', limit: 1 }),
    `${PRICE} names the tag "a/b": expected 1 to 40 letters, digits, dashes and underscores`],
  ['leaders over no time', watchingFeed({ kind: 'token-list', list: 'toptraded', interval: '7d', limit: 1 }),
    `${PRICE} names the interval "7d": expected 5m, 1h, 6h, 24h`],
  ['a search for many things', watchingFeed({ kind: 'token-list', list: 'search', query: 'a,b', limit: 1 }),
    `${PRICE} searches for "a,b": expected 1 to 200 characters without a comma`],
  ['a market of no event', watchingFeed({ kind: 'prediction-market', marketId: 'M', page: 0 }),
    `${PRICE} watches the event undefined: expected an id of 1 to 200 characters`],
  ['a page before the first', watchingFeed({ kind: 'event-markets', eventId: 'E', page: -1 }),
    `${PRICE} asks for the page -1: expected a whole number of 0 to 500`],
  ['half a character', watchingFeed({ kind: 'prediction-events', query: '\ud800', limit: 3 }),
    `${PRICE} searches for "\\ud800": expected 1 to 200 characters`],
  ['positions of no account', watchingFeed({ kind: 'prediction-positions', owner: 'me', page: 0 }),
    `${PRICE} names the owner "me": expected a base58 address of 32 bytes`],
  ['earnings of no position', watchingFeed({ kind: 'lend-earnings', owner: SOL_MINT, positions: [] }),
    `${PRICE} names the positions []: expected 1 to 20 addresses`],
  ['the end of its process', saying({ ended: 'it used more than 96 MB of memory' }),
    `${USE} read: it used more than 96 MB of memory`],
];

describe('what a strategy’s process says', () => {
  it.each(CASES)('is refused in one line: %s', async (_name, reader, issue) => {
    expect(await issuesOf(TEXT, reader)).toEqual([issue]);
  });

  it('prints no control character of a message, a key or a summary', async () => {
    const findings = [
      { code: 'custom', path: ['every'], message: 'expected \u001b[2Jmore', keys: [] },
      { code: 'unrecognized_keys', path: [], keys: ['\u009b31m\u202e'] },
    ];
    const issues = await issuesOf(TEXT, answering({ kind: 'refused', name: 'dca', findings, schema: {} }));
    expect(issues).toEqual([
      'bot.yaml:4:13 strategies[0].params["\\u009b31m\\u202e"]: unknown key "\\u009b31m\\u202e"',
      'bot.yaml:4:22 strategies[0].params.every: expected \\u001b[2Jmore, got "5s"',
    ]);
    const failed = { kind: 'failed', name: 'dca', message: '\u001b]0;x\u0007', isTold: true };
    expect(await issuesOf(TEXT, answering(failed)))
      .toEqual(['bot.yaml:4:13 strategies[0].params: \\u001b]0;x\\u0007']);
    const quiet = { kind: 'read', name: 'dca', summary: '\u001b[2J', inputs: [] };
    const [strategy] = (await configOf(TEXT, answering(quiet))).strategies;
    expect(strategy?.strategy.summary).toBe('\\u001b[2J');
  });

  it('describes a schema that never ends as far as its bound', async () => {
    const deep = `${'{"anyOf":['.repeat(10_000)}{"type":"integer"}${']}'.repeat(10_000)}`;
    const answer = '{"kind":"refused","name":"dca","findings":[{"code":"invalid_type","path":["every"],"keys":[]}],'
      + `"schema":{"properties":{"every":${deep}}}}`;
    expect(await issuesOf(TEXT, answering(answer)))
      .toEqual(['bot.yaml:4:22 strategies[0].params.every: expected another value (invalid_type), got "5s"']);
  });

  it('becomes a declaration that the engine can subscribe to and nothing can run', async () => {
    const { strategies } = await configOf(TEXT, watching({ name: 'price', spec: { ...QUOTE, secret: 1 } }));
    const [mine] = strategies;
    expect(watchedBy(mine!)).toEqual([{ name: 'price', spec: { ...QUOTE, amount: 1_000n } }]);
    expect(() => mine!.strategy.run({}, undefined, {} as never))
      .toThrow('the code of strategy dca runs in a process of its own');
  });

  it('is asked once for each instance, with its own parameters and the tokens of the file', async () => {
    const asked: unknown[] = [];
    const strategyReader: StrategyReader = {
      load: (code) => ({
        read: async (question) => {
          asked.push([code.use, code.origin, code.isolation, question]);
          return { answer: JSON.stringify({ kind: 'read', name: 'dca', summary: '', inputs: [] }) };
        },
      }),
    };
    const isolation = 'isolation: per_strategy\nstrategy_bounds: { call_time: 1s, memory_mb: 200 }\n';
    await configOf(`${isolation}${TEXT}  - { use: dca, name: other }\n`, { strategyReader });
    const tokens = expect.arrayContaining([{ mint: SOL_MINT, symbol: 'SOL', decimals: 9 }]) as unknown;
    const bounds = { kind: 'per-strategy', callMs: 1_000, memoryMb: 200 };
    expect(asked).toEqual([
      ['dca', 'project', bounds, { params: { every: '5s' }, tokens, name: 'mine', seed: 7 }],
      ['dca', 'project', bounds, { params: {}, tokens, name: 'other', seed: 7 }],
    ]);
  });
});

describe('isolation', () => {
  it('never imports a strategy into a process that asks another one', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'mine.ts');
    await writeFile(file, 'globalThis.attacked = true;\nexport default 1;\n');
    await loadText(`strategies: [{ use: ${file} }]\n`, saying({ ended: 'it was not started' }));
    expect(globalThis).not.toHaveProperty('attacked');
  });

  it('refuses files of others with isolation: off, before their code is loaded', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'mine.ts');
    await writeFile(file, 'export default 1;\n');
    const text = `isolation: off\nstrategies: [{ use: ${file} }]\n`;
    expect(await issuesOf(text, saying({ ended: 'it was loaded' }))).toEqual([
      'bot.yaml:2:21 strategies[0].use: with "isolation: off", strategies run in the process that trades, so only the '
      + 'project’s own are loaded: put the file into strategies/, or remove "isolation"',
    ]);
  });

  it('reads the project’s own strategies in this process with isolation: off, in a run alone', async () => {
    const text = `isolation: off\n${TEXT.replace('every: 5s', 'buy: SOL, spend: "1 USDC", every: 5s')}`;
    const apart = saying({ ended: 'another process was asked' });
    const { strategies } = await configOf(text.replace('    params', '    budget: "5 USDC"\n    params'), apart);
    expect(strategies[0]).toMatchObject({ apart: undefined, params: { every: '5s' } });
    expect(await issuesOf(text, { ...apart, purpose: 'check' })).toEqual([
      'bot.yaml:3:10 strategies[0].use: strategy "dca" cannot be read: another process was asked',
    ]);
  });

  it('takes the policy for positions from the entry, else from the file, else holds them', async () => {
    const entry = '  - { use: book-watch, params: { market: M, level: 0.6, rearm: 0.5 }, name: ';
    const text = `strategies:\n${entry}a }\n${entry}b, on_stop: exit }\n`;
    const policies = async (top: string): Promise<unknown[]> =>
      (await configOf(top + text, GENESIS)).strategies.map(({ onStop }) => onStop);
    expect(await policies('')).toEqual(['hold', 'exit']);
    expect(await policies('on_strategy_stop: exit\n')).toEqual(['exit', 'exit']);
  });

  it.each(['1ms', '11s'])('refuses a call time of %s', async (time) => {
    expect(await issuesOf(`strategy_bounds: { call_time: ${time} }\n${TEXT}`, watching())).toEqual([
      `bot.yaml:1:31 strategy_bounds.call_time: expected 10ms to 10s, got ${time}`,
    ]);
  });
});
