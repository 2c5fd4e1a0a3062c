import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { assert } from '../../../core/assert.ts';
import { DIALECTS_DIR } from '../../../core/code-files.ts';
import { isAddress, programAddress } from '../../chain/addresses.ts';
import type { Instruction } from '../../chain/message.ts';
import { SWAP_PROGRAM_ID } from '../../chain/pools.ts';
import { leastOutput } from '../routing/quoting.ts';

/** Where the swap program is loaded once more. */
export interface ForeignPrograms {
  /** The aggregator with the public layout. */
  readonly routeV2: string;
  /** The same under an instruction without a description: what it does shows in a simulation alone. */
  readonly undocumented: string;
}

/** For dialects that list no such programs. */
const OWN: ForeignPrograms = {
  routeV2: 'GannetRoute11111111111111111111111111111111', undocumented: 'GannetUnknown111111111111111111111111111111',
};

/** Returns the programs that a dialect lists: the one that has `route_v2`, and the first without any layout. */
export function foreignPrograms(dialect: string): ForeignPrograms {
  const { swap_programs: listed = [] } = parse(readFileSync(join(DIALECTS_DIR, `${dialect}.yaml`), 'utf8')) as {
    swap_programs?: readonly { program: string; instructions?: readonly { name: string }[] }[];
  };
  const usable = listed.filter(({ program }) => isAddress(program));
  return {
    routeV2: usable.find(({ instructions }) => instructions?.some(({ name }) => name === 'route_v2'))?.program
      ?? OWN.routeV2,
    undocumented: usable.find(({ instructions }) => instructions === undefined)?.program ?? OWN.undocumented,
  };
}

/** A program that carries a swap out by calling the swap program, and the terms that it is given. */
export interface SwapCaller {
  readonly program: string;
  readonly layout: 'route_v2' | 'undocumented';
  /** What the user was quoted, and the tolerance; the program computes the minimum from them. */
  readonly quotedOut: bigint;
  readonly slippageBps: number;
}

const DISCRIMINATORS: Readonly<Record<SwapCaller['layout'], string>> =
  { route_v2: 'bb64facc31c4af14', undocumented: '6770617175650001' };
const HEADER_BYTES = 34;
const STEP_BYTES = 5;
const WHOLE_BPS = 10_000;
const NO_ACCOUNT = { isSigner: false, isWritable: false } as const;

/** Returns where an aggregator's events would come from: an account that its instructions name. */
export function eventAuthority(program: string): string {
  return programAddress([Buffer.from('__event_authority')], program).address;
}

/**
 * Returns the aggregator's instruction for a swap of the swap program, as `program/README.md` lists it. The user's own
 * account stands in the place of the destination, and an account of another owner behind it.
 */
export function routedSwap(
  caller: SwapCaller, swap: { direct: Instruction; hops: number; ownAccount: string; minimumOut: bigint },
): Instruction {
  const { program } = caller;
  const { direct: { accounts, data }, hops, ownAccount } = swap;
  const direct = Buffer.from(data);
  const [user, source, destination, fee] = accounts as [typeof accounts[0], ...typeof accounts];
  assert(source !== undefined && destination !== undefined && fee !== undefined, 'a swap names at least 11 accounts');
  const tokens = accounts.slice(4, 6 + 2 * hops);
  const feeBps = direct.readUInt16LE(2);
  const isOwn = destination.pubkey === ownAccount;
  return {
    programId: program,
    accounts: [
      user, source, { ...destination, pubkey: ownAccount }, tokens[0]!, tokens.at(-2)!, tokens[1]!, tokens.at(-1)!,
      isOwn ? { ...NO_ACCOUNT, pubkey: program } : destination,
      { ...NO_ACCOUNT, pubkey: eventAuthority(program) }, { ...NO_ACCOUNT, pubkey: program },
      { ...NO_ACCOUNT, pubkey: SWAP_PROGRAM_ID },
      ...(feeBps === 0 ? [] : [fee]),
      ...accounts.slice(6 + 2 * hops),
      ...tokens.slice(2, -2),
    ],
    data: routeData(caller, { amountIn: direct.readBigUInt64LE(8), feeBps, hops, minimumOut: swap.minimumOut }),
  };
}

/** The program rounds the minimum up. Where the quote does not lead to the wanted one, that is given as the quote. */
function routeData(
  { layout, quotedOut, slippageBps }: SwapCaller,
  swap: { amountIn: bigint; feeBps: number; hops: number; minimumOut: bigint },
): Buffer {
  const { minimumOut, hops } = swap;
  const isQuoted = slippageBps <= WHOLE_BPS
    && (['ceil', 'floor'] as const).some((rounding) => leastOutput(quotedOut, slippageBps, rounding) === minimumOut);
  const data = Buffer.alloc(HEADER_BYTES + STEP_BYTES * hops);
  data.write(DISCRIMINATORS[layout], 0, 'hex');
  data.writeBigUInt64LE(swap.amountIn, 8);
  data.writeBigUInt64LE(isQuoted ? quotedOut : minimumOut, 16);
  data.writeUInt16LE(isQuoted ? slippageBps : 0, 24);
  data.writeUInt16LE(swap.feeBps, 26);
  data.writeUInt32LE(hops, 30);
  for (let step = 0; step < hops; step++) {
    // The kind of market, its share, and the places of its tokens on the way.
    const at = HEADER_BYTES + STEP_BYTES * step;
    data.writeUInt16LE(WHOLE_BPS, at + 1);
    data.writeUInt8(step, at + 3);
    data.writeUInt8(step + 1, at + 4);
  }
  return data;
}
