import type { Choose } from './choose.ts';
import { garbledJson, hostileValue, mutateValue } from './mutation.ts';
import type { FuzzFixture } from './fuzz-fixture.ts';

type Parameters = (choose: Choose, fixture: FuzzFixture) => readonly unknown[];

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SIGNATURE = '5'.repeat(87);

const commitment = (choose: Choose): object =>
  choose.pick([{}, { commitment: 'processed' }, { commitment: 'confirmed' }, { commitment: 'finalized' }]);
const nothing: Parameters = (choose) => [commitment(choose)];
const ofMint: Parameters = (choose, fixture) => [choose.pick(fixture.mints), commitment(choose)];
const ofWallet: Parameters = (choose, fixture) => [
  fixture.wallet.address,
  { ...commitment(choose), encoding: choose.pick(['base58', 'base64', 'base64+zstd', 'jsonParsed']) },
];
const ofTransaction: Parameters = (choose, fixture) => [choose.pick(fixture.transactions), { encoding: 'base64' }];

/** Every method of the RPC, with parameters that it takes. */
export const RPC_METHODS: Readonly<Record<string, Parameters>> = {
  getHealth: () => [], getVersion: () => [], getGenesisHash: () => [],
  getSlot: nothing, getBlockHeight: nothing, getEpochInfo: nothing, getLatestBlockhash: nothing,
  isBlockhashValid: (choose) => ['11111111111111111111111111111111', commitment(choose)],
  getBalance: ofMint, getAccountInfo: ofWallet,
  getMultipleAccounts: (choose, fixture) => [choose.some(fixture.mints), { encoding: 'jsonParsed' }],
  getTokenAccountsByOwner: (choose, fixture) =>
    [choose.pick(fixture.owners), { programId: TOKEN_PROGRAM }, { encoding: 'jsonParsed' }],
  getTokenAccountBalance: ofMint, getTokenSupply: ofMint,
  getMinimumBalanceForRentExemption: (choose) => [choose.integer(0, 1_000)],
  getFeeForMessage: (choose, fixture) =>
    [Buffer.from(choose.pick(fixture.transactions), 'base64').subarray(65).toString('base64')],
  getRecentPrioritizationFees: (choose, fixture) => [choose.some(fixture.mints)],
  simulateTransaction: ofTransaction,
  sendTransaction: (choose, fixture) =>
    [choose.pick(fixture.transactions), { encoding: 'base64', skipPreflight: false }],
  getSignatureStatuses: () => [[SIGNATURE], { searchTransactionHistory: true }],
  getSignaturesForAddress: (choose, fixture) => [fixture.wallet.address, { limit: choose.integer(1, 20) }],
  getTransaction: () => [SIGNATURE, { maxSupportedTransactionVersion: 1 }],
  getProgramAccounts: (choose, fixture) => [TOKEN_PROGRAM, {
    encoding: 'base64', dataSlice: { offset: 0, length: 8 },
    filters: [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: choose.pick(fixture.mints) } }],
  }],
  requestAirdrop: (choose, fixture) => [fixture.wallet.address, choose.integer(1, 1_000)],
};

/** What only the websocket takes. */
export const SUBSCRIPTIONS: Readonly<Record<string, Parameters>> = {
  signatureSubscribe: (choose) => [SIGNATURE, commitment(choose)],
  accountSubscribe: (choose, fixture) => [
    choose.pick([...fixture.mints, fixture.wallet.address]),
    { encoding: choose.pick(['base58', 'base64', 'jsonParsed']) },
  ],
  slotSubscribe: () => [],
  signatureUnsubscribe: (choose) => [choose.integer(1, 200)], accountUnsubscribe: (choose) => [choose.integer(1, 200)],
  slotUnsubscribe: (choose) => [choose.integer(1, 200)],
  ping: () => [],
};

/** Returns a call with parameters as they should be. */
export function validCall(
  choose: Choose, fixture: FuzzFixture, methods: Readonly<Record<string, Parameters>>, id: number,
): object {
  const method = choose.pick(Object.keys(methods));
  return { jsonrpc: '2.0', id, method, params: methods[method]!(choose, fixture) };
}

/** Returns a body for the RPC: calls with spoiled parameters, alone or many, or what is no call at all. */
export function spoiledBody(
  choose: Choose, fixture: FuzzFixture, methods: Readonly<Record<string, Parameters>>, id: number,
): string | Buffer {
  const call = (): unknown => {
    const valid = validCall(choose, fixture, methods, id) as { params: unknown };
    if (choose.chance(0.8))
      return { ...valid, params: choose.chance(0.9) ? mutateValue(choose, valid.params) : hostileValue(choose) };
    return mutateValue(choose, valid);
  };
  if (choose.chance(0.15)) return garbledJson(choose, validCall(choose, fixture, methods, id));
  const value = choose.chance(0.1) ? Array.from({ length: choose.integer(0, 12) }, call) : call();
  return JSON.stringify(value) ?? '';
}
