import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox/service/sandbox-client.ts';
import { recompile, decompile, type Parts } from '../signer/policy/decompile.ts';
import { system, u64 } from '../signer/policy/raw-instructions.ts';
import type { Ended, JsonLine, Playground } from './gannet.ts';
import { createPlayground, jsonLines, PROJECT } from './gannet.ts';

let playground: Playground;
let sandbox: TestSandbox;
let order: Answer['body'];
let wallet: string;
let expectFile: string;
let parts: Parts;
let stolen: string;
beforeAll(async () => {
  playground = createPlayground();
  sandbox = await startTestSandbox({ speed: 0 });
  wallet = sandbox.wallet.address;
  order = (await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '25000000', taker: wallet })).body;
  expectFile = playground.write('expect.json', expectation());
  const table = (
    await sandbox.get('/swap/v2/build', { inputMint: SOL, outputMint: USDC, amount: '1000000', taker: wallet })
  ).body.addressesByLookupTableAddress;
  parts =
    decompile(Buffer.from(order.transaction, 'base64'), new Map(Object.entries(table as Record<string, string[]>)));
  const theft = system(2, [u64(1_000_000_000n)], [[wallet, 'sw'], [order.maker ?? USDC, 'w']]);
  stolen = Buffer.from(recompile({ ...parts, instructions: [...parts.instructions, theft] }, 'legacy').bytes)
    .toString('base64');
});
afterAll(async () => {
  await Promise.all([playground.close(), sandbox.close()]);
});

function expectation(changes: object = {}): string {
  return JSON.stringify({
    input_mint: USDC, output_mint: SOL, amount_in: '25000000', minimum_out: order.otherAmountThreshold,
    max_fee_lamports: '100000', ...changes,
  });
}

const inspect = (transaction: string, ...args: string[]): Promise<Ended> =>
  playground.ask([
    'inspect-transaction', transaction, '--wallet', wallet, '--rpc-url', sandbox.addresses.rpc_url, ...args,
  ]);

function document(stdout: string): JsonLine {
  const lines = jsonLines(stdout);
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

describe('gannet inspect-transaction', () => {
  it('allows an order within the expectation, with its lookup table from the chain', async () => {
    const { code, stdout } = await inspect(order.transaction, '--expect', expectFile, '--json');
    const answer = document(stdout);
    expect(code).toBe(0);
    expect(Object.keys(answer)).toEqual(['verdict', 'code', 'findings', 'summary']);
    expect(answer).toMatchObject({
      verdict: 'allow', code: null, findings: [],
      summary: {
        terms: 'expected', fee_payer: wallet, signers: [wallet],
        swap: { input_mint: USDC, output_mint: SOL, amount_in: '25000000', minimum_out: order.otherAmountThreshold },
        costs: {
          fee_lamports: String(order.signatureFeeLamports + order.prioritizationFeeLamports), paid_by_wallet: true,
        },
      },
    });
  });

  it('prints text with the verdict first', async () => {
    const { code, stdout } = await inspect(order.transaction, '--expect', expectFile);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}verdict +allow\n/);
    expect(stdout).toMatch(new RegExp(`signs +${wallet}, the wallet, pays the fee\n`));
    expect(stdout).toMatch(/swaps 25000000 units of \w+ of the wallet to at least \d+ units of wrapped SOL/);
    expect(stdout).toMatch(/fee +0\.0000\d+ SOL/);
  });

  it('reads version 1, and prints its budget', async () => {
    const version1 = recompile(
      {
        ...parts, instructions: parts.instructions.filter(({ programId }) => !programId.startsWith('ComputeBudget')),
        config: { computeUnitLimit: 300_000, loadedAccountsDataSizeLimit: 1_000_000, priorityFeeLamports: 77n },
      }, 'written',
    );
    const text = Buffer.from(version1.bytes).toString('base64');
    const [json, shown] =
      await Promise.all([inspect(text, '--expect', expectFile, '--json'), inspect(text, '--expect', expectFile)]);
    expect(document(json.stdout)).toMatchObject({ verdict: 'allow', summary: {
      version: 1, config: { priority_fee_lamports: '77', unit_limit: 300_000, loaded_bytes: 1_000_000 },
      costs: { fee_lamports: '5077' },
    } });
    expect(shown.stdout).toMatch(/budget +offers 0\.000000077 SOL for priority\n +asks for at most 300000 compute/);
    expect(shown.stdout).toMatch(/form +version 1, \d+ bytes/);
  });

  it('denies others with exit code 1, and names the rule and the instruction', async () => {
    const [less, theft, unexpected] = await Promise.all([
      inspect(
        order.transaction, '--expect', playground.write('more.json', expectation({ minimum_out: '999999999999' })),
        '--json',
      ),
      inspect(stolen, '--expect', expectFile, '--json'),
      inspect(stolen, '--json'),
    ]);
    expect([less.code, document(less.stdout)])
      .toEqual([1, expect.objectContaining({ verdict: 'deny', code: 'SWAP_MINIMUM_BELOW' })]);
    for (const { code, stdout } of [theft, unexpected]) {
      const answer = document(stdout);
      expect([code, answer['code']]).toEqual([1, 'TRANSFER_DESTINATION']);
      expect(answer['findings']).toEqual([{
        code: 'TRANSFER_DESTINATION', instruction: expect.any(Number),
        message: expect.stringContaining('1000000000 lamports'),
      }]);
    }
  });

  it('denies unreadable transactions, and those without a swap', async () => {
    const [garbage, long] = await Promise.all([inspect('AAAA', '--json'), inspect('A'.repeat(1_648), '--json')]);
    expect([garbage.code, document(garbage.stdout)])
      .toEqual([1, { verdict: 'deny', code: 'BYTES_NOT_CANONICAL', findings: [expect.anything()], summary: null }]);
    expect([long.code, document(long.stdout)['code']]).toEqual([1, 'SIZE_EXCEEDED']);
    const payment = recompile(
      { payer: wallet, blockhash: USDC, instructions: [system(2, [u64(1n)], [[wallet, 'sw'], [USDC, 'w']])] },
      'written',
    );
    const { code, stdout } = await inspect(Buffer.from(payment.bytes).toString('base64'));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^ {2}verdict +deny, SWAP_MISSING\n/)]);
  });

  it('reads from standard input without an argument', async () => {
    const child = spawn(join(PROJECT, 'bin', 'gannet'), ['inspect-transaction', '--wallet', wallet, '--json'], {
      cwd: playground.dir, stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(`${stolen}\n`);
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
    const [code] = await once(child, 'close') as [number];
    expect([code, document(stdout)['code']]).toEqual([1, 'TRANSFER_DESTINATION']);
  });

  it('exits with 2 on missing or invalid options', async () => {
    const runs = await Promise.all([
      playground.ask(['inspect-transaction', order.transaction]),
      playground.ask(['inspect-transaction', order.transaction, '--wallet', 'me']),
      inspect('not base64!'),
      playground.run(['inspect-transaction', '--wallet', wallet]),
      inspect(order.transaction, '--expect', playground.path('nowhere.json')),
      inspect(order.transaction, '--expect', playground.write('odd.json', expectation({ minimum: '1' }))),
      inspect(order.transaction, '--expect', playground.write('signed.json', expectation({ amount_in: '-1' }))),
    ]);
    expect(runs.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 2]);
    expect(runs[6].stderr).toContain('amount_in: expected a whole number in smallest units');
  });
});
