import type { SandboxChain } from '../chain/chain.ts';
import type { GenesisToken, SeededKey } from '../genesis.ts';
import type { Launches } from '../market/launches.ts';
import type { Lending } from '../market/lending.ts';
import type { Market, MarketPool } from '../market/market.ts';
import type { TokenContents } from '../market/token-content.ts';
import type { PredictionExchange } from '../prediction/exchange.ts';
import type { BlockhashHistory } from './blockhash-history.ts';
import type { ForeignPrograms } from './build/foreign-programs.ts';
import type { HostTraits, Profile } from './host-traits.ts';
import type { LookupTable } from '../chain/message.ts';
import type { Faults } from './faults/faults.ts';
import type { Orders } from './order/kept-orders.ts';
import type { Maker } from './order/maker.ts';
import type { Routers } from './routing/routing.ts';
import type { Quotes } from './v1/quoted-route.ts';

export { PROFILES, type Profile } from './host-traits.ts';

/** The dependencies of the endpoints; built once in sandbox.ts. */
export interface ServiceContext {
  readonly profile: Profile;
  readonly traits: HostTraits;
  /** The programs beside the swap program; undefined where there are none. */
  readonly foreign: ForeignPrograms | undefined;
  readonly seed: number;
  readonly speed: number;
  readonly chain: SandboxChain;
  readonly market: Market;
  readonly prediction: PredictionExchange;
  readonly lending: Lending;
  readonly launches: Launches;
  readonly contents: TokenContents;
  /** Every pool of the chain, those of one router included. */
  readonly pools: readonly MarketPool[];
  readonly routers: Routers;
  readonly maker: Maker;
  readonly orders: Orders;
  /** The quotes of the first version. */
  readonly quotes: Quotes;
  readonly faults: Faults;
  readonly blockhashes: BlockhashHistory;
  readonly table: LookupTable;
  readonly tokens: ReadonlyMap<string, GenesisToken>;
  /** Owns the token accounts that collect the platform's fee. */
  readonly feeOwner: string;
  /** Pays and signs for the gas of takers without SOL. */
  readonly gas: SeededKey;
  /** Receives tips for block builders. */
  readonly tipAccount: string;
  /** Receive the tips that the service adds by itself; `tipAccount` is the first. */
  readonly tipAccounts: readonly string[];
  /** The accepted keys; undefined accepts any that is not empty. */
  readonly apiKeys: ReadonlySet<string> | undefined;
  /** Returns the next identifier, in the form of a UUID of version 7. */
  nextId(): string;
  /** Returns 1, 2, 3 ..., which makes otherwise equal transactions of one slot different. */
  nextNumber(): number;
  /** Returns the sandbox's time: wall time at its start, plus its slots. */
  nowMs(): number;
  /** Returns a running time in milliseconds, for `totalTime` alone. */
  stopwatchMs(): number;
  /** Waits in real time, for faults that delay. */
  delay(ms: number): Promise<void>;
  /** Produces the block that confirms the last landed transactions. */
  confirm(): void;
  /** Lets slots pass, the market with them. */
  advanceSlots(count: number): void;
}
