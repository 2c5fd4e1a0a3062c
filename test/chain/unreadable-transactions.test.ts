import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain, type Chain } from '../../src/chain/chain.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { UnreadableTransaction } from '../../src/trading/attempt.ts';
import { startHostileNode, wallClock, type HostileNode, type RpcRequest } from './hostile-node.ts';

const addressOf = (seed: number): string => Keypair.fromSeed(new Uint8Array(32).fill(seed)).publicKey.toBase58();
const OWNER = addressOf(1);
const STRANGER = addressOf(2);
const signatureOf = (n: number): string => bs58.encode(Buffer.alloc(64, n));
const [THEIRS, OLD] = [1, 2].map(signatureOf) as [string, string];
/** The swap that is searched, signed by the wallet: the maker, who pays, adds its signature. */
const [OUR_TRANSACTION, OURS_HERE, OUR_SIGNATURE] = makerPaid();

function makerPaid(): readonly [transaction: Uint8Array, id: string, ownSignature: string] {
  const [wallet, maker] = [1, 3].map((seed) => Keypair.fromSeed(new Uint8Array(32).fill(seed))) as [Keypair, Keypair];
  const unsigned = new Transaction({ feePayer: maker.publicKey, recentBlockhash: STRANGER });
  unsigned.add(SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: maker.publicKey, lamports: 1 }));
  unsigned.partialSign(wallet);
  const halfSigned = unsigned.serialize({ requireAllSignatures: false });
  unsigned.partialSign(maker);
  return [halfSigned, bs58.encode(unsigned.signatures[0]!.signature!), bs58.encode(unsigned.signatures[1]!.signature!)];
}

/** The words of Agave. */
const refusal = (version: number): object => ({
  code: -32_015, message: `Transaction version (${version}) is not supported by the requesting client. Please try the `
    + `request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
});
const INVALID_PARAMS = { code: -32_602, message: 'Invalid params: invalid value: integer `1`, expected `0`.' };
const statedBy = ({ params }: RpcRequest): number =>
  (params[1] as { maxSupportedTransactionVersion: number }).maxSupportedTransactionVersion;

/** A transaction that pays the wallet 7 lamports, in the form of a node; `signer` pays its fee. */
function transaction(id: string, { version = 0, signer = STRANGER, extra = {} }: {
  readonly version?: unknown; readonly signer?: string; readonly extra?: object;
} = {}): object {
  const accountKeys = signer === OWNER ? [OWNER, STRANGER] : [signer, OWNER];
  return {
    slot: 90, blockTime: 1_790_000_000, version,
    meta: {
      err: null, fee: 5_000, preBalances: [10_000, 100], postBalances: [4_993, 107], preTokenBalances: [],
      postTokenBalances: [], innerInstructions: [], computeUnitsConsumed: 150, ...extra,
    },
    transaction: {
      signatures: [id, ...(id === OURS_HERE ? [OUR_SIGNATURE] : [])],
      message: {
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
        accountKeys, recentBlockhash: STRANGER, instructions: [],
      },
    },
  };
}

type Reply = { readonly result: unknown } | { readonly error: unknown };
/** What a node answers on the stranger's transaction. */
type Theirs = (request: RpcRequest) => Reply;

/** A node whose history of the wallet holds the stranger's transaction, newest, and an old one of version 0. */
function answerOf(theirs: Theirs, isOursHere = false, hidesOurs = false) {
  return (request: RpcRequest): Reply => {
    const entries = [{ signature: THEIRS, slot: 90 }, ...(isOursHere ? [{ signature: OURS_HERE, slot: 80 }] : []),
      { signature: OLD, slot: 5 }];
    switch (request.method) {
      case 'getTransaction': return request.params[0] === THEIRS || hidesOurs ? theirs(request)
        : { result: transaction(String(request.params[0]), { signer: OWNER }) };
      case 'getSignaturesForAddress': return { result: entries };
      case 'getBalance': return { result: { context: { slot: 100 }, value: 107 } };
      case 'getEpochInfo': return { result: { absoluteSlot: 95, blockHeight: 90 } };
      case 'getSlot': return { result: 100 };
      case 'getGenesisHash': return { result: addressOf(9) };
      case 'getSignatureStatuses': return { result: {
        context: { slot: 100 }, value: [{ slot: 90, err: null, confirmationStatus: 'finalized' }],
      } };
      default: return { error: { code: -32_601, message: 'Method not found' } };
    }
  };
}

let node: HostileNode;
let other: HostileNode;
beforeAll(async () => { [node, other] = [await startHostileNode(), await startHostileNode()]; });
afterAll(() => Promise.all([node.close(), other.close()]));

function serve(on: HostileNode, reply: (request: RpcRequest) => Reply): void {
  on.answer((request, response) => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...reply(request) }));
  });
}

const readOf = (chain: Chain) => chain.landedSwap({
  signature: THEIRS, owner: OWNER, inputMint: SOL_MINT, outputMint: USDC_MINT,
});
const search = (chain: Chain) => chain.findBySigner({
  owner: OWNER, transaction: OUR_TRANSACTION, sinceSlot: 95n,
});
const balances = (chain: Chain) => chain.balanceHistory({ owner: OWNER, mint: SOL_MINT, sinceSlot: 200n });

async function withChain<Result>(act: (chain: Chain) => Promise<Result>): Promise<Result> {
  const chain = createChain({ rpcUrl: node.url, clock: wallClock });
  try {
    return await act(chain);
  } finally {
    await chain.close();
  }
}

/** Every answer that a node can give instead of a transaction that is read, and whether it may be an own one. */
const TABLE: readonly (readonly [name: string, theirs: Theirs, mayBeOwn: boolean])[] = [
  ...[2, 7, 127].map((version) => [
    `a transaction of version ${version}, refused as nodes do`, () => ({ error: refusal(version) }), false,
  ] as const),
  ...[2, 7, 127].map((version) => [
    `a transaction of version ${version}, given although 1 was stated`,
    () => ({ result: transaction(THEIRS, { version }) }), false,
  ] as const),
  [
    'a transaction of version 7 in an unknown form', () => ({ result: { version: 7, slot: 90, words: 'new' } }), false,
  ],
  ['a node that accepts no parameter', () => ({ error: INVALID_PARAMS }), true],
  ['a node that refuses version 1 although 1 was stated', () => ({ error: refusal(1) }), true],
  ['a refusal of a version without its number', () => ({ error: { code: -32_015, message: 'version' } }), true],
  ['a refusal of a version of 999', () => ({ error: { code: -32_015, message: 'version (999)' } }), true],
  ['a node that does not accept the parameter 1 and then refuses version 1', (request) =>
    ({ error: statedBy(request) === 1 ? INVALID_PARAMS : refusal(1) }), true],
  ['a node that does not accept the parameter 1 and then refuses version 2', (request) =>
    ({ error: statedBy(request) === 1 ? INVALID_PARAMS : refusal(2) }), false],
  ...['<script>', '\u001B[2J', '2', -1, 1.5, 128, 2 ** 60, {}, [2], true, null].map((version) => [
    `a version member of ${JSON.stringify(version)}`, () => ({ result: transaction(THEIRS, { version }) }), true,
  ] as const),
  ['a transaction without balances', () => ({ result: { ...transaction(THEIRS), meta: null } }), true],
  ['another transaction', () => ({ result: transaction(OLD) }), true],
  ['an internal error', () => ({ error: { code: -32_603, message: 'Internal error' } }), true],
  ['a list', () => ({ result: [] }), true],
];

describe('a transaction that cannot be read', () => {
  it.each(TABLE)('is a state of that transaction: %s', async (_name, theirs, mayBeOwn) => {
    const state = { kind: 'unreadable', signature: THEIRS, mayBeOwn };
    await withChain(async (chain) => {
      serve(node, answerOf(theirs));
      const read = await readOf(chain) as UnreadableTransaction;
      expect(read).toMatchObject(state);
      expect(read.reason).not.toContain('\u001B');
      expect(await chain.signaturesOf(THEIRS)).toMatchObject(state);
      expect(await chain.ownMoves({ signature: THEIRS, owner: OWNER })).toBeUndefined();
      const { steps, unreadable } = await balances(chain);
      expect([steps.map(({ signatures }) => signatures[0]), unreadable])
        .toEqual([[OLD], [{ signature: THEIRS, slot: 90n }]]);
      // Its id is no signature of the searched message.
      expect(await search(chain)).toBeUndefined();
    });
  });

  it.each(TABLE)('does not hide the wallet’s own transaction from the search: %s', async (_name, theirs) => {
    serve(node, answerOf(theirs, true));
    expect(await withChain(search)).toBe(OURS_HERE);
  });

  it.each([
    ...TABLE, ['nothing, although it is listed', () => ({ result: null }), true] as const,
  ])('is found by its id where it is the searched one: %s', async (_name, theirs) => {
    serve(node, answerOf(theirs, true, true));
    expect(await withChain(search)).toBe(OURS_HERE);
  });

  it('leaves a gap in the activity of a wallet, at once where its version is a later one', async () => {
    await withChain(async (chain) => {
      const at50 = answerOf(() => ({ result: [] }));
      serve(node, (request) => (request.method === 'getSlot' ? { result: 50 } : at50(request)));
      await chain.walletActivity(OWNER);
      serve(node, answerOf(() => ({ error: refusal(2) }), true));
      const { transactions } = await chain.walletActivity(OWNER);
      expect(transactions.map(({ signature }) => signature)).toEqual([OURS_HERE]);
      serve(node, answerOf(() => ({ error: refusal(2) }), true));
      expect((await chain.walletActivity(OWNER)).transactions).toEqual([]);
    });
  });
});

describe('a transaction of version 1', () => {
  const V1 = { version: 1, extra: { loadedAddresses: undefined } };

  it.each([
    ['without lookup tables', {}],
    ['with a member for its configuration', { transactionConfig: { priorityFeeLamports: 5, computeUnitLimit: 1 } }],
    ['with a member that is not known', { config: null, addressTableLookups: [] }],
  ])('is read as any other one: %s', async (_how, members) => {
    const told = transaction(THEIRS, V1) as { transaction: { message: object } };
    Object.assign(told.transaction.message, members);
    serve(node, answerOf(() => ({ result: told })));
    await withChain(async (chain) => {
      expect(await chain.signaturesOf(THEIRS)).toEqual([THEIRS]);
      expect(await search(chain)).toBeUndefined();
      expect((await balances(chain)).steps.map(({ native }) => native)).toEqual([
        { before: 10_000n, after: 4_993n }, { before: 100n, after: 107n },
      ]);
    });
    expect(node.requests.filter(({ method }) => method === 'getTransaction').map(statedBy)).toContain(1);
  });

  it('is read of a node that does not accept the parameter, once it is asked as before', async () => {
    serve(node, answerOf((request) =>
      (statedBy(request) === 1 ? { error: INVALID_PARAMS } : { result: transaction(THEIRS) })));
    expect(await withChain((chain) => chain.signaturesOf(THEIRS))).toEqual([THEIRS]);
  });
});

async function withTwo<Result>(act: (chain: Chain) => Promise<Result>): Promise<Result> {
  const chain = createChain({ rpcUrl: node.url, furtherRpcUrls: [other.url], clock: wallClock });
  try {
    return await act(chain);
  } finally {
    await chain.close();
  }
}

const knows: Theirs = () => ({ result: transaction(THEIRS, { version: 1, signer: OWNER }) });

describe('two nodes, of which one does not know version 1', () => {
  it.each([
    ['the first', true], ['the second', false],
  ])('leave the word to the one that can read: %s does not', async (_which, isFirst) => {
    const unknowing: readonly Theirs[] = [
      () => ({ error: refusal(1) }), () => ({ error: INVALID_PARAMS }), () => ({ result: { version: '<b>' } }),
    ];
    for (const theirs of unknowing) {
      serve(isFirst ? node : other, answerOf(theirs));
      serve(isFirst ? other : node, answerOf(knows));
      await withTwo(async (chain) => {
        await chain.finalizedBlockHeight();
        expect(await chain.signaturesOf(THEIRS)).toEqual([THEIRS]);
        expect(await search(chain)).toBeUndefined();
        expect(await readOf(chain)).toMatchObject({ signature: THEIRS, slot: 90n });
        expect((await chain.ownMoves({ signature: THEIRS, owner: OWNER }))?.get(SOL_MINT)).toBe(-7n);
        expect(await balances(chain)).toMatchObject({ steps: [{}, { signatures: [THEIRS] }], unreadable: [] });
      });
    }
  });

  it('name the state where neither can read it, and take a later version on the word of one', async () => {
    for (const [second, mayBeOwn] of [[refusal(1), true], [refusal(2), false]] as const) {
      serve(node, answerOf(() => ({ error: refusal(1) })));
      serve(other, answerOf(() => ({ error: second })));
      await withTwo(async (chain) => {
        expect(await readOf(chain)).toMatchObject({ kind: 'unreadable', mayBeOwn });
        expect(await chain.signaturesOf(THEIRS)).toMatchObject({ kind: 'unreadable', mayBeOwn });
        expect((await balances(chain)).unreadable).toHaveLength(1);
        expect(await search(chain)).toBeUndefined();
      });
    }
  });
});
