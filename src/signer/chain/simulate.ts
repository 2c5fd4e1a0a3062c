import { GannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import { TOKEN_DATA_SLICE, readTokenAccount, type TokenAccountState } from '../../solana/accounts.ts';
import { SYSTEM_PROGRAM } from '../../solana/constants.ts';
import type { SimulatedChanges } from '../policy/simulation.ts';
import type { JsonRpc } from './json-rpc.ts';
import { invalid, isRecord } from './json-rpc.ts';
import { accountList, atSlot, readAccounts, type ReadAccount } from './node-accounts.ts';

/** What is simulated for whom. */
export interface SimulationOptions {
  readonly wallet: string;
  /** Gets SOL in the wallet's place. */
  readonly receiver?: string | undefined;
  /** Every account that the transaction can change. */
  readonly writable: readonly string[];
}

/** So often it is simulated while other transactions change the wallet. */
const SIMULATIONS = 3;
const NO_DATA = Buffer.alloc(0);

/**
 * Returns the changes that a transaction would make to the wallet. Throws CHAIN_SIMULATION_FAILED where it would fail.
 * The balances before are read again behind the simulation, which is made again where another transaction has changed
 * them in between: its change must neither count as one of this transaction, nor hide one of it.
 */
export async function simulate(
  rpc: JsonRpc, transaction: Uint8Array, { wallet, receiver, writable }: SimulationOptions,
): Promise<SimulatedChanges> {
  const asked = [...new Set([wallet, ...writable])];
  const isOfUser = (address: string | undefined): boolean =>
    address === wallet || (receiver !== undefined && address === receiver);
  const isOf = (address: string, account: ReadAccount | undefined): boolean =>
    isOfUser(address) || isOfUser(tokenAccountOf(account)?.owner);
  const read = (minContextSlot?: number): ReturnType<typeof readAccounts> =>
    readAccounts(rpc, asked, { commitment: 'processed', dataSlice: TOKEN_DATA_SLICE, minContextSlot });
  let before = await read();
  for (let attempt = 0; attempt < SIMULATIONS; attempt += 1) {
    // Accounts with other data belong to other programs and hold no money of the wallet.
    const watched = asked.flatMap((address, index) => {
      const account = before.accounts[index];
      return isOfUser(address) || mayHoldTokens(account) ? [{ address, account }] : [];
    });
    const after = await simulatedAccounts(rpc, transaction, watched.map(({ address }) => address), before.slot);
    const again = await read(before.slot);
    // Pools of others change all the time, and are compared with nothing.
    const isUnchanged = asked.every((address, index) => {
      const [was, is] = [before.accounts[index], again.accounts[index]];
      return !(isOf(address, was) || isOf(address, is)) || isSameAccount(was, is);
    });
    if (isUnchanged)
      return changesOf(watched.map((one, index) => ({ ...one, after: after[index] })), { wallet, receiver });
    before = again;
  }
  // This passes by itself, unlike the failure of a simulation.
  throw new GannetError(
    'CHAIN_RPC_ERROR', `other transactions changed the wallet during each of ${SIMULATIONS} simulations`,
  );
}

function changesOf(
  watched: readonly {
    readonly address: string; readonly account: ReadAccount | undefined; readonly after: ReadAccount | undefined;
  }[],
  { wallet, receiver }: Pick<SimulationOptions, 'wallet' | 'receiver'>,
): SimulatedChanges {
  const of = (wanted: string) => watched.find(({ address }) => address === wanted);
  const lamportsOf = (address: string) =>
    ({ before: of(address)?.account?.lamports ?? 0n, after: of(address)?.after?.lamports ?? 0n });
  return {
    wallet: { ...lamportsOf(wallet), programAfter: of(wallet)?.after?.owner ?? SYSTEM_PROGRAM },
    receiver: receiver === undefined ? undefined : lamportsOf(receiver),
    tokenAccounts: watched.flatMap(({ address, account, after }) => {
      const states = { before: tokenAccountOf(account), after: tokenAccountOf(after) };
      return states.before === undefined && states.after === undefined ? [] : [{ address, ...states }];
    }),
  };
}

function isSameAccount(one: ReadAccount | undefined, other: ReadAccount | undefined): boolean {
  return one?.lamports === other?.lamports && one?.owner === other?.owner
    && Buffer.compare(one?.data ?? NO_DATA, other?.data ?? NO_DATA) === 0;
}

async function simulatedAccounts(
  rpc: JsonRpc, transaction: Uint8Array, addresses: readonly string[], minContextSlot: number,
): Promise<readonly (ReadAccount | undefined)[]> {
  const method = 'simulateTransaction';
  const { value } = atSlot(await rpc.call(method, [Buffer.from(transaction).toString('base64'), {
    encoding: 'base64', commitment: 'processed', sigVerify: false, replaceRecentBlockhash: true, minContextSlot,
    accounts: { encoding: 'base64', addresses },
  }]), method);
  if (!isRecord(value)) throw invalid(method, 'a simulation');
  if (value['err'] === undefined) throw invalid(method, 'whether it succeeded');
  if (value['err'] !== null)
    throw new GannetError('CHAIN_SIMULATION_FAILED', `it would fail on the chain: ${errorText(value['err'])}`);
  return accountList(value['accounts'], { method, length: addresses.length });
}

/** The levels that errors of the chain have: a node may send a thousand. */
function errorText(error: Json, levels = 4): string {
  if (typeof error !== 'object' || error === null) return printable(String(error), 100);
  if (levels === 0) return '…';
  const members = Object.entries(error).slice(0, 4)
    .map(([key, value]) => `${printable(key, 60)}: ${errorText(value, levels - 1)}`);
  return `{${members.join(', ')}}`;
}

/** Whether an account is a token account, or may become one since it is empty. */
function mayHoldTokens(account: ReadAccount | undefined): boolean {
  return account === undefined || account.data.length === 0 || readTokenAccount(account) !== undefined;
}

function tokenAccountOf(account: ReadAccount | undefined): TokenAccountState | undefined {
  return account === undefined ? undefined : readTokenAccount(account);
}
