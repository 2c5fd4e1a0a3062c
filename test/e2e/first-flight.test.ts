import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, JsonLine, Playground } from './gannet.ts';
import {
  childrenOf, configText, copyOf, createPlayground, daemonOf, document, filesIn, flipByte, isRunning, jsonLines,
} from './gannet.ts';

let playground: Playground;
let state: string;
let config: string;
let lines: JsonLine[];
let ended: Ended;
let runId: string;
let startedInMs: number;
let children: number[];
const seen: {
  state?: JsonLine; text?: string; health?: number; noToken?: number; wrongToken?: number; foreignHost?: number;
  foreignOrigin?: number; nowhere?: number;
} = {};

const confirmedBy = (route: string) =>
  (line: JsonLine): boolean => line.type === 'intent' && line['state'] === 'confirmed' && line['route'] === route;

const counted = (rows: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(rows, (row) => row)].map(([row, all]) => [row, all.length]));

beforeAll(async () => {
  playground = createPlayground();
  state = playground.path('state');
  config = playground.write('gannet.yaml', configText('gannet.yaml'));
  const begun = Date.now();
  const daemon = playground.start(['run', '--json', '--config', config, '--state-dir', state, '--duration', '5m']);
  await daemon.until((stdout) => ['order', 'build'].every((route) =>
    jsonLines(stdout).some(confirmedBy(route))));
  startedInMs = Date.now() - begun;
  const trading = await daemonOf(daemon);
  children = [trading, ...childrenOf(trading)];
  await readControlApi(daemon.lines());
  // A few more market events, so that the recording holds more than one of everything.
  await daemon.until((stdout) => stdout.split('"state":"confirmed"').length > 3);
  daemon.signal('SIGINT');
  ended = await daemon.ended;
  lines = jsonLines(ended.stdout);
  runId = String(lines[0]!['run_id']);
}, 180_000);
afterAll(() => playground.close());

async function readControlApi([started]: readonly JsonLine[]): Promise<void> {
  const url = String(started!['control_url']);
  seen.state = document(await playground.run(['status', '--json', '--state-dir', state]));
  seen.text = (await playground.ask(['status', '--state-dir', state])).stdout;
  const { token } = JSON.parse(readFileSync(`${state}/control.json`, 'utf8')) as { token: string };
  const statusOf = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
    const { statusCode, body } = await request(`${url}${path}`, { headers });
    await body.dump();
    return statusCode;
  };
  const bearer = { authorization: `Bearer ${token}` };
  seen.health = await statusOf('/healthz');
  seen.noToken = await statusOf('/api/state');
  seen.wrongToken = await statusOf('/api/state', { authorization: 'Bearer guess' });
  seen.foreignHost = await statusOf('/api/state', { ...bearer, host: 'rebound.example' });
  seen.foreignOrigin = await statusOf('/healthz', { origin: 'https://page.example' });
  seen.nowhere = await statusOf('/api/nowhere', bearer);
}

describe('the default configuration, from a fresh state', () => {
  it('confirms a swap by /order and /execute and one by /build and the RPC, within 60 s', () => {
    expect(startedInMs).toBeLessThan(60_000);
    for (const route of ['order', 'build']) {
      expect(lines.find(confirmedBy(route))).toMatchObject({
        strategy: expect.stringMatching(/^dca-/), signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
        amount_in: '1000000', amount_out: expect.stringMatching(/^[1-9]\d*$/), router: expect.any(String),
      });
    }
  });

  it('begins with its description, and reports decisions with reasons and outcomes, in numbered lines', () => {
    expect(lines[0])
      .toMatchObject({ type: 'started', mode: 'live', wallet: expect.stringMatching(/^\w{32,44}$/), run_id: runId });
    expect(lines.every(({ type, at, seq }) =>
      typeof type === 'string' && typeof at === 'number' && typeof seq === 'number'))
      .toBe(true);
    const decision = lines.find(({ type }) => type === 'decision')!;
    expect(decision).toMatchObject({
      verdict: 'approved', code: null, h: expect.stringMatching(/^[0-9a-f]{64}$/),
      proposal: { reason: expect.stringMatching(/./) },
    });
    const states = lines.filter(({ type, intent_id: id }) => type === 'intent' && id === decision['intent_id'])
      .map((line) => line['state']);
    expect(states).toStrictEqual(['building', 'signed', 'submitted', 'confirmed']);
    const numbers = lines.map(({ seq }) => Number(seq));
    expect(numbers).toStrictEqual(numbers.toSorted((a, b) => a - b));
  });

  it('drains at Ctrl-C, ends with a summary and exit code 0, and leaves no process', () => {
    const summary = lines.at(-1)!;
    expect(ended.code, ended.stderr).toBe(0);
    expect(summary).toMatchObject({
      type: 'summary', run_id: runId, open: [], decision_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const confirmed = lines.filter(({ type, state: reached }) => type === 'intent' && reached === 'confirmed');
    expect(summary['intents']).toMatchObject({ confirmed: confirmed.length });
    expect(BigInt(String(summary['fees_lamports']))).toBeGreaterThanOrEqual(5_000n * BigInt(confirmed.length));
    // The service, the signer and the strategies.
    expect(children).toHaveLength(3);
    expect(children.filter(isRunning)).toStrictEqual([]);
  });

  it('issue 13.21: begins without a denial, because its strategies do not collide', () => {
    expect(lines.filter(({ type }) => type === 'denial')).toStrictEqual([]);
    expect(new Set(lines.filter(({ type }) => type === 'decision').map(({ strategy }) => strategy)))
      .toStrictEqual(new Set(['dca-sol', 'dca-pearl']));
  });

  it('leaves a journal, a manifest, decisions and a recording', () => {
    const files = filesIn(state);
    expect(files).toEqual(expect.arrayContaining([
      'journal.sqlite', `runs/${runId}/manifest.json`, `runs/${runId}/decisions.ndjson`,
      `recordings/${runId}/manifest.json`,
    ]));
    const decisions = jsonLines(readFileSync(`${state}/runs/${runId}/decisions.ndjson`, 'utf8'));
    expect(decisions).toHaveLength(lines.filter(({ type }) => type === 'decision' || type === 'denial').length);
    expect(Object.keys(decisions[0]!).sort())
      .toStrictEqual(['at', 'code', 'h', 'proposal', 'seq', 'strategy', 'verdict']);
    expect(decisions.at(-1)!['h']).toBe(lines.at(-1)!['decision_hash']);
    expect(files).not.toContain('control.json');
  });
});

describe('issue 13.28: the log file of a run', () => {
  it('has the start, each decision and denial, each step of each swap, and the summary', () => {
    const logged = jsonLines(
      readFileSync(`${state}/logs/${runId}.log`, 'utf8'),
    ) as readonly (JsonLine & { readonly message?: string })[];
    const told = counted(lines.map(({ type }) => String(type)));
    const kept = counted(logged.map(({ message }) => String(message).split(' ')[0]!));
    for (const type of ['started', 'decision', 'intent', 'summary'] as const) expect(kept[type], type).toBe(told[type]);
    expect(kept['denial'] ?? 0).toBe(told['denial'] ?? 0);
    expect(logged.find(({ message, ...row }) => message?.startsWith('intent') === true && row['state'] === 'confirmed'))
      .toMatchObject({ intent_id: expect.any(String), signature: expect.any(String) });
  });
});

describe('issue 13.38: the files of a run', () => {
  it('are for the owner alone: files 0600 in folders 0700', () => {
    const open = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('locks/'))
      .map((name) => `${state}/${name}`).concat(state).flatMap((path) => {
        const stats = statSync(path);
        return (stats.mode & 0o777) === (stats.isDirectory() ? 0o700 : 0o600) ? []
          : [`${path}: ${(stats.mode & 0o777).toString(8)}`];
      });
    expect(open).toEqual([]);
    expect(filesIn(state)).toEqual(expect.arrayContaining([expect.stringMatching(/^logs\/.*\.log$/)]));
  });
});

describe('the control API of a running daemon', () => {
  it('shows the state as JSON and as text', () => {
    expect(seen.state).toMatchObject({
      run_id: runId, mode: 'live', phase: 'trading', intents: { counts: { confirmed: expect.any(Number) } },
    });
    expect(seen.text).toContain(runId);
    expect(seen.text).toMatch(/dca-sol\s+dca\s+trading/);
    expect(seen.text).toContain('confirmed');
  });

  it('answers /healthz without a token, needs it for the rest, and refuses foreign web pages', () => {
    expect(seen).toMatchObject({
      health: 200, noToken: 401, wrongToken: 401, foreignHost: 403, foreignOrigin: 403, nowhere: 404,
    });
  });

  it('ends with the daemon, and status reports that', async () => {
    const answer = await playground.ask(['status', '--state-dir', state]);
    expect(answer.code).toBe(1);
    expect(answer.stderr).toContain('no daemon runs');
  });
});

const replay = (stateDir: string): Promise<Ended> =>
  playground.ask(['replay', runId, '--json', '--state-dir', stateDir]);

describe('a replay of the run', () => {
  it('makes the same decisions with the same hash', async () => {
    const answer = await replay(state);
    expect(answer.code, answer.stderr).toBe(0);
    const hash = lines.at(-1)!['decision_hash'];
    expect(document(answer)).toMatchObject({
      match: true, decision_hash: hash, recorded_hash: hash, first_divergence: null,
      decisions: lines.at(-1)!['decisions'],
    });
    expect(Number(lines.at(-1)!['decisions'])).toBeGreaterThanOrEqual(3);
  });

  it('does the same in another folder, time zone and locale, by a path, without a service', async () => {
    const elsewhere = copyOf(playground, state, 'elsewhere');
    const environment = { TZ: 'Asia/Kathmandu', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' };
    const answer = await playground.run(['replay', `${elsewhere}/runs/${runId}`, '--json'], { environment, cwd: '/' });
    expect(answer.code, answer.stderr).toBe(0);
    expect(document(answer)).toMatchObject({ match: true, decision_hash: lines.at(-1)!['decision_hash'] });
  });

  it('prints that as text', async () => {
    const answer = await playground.ask(['replay', runId, '--state-dir', state]);
    expect(answer.stdout).toContain('the same');
    expect(answer.stdout).toContain(String(lines.at(-1)!['decision_hash']));
  });

  it('names a strategy whose code is not that of the run', async () => {
    const edited = copyOf(playground, state, 'edited');
    const file = `${edited}/runs/${runId}/manifest.json`;
    const text = readFileSync(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ strategy_code: { isolation: 'shared', sha256: {
      'dca-sol': expect.stringMatching(/^[0-9a-f]{64}$/), 'sol-dip': expect.stringMatching(/^[0-9a-f]{64}$/),
    } } });
    writeFileSync(file, text.replace(/("sol-dip": ")[0-9a-f]{64}/, `$1${'0'.repeat(64)}`));
    const { warnings } = document(await replay(edited)) as { readonly warnings: readonly string[] };
    expect(warnings.filter((warning) => warning.includes('code of strategy')))
      .toEqual(['the code of strategy sol-dip has changed since the run: this may cause a difference']);
  });

  it('detects one changed byte in each file of the recording', async () => {
    const files = filesIn(`${state}/recordings/${runId}`);
    expect(files.filter((file) => /\.arrows?(?:\.zst)?$/.test(file)).length).toBeGreaterThanOrEqual(3);
    const answers = await Promise.all(files.map(async (file, index) => {
      const spoilt = copyOf(playground, state, `spoilt-${index}`);
      flipByte(`${spoilt}/recordings/${runId}/${file}`);
      return { file, ...await replay(spoilt) };
    }));
    for (const { file, code, stdout, stderr } of answers) {
      expect([1, 2], `${file}: ${stdout}`).toContain(code);
      const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
      expect(error.code, `${file}: ${stdout} ${stderr}`).toMatch(/^RECORDING_/);
      expect(error.message, file).toMatch(/manifest\.json|digests\.ndjson|\.arrows?/);
    }
  });

  it('detects one changed byte anywhere in the decisions', async () => {
    const spoilt = copyOf(playground, state, 'spoilt-decisions');
    const file = `${spoilt}/runs/${runId}/decisions.ndjson`;
    const original = readFileSync(file, 'utf8');
    for (const [from, to] of [
      ['"verdict":"approved"', '"verdict":"approwed"'], ['every 10s', 'every 11s'], [/"h":"./, '"h":"x'],
    ] as const) {
      expect(original).toMatch(from);
      writeFileSync(file, original.replace(from, to));
      const answer = await replay(spoilt);
      expect([1, 2], `${from}: ${answer.stdout}`).toContain(answer.code);
    }
  });
});

const backtest = (file: string, command: 'ask' | 'run' = 'ask'): Promise<Ended> =>
  playground[command](['backtest', file, '--recording', runId, '--json', '--state-dir', state]);

describe('a backtest on the recording of the run', () => {
  it('runs the same strategies, twice to the same hash', async () => {
    const [first, second] = await Promise.all([backtest(config, 'run'), backtest(config)]);
    expect(first.code, first.stderr + first.stdout).toBe(0);
    expect(document(first)).toMatchObject({
      decision_hash: expect.stringMatching(/^[0-9a-f]{64}$/), events: expect.any(Number), equity: { currency: 'USDC' },
    });
    expect(Number(document(first)['events'])).toBeGreaterThan(0);
    expect(Number(document(first)['decisions'])).toBeGreaterThan(0);
    expect(document(second)['decision_hash']).toBe(document(first)['decision_hash']);
  });

  it('is refused with the missing feed where a strategy needs one that was not recorded', async () => {
    const other =
      playground.write('other.yaml', configText('gannet.yaml', [['SPRINGTIDE-26DEC31', 'NEAPTIDE-26DEC31']]));
    const answer = await backtest(other);
    expect(answer.code).toBe(2);
    // Which pair comes first depends on which quote the service answered first.
    expect(document(answer)['error']).toMatchObject({ code: 'RECORDING_INCOMPLETE', message: expect.stringMatching(
      /lacks what the strategies watch: the order book of NEAPTIDE-26DEC31\. It holds .*price of 1 and 25 USDC in SOL/,
    ) });
  });

  it('is refused for an unknown recording', async () => {
    const answer = await playground.ask(['backtest', config, '--recording', 'nowhere', '--json', '--state-dir', state]);
    expect(answer.code).toBe(2);
    expect(document(answer)['error'])
      .toMatchObject({ code: 'RECORDING_NOT_FOUND', message: expect.stringContaining('nowhere') });
  });
});
