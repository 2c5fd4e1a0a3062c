import { mkdirSync, rmSync } from 'node:fs';
import {
  NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID, createAssociatedTokenAccountIdempotentInstruction,
  createSyncNativeInstruction, getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { openJournalReader } from '../../src/store/journal-reader.ts';
import { openJournal } from '../../src/store/journal.ts';
import { intentOf, wallClock } from '../store/sample-intents.ts';
import type { Ended, Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, startSandbox } from './gannet.ts';

const BUOY = 'BuoyHJCtC7kycWMhouUyksdYbQpLw2hw471cG3hhu9s';
/** Of an account of the newer token program. */
const DEPOSIT = 2_074_080n;
const TOKEN_ACCOUNT_RENT = 2_039_280n;

let playground: Playground;
let sandbox: Running;
let addresses: SandboxAddresses;
let config: string;
let known: string;
let paper: string;

beforeAll(async () => {
  playground = createPlayground();
  // Transactions land fast and prices do not move.
  ({ running: sandbox, ...addresses } = await startSandbox(playground, 5, '--speed', '0'));
  config = configOf('live');
  known = configOf('live', `, address: ${addresses.wallet.address}`);
  paper = configOf('paper');
});
afterAll(async () => {
  sandbox.signal('SIGTERM');
  await sandbox.ended;
  await playground.close();
});

/** A service and a chain of another process on this machine are as real as any. */
function configOf(mode: string, address = ''): string {
  return playground.write(`${mode}${address === '' ? '' : '-known'}.yaml`, `mode: ${mode}
service: { base_url: "${addresses.base_url}", requests_per_second: 50 }
chain: { rpc_url: "${addresses.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY${address} }
control: { port: 0 }
tokens: { BUOY: ${BUOY} }
signer: { caps: { USDC: { per_trade: "20", per_day: "100" }, SOL: { per_trade: "1", per_day: "5" },
    BUOY: { per_trade: "100", per_day: "1000" } } }
risk: { max_trade: "20 USDC", max_swaps: { per_day: 20 }, protections: [{ kind: daily_loss, limit: "25 USDC",
    action: halt }] }
strategies: [{ use: dca, name: dca-sol, budget: "50 USDC", params: { buy: SOL, spend: "5 USDC", every: 1h,
    watch: 1s } }]
`);
}

const environment = (): Record<string, string> =>
  ({ GANNET_API_KEY: 'a-key-for-the-sandbox', GANNET_WALLET_KEY: addresses.wallet.private_key });
const withFile = (file: string, state: string, args: readonly string[]): string[] =>
  [...args, '--json', '--config', file, '--state-dir', playground.path(state)];
const gannet = (...args: string[]): Promise<Ended> =>
  playground.run(withFile(config, 'state', args), { environment: environment() });
/** Of a command that comes to no signing and need not ask the key whose it is. */
const ask = (...args: string[]): Promise<Ended> =>
  playground.ask(withFile(known, 'state', args), { environment: environment() });

interface Shown {
  readonly address: string;
  readonly sol: { readonly native: string; readonly wrapped: string };
  readonly deposits_lamports: string;
  readonly accounts: readonly { readonly mint: string; readonly amount: string; readonly symbol: string | null }[];
}
const wallet = async (): Promise<Shown> => document(await ask('wallet')) as unknown as Shown;

async function swap(
  ...args: string[]
): Promise<{ readonly amountOut: bigint; readonly fee: bigint; readonly rent: bigint }> {
  const swapped = await gannet('swap', ...args, '--live', '--yes');
  expect(swapped.code, swapped.stdout + swapped.stderr).toBe(0);
  const journal = openJournalReader(playground.path('state', 'journal.sqlite'))!;
  const story = journal.show(String(document(swapped)['intent_id']))!;
  journal.close();
  return { amountOut: BigInt(story.amount_out!), fee: BigInt(story.fee_lamports!), rent: BigInt(story.rent_lamports!) };
}

describe('the deposits of a wallet', () => {
  it('come back to the lamport after buying, selling all and closing, less the fees', async () => {
    const before = document(await gannet('wallet')) as unknown as Shown;
    expect(before).toMatchObject({ address: addresses.wallet.address });
    const bought = await swap('USDC', 'BUOY', '5');
    expect(bought.rent).toBe(DEPOSIT);
    const between = await wallet();
    expect(between.accounts).toContainEqual(expect.objectContaining({
      mint: BUOY, symbol: 'BUOY', amount: String(bought.amountOut), deposit_lamports: String(DEPOSIT),
      token_program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    }));
    expect(BigInt(between.deposits_lamports) - BigInt(before.deposits_lamports)).toBe(DEPOSIT);
    const sold = await swap('BUOY', 'USDC', String(Number(bought.amountOut) / 1e6));

    const tried = await ask('wallet', 'close-empty', '--dry-run');
    expect([tried.code, document(tried)], tried.stderr).toMatchObject([
      0, { dry_run: true, back_lamports: String(DEPOSIT), accounts: [{ mint: BUOY, state: 'closable' }] },
    ]);
    const closed = await gannet('wallet', 'close-empty', '--yes', '--live');
    expect(closed.code, closed.stdout + closed.stderr).toBe(0);
    const told = document(closed);
    expect(told).toMatchObject({ dry_run: false, back_lamports: String(DEPOSIT), accounts: [
      { mint: BUOY, state: 'closed', back_lamports: String(DEPOSIT), signature: expect.any(String) as string },
    ] });

    const after = await wallet();
    const fees = bought.fee + sold.fee + BigInt(String(told['fee_lamports']));
    expect(BigInt(before.sol.native) - BigInt(after.sol.native)).toBe(fees);
    expect(after.deposits_lamports).toBe(before.deposits_lamports);
    expect(after.accounts.map(({ mint }) => mint)).not.toContain(BUOY);
    // What holds tokens was never in question.
    expect(after.accounts.length).toBe(before.accounts.length);
  });

  it('stay without --live, on paper, without a confirmation, and while a swap is open', async () => {
    mkdirSync(playground.path('open'));
    const journal = openJournal({ path: playground.path('open', 'journal.sqlite'), clock: wallClock });
    journal.intentApproved(intentOf(1));
    journal.close();
    await emptyAccount();
    const [notLive, onPaper, unasked, open] = await Promise.all([
      ask('wallet', 'close-empty', '--yes'), playground.ask(
        withFile(paper, 'paper', ['wallet', 'close-empty', '--yes', '--live']), { environment: environment() },
      ), ask('wallet', 'close-empty', '--live'), playground.run(
        withFile(config, 'open', ['wallet', 'close-empty', '--yes', '--live']), { environment: environment() },
      ),
    ]);
    expect([open.code, document(open)], open.stderr).toMatchObject([
      2,
      { error: { code: 'STATE_LOCKED', message: expect.stringContaining('dca-1 is still open (approved)') as string } },
    ]);
    expect([notLive.code, document(notLive)]).toMatchObject([
      2, { error: { code: 'LIVE_REFUSED', message: expect.stringContaining('add --live') as string } },
    ]);
    expect([onPaper.code, document(onPaper)]).toMatchObject([
      2, { error: { code: 'LIVE_REFUSED', message: expect.stringContaining('mode: paper') as string } },
    ]);
    expect([unasked.code, document(unasked)])
      .toMatchObject([2, { error: { code: 'USAGE', message: expect.stringContaining('--yes') as string } }]);
    expect((await wallet()).accounts).toContainEqual(expect.objectContaining({ mint: BUOY, amount: '0' }));
  });
});

describe('wrapped SOL', () => {
  it('stays, shown apart and in the ledger of a running daemon with the wallet’s lock; --unwrap frees it', async () => {
    await wrapped(30_000_000n);
    const before = await wallet();
    expect(before.sol.wrapped).toBe('30000000');
    const kept = await ask('wallet', 'close-empty', '--dry-run');
    expect((document(kept)['accounts'] as readonly { readonly mint: string }[]).map(({ mint }) => mint))
      .not.toContain(NATIVE_MINT.toBase58());

    // Halted, so that nothing but what others did moves the ledger.
    playground.write('state/STOP', '');
    const daemon = playground.start(withFile(config, 'state', ['run', '--live']), { environment: environment() });
    await daemon.until((stdout) => stdout.includes('"type":"started"'));
    const total = String(BigInt(before.sol.native) + 30_000_000n);
    await expect.poll(
      async () => (document(await ask('status'))['wallet'] as Readonly<Record<string, string>>)[NATIVE_MINT.toBase58()],
      { timeout: 20_000, interval: 100 },
    ).toBe(total);
    // Its state directory, and from any other one its wallet.
    const locked = await Promise.all([
      gannet('wallet', 'close-empty', '--yes', '--live', '--unwrap'),
      playground.run(withFile(config, 'another', ['wallet', 'close-empty', '--yes', '--live', '--unwrap']), {
        environment: environment(),
      }),
    ]);
    for (const refused of locked) {
      expect([refused.code, document(refused)], refused.stderr).toMatchObject([2, { error: {
        code: 'STATE_LOCKED',
        message: expect.stringContaining(`process ${await daemonOf(daemon)}; stop it first`) as string,
      } }]);
    }
    daemon.signal('SIGINT');
    await daemon.ended;
    rmSync(playground.path('state', 'STOP'));

    const freed = await gannet('wallet', 'close-empty', '--unwrap', '--yes', '--live');
    expect(freed.code, freed.stdout + freed.stderr).toBe(0);
    const told = document(freed);
    expect(told['accounts']).toContainEqual(expect.objectContaining(
      { mint: NATIVE_MINT.toBase58(), state: 'closed', back_lamports: String(30_000_000n + TOKEN_ACCOUNT_RENT) },
    ));
    const after = await wallet();
    expect(after.sol.wrapped).toBe('0');
    expect(BigInt(after.sol.native))
      .toBe(BigInt(before.sol.native) + BigInt(String(told['back_lamports'])) - BigInt(String(told['fee_lamports'])));
  });
});

describe('the wallet of the embedded chain', () => {
  it('is shown as text, and has nothing to close', async () => {
    const [shown, closed] = await Promise.all([
      playground.run(['wallet', 'show', '--state-dir', playground.path('show')]),
      playground.ask(['wallet', 'close-empty', '--state-dir', playground.path('close-empty')]),
    ]);
    expect([closed.code, closed.stdout]).toStrictEqual([0, '  nothing to close\n']);
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toMatch(/SOL +100 SOL: 100 native, 0 wrapped\n/);
    expect(shown.stdout).toMatch(/USDC +10000 +token +0\.00203928/);
  });
});

const owner = (): Keypair => Keypair.fromSecretKey(bs58.decode(addresses.wallet.private_key));

/** An empty token account, as a swap that sold everything leaves it. */
async function emptyAccount(): Promise<void> {
  const { publicKey } = owner();
  const mint = new PublicKey(BUOY);
  const account = getAssociatedTokenAddressSync(mint, publicKey, false, TOKEN_2022_PROGRAM_ID);
  await land(new Transaction().add(
    createAssociatedTokenAccountIdempotentInstruction(publicKey, account, publicKey, mint, TOKEN_2022_PROGRAM_ID),
  ));
}

/** Wraps SOL and leaves it so. */
async function wrapped(lamports: bigint): Promise<void> {
  const { publicKey } = owner();
  const account = getAssociatedTokenAddressSync(NATIVE_MINT, publicKey, false, TOKEN_PROGRAM_ID);
  await land(new Transaction().add(
    createAssociatedTokenAccountIdempotentInstruction(publicKey, account, publicKey, NATIVE_MINT),
    SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: account, lamports }),
    createSyncNativeInstruction(account),
  ));
}

async function land(transaction: Transaction): Promise<void> {
  const connection = new Connection(addresses.rpc_url, 'confirmed');
  const { blockhash } = await connection.getLatestBlockhash();
  Object.assign(transaction, { recentBlockhash: blockhash, feePayer: owner().publicKey });
  transaction.sign(owner());
  const signature = await connection.sendRawTransaction(transaction.serialize());
  await expect.poll(
    async () => (await connection.getSignatureStatuses([signature])).value[0]?.confirmationStatus, { timeout: 20_000 },
  ).toMatch(/confirmed|finalized/);
}
