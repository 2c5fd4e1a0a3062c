import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, JsonLine, Playground } from './gannet.ts';
import { configText, createPlayground, document, filesIn, startSandbox } from './gannet.ts';

let playground: Playground;
let config: string;
let owner: string;
const environment = { GANNET_API_KEY: 'service-commands' };
const SOL = 'So11111111111111111111111111111111111111112';

beforeAll(async () => {
  playground = createPlayground();
  const line = await startSandbox(playground, 9, '--speed', '0');
  owner = line.wallet.address;
  config = playground.write('paper.yaml', `mode: paper
service: { base_url: "${line.base_url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${line.rpc_url}" }
wallet: { address: ${owner} }
control: { port: 0 }
strategies: [{ use: book-watch, params: { market: SPRINGTIDE-26DEC31, level: 0.6, rearm: 0.5 } }]
`);
});

afterAll(async () => {
  await playground.close();
});

const within = (args: readonly string[]): string[] =>
  [...args, '--config', config, '--state-dir', playground.path('state')];
const gannet = (...args: readonly string[]): Promise<Ended> => playground.ask(within(args), { environment });

describe('gannet swap', () => {
  it('swaps once on the embedded chain, prints the transitions, and can be replayed', async () => {
    const live = playground.write('live.yaml', configText('gannet.yaml'));
    const args = ['--config', live, '--state-dir', playground.path('swap')];
    const swapped = await playground.run(['swap', 'USDC', 'SOL', '25', '--json', ...args]);
    expect(swapped.code, swapped.stdout + swapped.stderr).toBe(0);
    const swap = document(swapped);
    expect(swap).toMatchObject({
      state: 'confirmed', route: 'order', amount_in: '25000000', amount_out: expect.stringMatching(/^\d+$/),
      signature: expect.any(String), denial: null,
    });
    expect((swap['journey'] as readonly JsonLine[]).map(({ state }) => state))
      .toEqual(['building', 'signed', 'submitted', 'confirmed']);
    const replayed = await playground.ask(['replay', String(swap['run_id']), '--json', ...args]);
    expect(document(replayed)).toMatchObject({ match: true, decisions: 1 });
  });

  it('is refused by a limit, and names it', async () => {
    const refused = await gannet('swap', 'USDC', 'SOL', '1000000', '--json');
    expect(refused.code).toBe(1);
    expect(document(refused)).toMatchObject({ denial: { code: 'BALANCE_INSUFFICIENT' }, journey: [] });
  });

  it('exits with 3 while trading is halted', async () => {
    playground.write('halted/STOP', 'manual');
    const refused = await playground.ask(
      ['swap', 'USDC', 'SOL', '1', '--json', '--config', config, '--state-dir', playground.path('halted')],
      { environment },
    );
    expect(refused.code).toBe(3);
    expect(document(refused)).toMatchObject({ denial: { code: 'TRADING_HALTED' }, journey: [] });
  });

  it.each([
    [['swap', 'USDC', 'USDC', '1'], 'two different tokens'],
    [['swap', 'USDC', 'DOGE', '1'], 'one of the configured tokens'],
    [['swap', 'USDC', 'SOL', '0'], 'more than 0'],
    [['swap', 'USDC', 'SOL', '1', '--slippage-bps', '10001'], 'a whole number from 0 to 10000'],
  ])('refuses %j with exit code 2, and nothing is begun', async (args, words) => {
    const answer = await playground.ask(
      [...args, '--json', '--config', config, '--state-dir', playground.path('untouched')], { environment },
    );
    expect(answer.code).toBe(2);
    expect(document(answer)['error']).toMatchObject({ message: expect.stringContaining(words) });
    expect(filesIn(playground.path('untouched')).filter((file) => file.startsWith('runs'))).toEqual([]);
  });
});

describe('issue 13.25: the output on a terminal of 80 columns', () => {
  it.each([
    [['help']], [['run', '--help']], [['help', 'swap']], [['v1', 'swap', '--help']], [['tokens', 'SOL', 'USDC']],
    [['discover', 'recent']], [['discover', 'content', SOL]], [['events', 'search', 'a']],
    [['markets', 'REGATTA27', '--all']], [['order-book', 'REGATTA27-01']], [['positions']],
    [['history']], [['wallet']], [['quote', 'USDC', 'SOL', '100']], [['order', 'USDC', 'SOL', '100']],
    [['build', 'USDC', 'SOL', '100']], [['v1', 'quote', 'USDC', 'SOL', '100']], [['v1', 'program-id-to-label']],
    [['config', 'check']], [['swap', 'USDC', 'SOL', '5', '--dry-run']],
    [['quote', 'UDSC', 'SOL', '1']],
  ])('%j fits, and no word of it is broken', async (args) => {
    const answer = (columns: string): Promise<Ended> => playground.ask(
      args[0] === 'help' || args.includes('--help') ? args : within(args),
      { environment: { ...environment, COLUMNS: columns } },
    );
    const [narrow, wide] = await Promise.all([answer('80'), answer('4000')]);
    const words = [...new Set(`${wide.stdout}${wide.stderr}`.split(/\s+/))];
    for (const line of `${narrow.stdout}${narrow.stderr}`.split('\n'))
      expect(line.length, line).toBeLessThanOrEqual(80);
    // The first part of a broken word is the beginning of a whole one.
    const broken = `${narrow.stdout}${narrow.stderr}`.split(/\s+/)
      .filter((word) => word.length > 8 && !words.includes(word) && words.some((whole) => whole.startsWith(word)));
    expect(broken).toEqual([]);
  });
});

describe('issue 13.27: an omitted wallet', () => {
  it('is the configured one for build and for lend earnings', async () => {
    const [build, earnings] = await Promise.all([
      gannet('build', 'SOL', 'USDC', '1', '--json'), gannet('lend', 'earnings', '--positions', owner, '--json'),
    ]);
    expect(build.code, build.stdout).toBe(0);
    expect(build.stdout).toContain(owner);
    expect([earnings.code, earnings.stdout], earnings.stderr).toEqual([0, expect.stringMatching(/^\[/)]);
  });
});

describe('issue 13.27: values that are too large', () => {
  it.each([
    [['run', '--duration', '99999999999999d'], 'the duration is too large: expected at most 100000000d'],
    [
      ['quote', 'USDC', 'SOL', '999999999999999999999999'],
      'the amount is too large: expected at most 18446744073709.551615',
    ],
    [
      ['order', 'USDC', 'SOL', '1', '--priority-fee-lamports', '18446744073709551616'],
      'the amount is too large: expected at most 18446744073709551615',
    ],
    [['order', 'USDC', 'SOL', '1', '--slippage-bps', '99999999999999999999999'], 'the number is too large'],
  ])('%j says so', async (args, words) => {
    const answer = await gannet(...args, '--json');
    expect(answer.code).toBe(2);
    expect(document(answer)['error']).toMatchObject({ message: expect.stringContaining(words) });
  });
});

describe('gannet order and build', () => {
  it('return a transaction or its instructions, with costs and payer', async () => {
    const [order, build, words] = await Promise.all([
      playground.run(within([
        'order', 'SOL', 'USDC', '1', '--taker', owner, '--slippage-bps', '30', '--exclude-routers', 'rfqz', '--json',
      ]), { environment }),
      gannet('build', 'SOL', 'USDC', '1', '--taker', owner, '--json'),
      gannet('order', 'SOL', 'USDC', '1', '--taker', owner),
    ]);
    expect(document(order)).toMatchObject({
      mode: 'manual', slippage_bps: 30, transaction: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      signature_fee_payer: owner, request_id: expect.any(String),
    });
    expect(document(build)).toMatchObject({
      swap_instruction: { program_id: expect.any(String) }, blockhash: expect.any(String),
      lookup_tables: expect.any(Object),
    });
    expect(words.stdout).toMatch(/you pay +1 SOL +\$\d/);
    expect(words.stdout).toMatch(/transaction +\d+ bytes to sign/);
  });

  it('refuse invalid requests before they are sent, with the rule', async () => {
    const answer = await gannet('order', 'SOL', 'USDC', '1', '--taker', owner, '--receiver', owner, '--json');
    expect(answer.code).toBe(2);
    expect(document(answer)['error']).toMatchObject({
      code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining('receiver: must differ from taker'),
    });
  });
});

describe('gannet v1', () => {
  it('quotes, and builds a transaction from the printed quote', async () => {
    const quote = await gannet('v1', 'quote', 'SOL', 'USDC', '1', '--json');
    const file = playground.write('quote.json', quote.stdout);
    const [swap, instructions, words] = await Promise.all([
      gannet('v1', 'swap', '--quote', file, '--user-public-key', owner, '--json'),
      gannet('v1', 'swap-instructions', '--quote', file, '--user-public-key', owner, '--json'),
      gannet('v1', 'quote', 'SOL', 'USDC', '100', '--swap-mode', 'ExactOut'),
    ]);
    expect(document(swap))
      .toMatchObject({ swapTransaction: expect.any(String), lastValidBlockHeight: expect.any(String) });
    expect(document(instructions)).toMatchObject({ swapInstruction: { programId: expect.any(String) } });
    expect(words.stdout).toMatch(/you get +100 USDC\n +at most +\d/);
  });

  describe('issue 13.31: the rules of a swap that need the quote apply in another process', () => {
    it.each([
      ['a platform fee of nothing', ['--platform-fee-bps', '0'], [], 'required where platformFeeBps was passed'],
      ['a quote without tables', ['--as-legacy-transaction', 'true'], [], 'asLegacyTransaction: must match the quote'],
      ['a versioned quote', [], ['--as-legacy-transaction', 'true'], 'asLegacyTransaction: must match the quote'],
      ['a quote for V1 instructions', [], ['--native-destination-account', SOL], 'only with V2 instructions'],
    ])('%s is refused before it leaves', async (name, asked, given, words) => {
      const quote = await gannet('v1', 'quote', 'USDC', 'SOL', '1', ...asked, '--json');
      const kept = playground.write(`${name}.json`, quote.stdout);
      for (const command of ['swap', 'swap-instructions']) {
        const refused = await gannet('v1', command, '--quote', kept, '--user-public-key', owner, ...given, '--json');
        expect(refused.code).toBe(2);
        const error = { code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) };
        expect(document(refused)['error']).toMatchObject(error);
      }
    });

    it('a valid swap is built, also from JSON that another program indented', async () => {
      const unversioned = ['--as-legacy-transaction', 'true', '--json'];
      const run = (...args: readonly string[]): Promise<Ended> =>
        playground.run(within([...args, ...unversioned]), { environment });
      const printed = document(await run('v1', 'quote', 'USDC', 'SOL', '1'));
      expect(printed['gannetRequest']).toEqual({ asLegacyTransaction: true });
      const kept = playground.write('indented.json', JSON.stringify(printed, null, 2));
      const made = await run('v1', 'swap', '--quote', kept, '--user-public-key', owner);
      expect(made.code, made.stderr).toBe(0);
      expect(document(made)).toMatchObject({ swapTransaction: expect.any(String) });
    });
  });

  it('names the expected form for an invalid quote', async () => {
    const answer = await gannet(
      'v1', 'swap', '--quote', playground.write('none.json', '{"quote":1}'), '--user-public-key', owner, '--json',
    );
    expect(answer.code).not.toBe(0);
    expect(document(answer)['error']).toMatchObject({ message: expect.stringContaining('expected') });
  });
});

describe('the prediction commands', () => {
  it('issue 13.31: ask one provider, and name it where they find nothing', async () => {
    const [found, none, words, other] = await Promise.all([
      gannet('events', 'search', 'pearl'), gannet('events', 'search', 'tide', '--json'),
      gannet('events', 'search', 'tide'),
      gannet('events', 'search', 'pearl', '--provider', 'provider_a'),
    ]);
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining('Where does PEARL end the quarter?')]);
    expect(none.code).toBe(1);
    expect(document(none)).toEqual({ data: [], provider: 'provider_b', other_providers: ['provider_a'] });
    const say = 'no event of provider_b matches, and the other providers were not asked: add --provider provider_a';
    expect([words.code, words.stdout.replace(/\s+/g, ' ').trim()]).toEqual([1, say]);
    expect(other.stdout).toContain('no event of provider_a matches');
  });

  it('find an event, list its markets, and read all pages of a list', async () => {
    const events = document(
      await gannet('events', 'search', 'tide', '--provider', 'provider_a', '--json'),
    )['data'] as readonly JsonLine[];
    const [markets, page, all] = await Promise.all([
      gannet('markets', String(events[0]!['eventId']), '--json'), gannet('history', '--json'),
      gannet('history', '--limit', '45', '--json'),
    ]);
    expect((document(markets)['data'] as readonly JsonLine[]).length).toBeGreaterThan(0);
    const first = document(page) as JsonLine & { data: readonly JsonLine[]; pagination: JsonLine };
    expect(first.pagination).toMatchObject({ start: 0, hasNext: true });
    const many = document(all)['data'] as readonly JsonLine[];
    expect(many).toHaveLength(45);
    expect(new Set(many.map(({ id }) => id)).size).toBe(45);
    expect(many.every(({ ownerPubkey }) => ownerPubkey === owner)).toBe(true);
  });

  it('show one position, and refuse conflicting flags', async () => {
    const [list, both] =
      await Promise.all([gannet('positions', '--json'), gannet('positions', '--all', '--start', '3', '--json')]);
    const [position] = document(list)['data'] as readonly JsonLine[];
    const one = await gannet('positions', String(position!['pubkey']));
    expect(one.stdout).toContain(String(position!['pubkey']));
    expect(one.stdout).toMatch(/contracts +\d/);
    expect(both.code).toBe(2);
    expect(document(both)['error']).toMatchObject({ code: 'USAGE' });
  });
});
