import type { SandboxChain } from '../chain/chain.ts';
import type { GenesisToken } from '../genesis.ts';
import type { Market } from '../market/market.ts';
import type { BlockhashHistory } from './blockhash-history.ts';
import type { Faults } from './faults.ts';
import type { Maker } from './maker.ts';
import type { LookupTable } from './message.ts';
import type { Orders } from './orders.ts';
import type { Router } from './routing.ts';

/**
 * Whose word the answers follow where the two differ: the service's description, or what the live service was seen to do.
 */
export const PROFILES = ['reference', 'live'] as const;
export type Profile = (typeof PROFILES)[number];

/** Everything an endpoint may use; built once in sandbox.ts. */
export interface ServiceContext {
  readonly profile: Profile;
  readonly seed: number;
  readonly speed: number;
  readonly chain: SandboxChain;
  readonly market: Market;
  readonly router: Router;
  readonly maker: Maker;
  readonly orders: Orders;
  readonly faults: Faults;
  readonly blockhashes: BlockhashHistory;
  readonly table: LookupTable;
  readonly tokens: ReadonlyMap<string, GenesisToken>;
  /** Owns the token accounts that collect the platform's fee. */
  readonly feeOwner: string;
  /** Receives tips for block builders. */
  readonly tipAccount: string;
  /** The keys that are let in; undefined lets in any that is not empty. */
  readonly apiKeys: ReadonlySet<string> | undefined;
  /** Returns the next identifier, in the form of a UUID of version 7. */
  nextId(): string;
  /** Returns 1, 2, 3 ...: what makes two otherwise equal transactions of one slot different ones. */
  nextNumber(): number;
  /** Returns the sandbox's time: wall time at its start, plus its slots. */
  nowMs(): number;
  /** Returns a running time in milliseconds, for `totalTime` alone. */
  stopwatchMs(): number;
  /** Waits in real time; faults that delay need it. */
  delay(ms: number): Promise<void>;
  /** Makes the block that confirms what has just landed. */
  confirm(): void;
  /** Lets slots pass, the market with them. */
  advanceSlots(count: number): void;
}
