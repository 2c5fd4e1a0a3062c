import { z } from 'zod';
import type { Lamports } from '../../core/amount.ts';
import { formatDecimal } from '../../core/amount.ts';
import { SOL_DECIMALS } from '../../solana/constants.ts';
import type { SwapOptions } from '../../trading/swap-options.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { ProblemList } from '../config-issue.ts';
import { safeText } from '../config-issue.ts';
import type { ConfigPath } from '../config-tree.ts';
import type { AmountReader } from '../resolve-tokens.ts';
import type { SignerConfig } from '../run-config.ts';
import { address, amount } from '../schema-fields.ts';

const names = (example: readonly string[]) => z.array(
  z.string().regex(/^[^,]{1,100}$/, { message: 'expected a name of 1 to 100 characters without commas' }),
).min(1).meta({ examples: [example] });

/** The section "swap", for all strategies or for one. */
export const swapSchema = z.strictObject({
  route: z.enum(['order', 'build']).optional().meta({ description: 'order: assembled and landed by the service. build: '
    + 'composed here and landed through the RPC. Left out, each strategy chooses.' }),
  mode: z.enum(['manual', 'automatic']).default('manual').meta({ description: 'automatic: the service chooses slippage '
    + 'and routing of an order; risk.max_slippage_bps is asked for where it would be wider. manual: that limit is '
    + 'always asked for.' }),
  exclude_routers: names(['rfqz']).optional().meta({ description: 'Of an order: routers that must not be used.' }),
  include_exchanges: names(['Tidepool']).optional()
    .meta({ description: 'Of a build: the only exchanges to use, by the service’s own labels.' }),
  exclude_exchanges: names(['Lagoon']).optional().meta({ description: 'Exchanges not to use; of an order, by the '
    + 'router iris alone.' }),
  priority_fee: amount('0.0001 SOL').optional()
    .meta({ description: 'Of an order: the fee for priority; up to signer.max_priority_fee.' }),
  tip: amount('0.0001 SOL').optional()
    .meta({ description: 'Of an order: the tip of the block builder; up to signer.max_tip.' }),
  broadcast_fee: z.enum(['max_cap', 'exact_fee']).optional().meta({ description: 'Of an order: whether priority fee '
    + 'and tip are limits or exact.' }),
  receiver: address().optional().meta({ description: 'Of an order: the wallet that gets what entries buy, one '
    + 'of signer.destinations.' }),
  payer: address().optional().meta({ description: 'Refused: another payer of fees would have to sign too, and the '
    + 'signer holds one key.' }),
  referral: z.strictObject({ account: address(), fee_bps: z.int().min(50).max(255) }).optional()
    .meta({ description: 'Of an order: a fee of your own, 50 to 255 hundredths of a percent, to an account in '
      + 'signer.fee_accounts.' }),
  fast: z.boolean().optional()
    .meta({ description: 'Of a build: a quicker answer with a worse route.' }),
  max_accounts: z.int().min(1).max(64).optional()
    .meta({ description: 'Of a build: how many accounts its transaction may name, about. Left out, 64.' }),
  wrap_sol: z.boolean().optional().meta({ description: 'Of a build: whether SOL is wrapped before and unwrapped after '
    + 'a swap. Left out, true. false: swaps spend and bring wrapped SOL.' }),
  blockhash_slots: z.int().min(1).max(300).optional()
    .meta({ description: 'Of a build: after how many blocks it expires. Left out, 150; no chain allows more.' }),
  destination_token_account: address().optional()
    .meta({ description: 'Of a build: the token account that gets what entries buy, one of signer.destinations.' }),
  native_destination_account: address().optional()
    .meta({ description: 'Of a build: the wallet that gets the SOL that entries buy, one of signer.destinations.' }),
  platform_fee: z.strictObject({ account: address(), fee_bps: z.int().min(1).max(10_000) }).optional()
    .meta({ description: 'Of a build: a fee of your own to a token account in signer.fee_accounts.' }),
});
type SwapEntry = z.output<typeof swapSchema>;
type SwapKey = keyof SwapEntry;

/** What only one of the two routes knows, with what to do on the other. */
const ORDER_ONLY: ReadonlyMap<SwapKey, string> = new Map<SwapKey, string>([
  ['exclude_routers', 'a build knows one router'],
  ['priority_fee', 'the price of a build comes with it, up to 0.001 SOL'],
  ['tip', 'a build has no tip'],
  ['broadcast_fee', 'a build has no priority fee and no tip'],
  ['receiver', 'a build pays to destination_token_account or native_destination_account'],
  ['referral', 'a build has platform_fee'],
]);
const BUILD_ONLY: ReadonlyMap<SwapKey, string> = new Map<SwapKey, string>([
  ['include_exchanges', 'an order can only leave exchanges out, with exclude_exchanges'],
  ['fast', 'an order has no such mode'],
  ['max_accounts', 'the service decides on the accounts of an order'],
  ['wrap_sol', 'an order always wraps and unwraps SOL'],
  ['blockhash_slots', 'the service decides how long an order is valid'],
  ['destination_token_account', 'an order pays to receiver'],
  ['native_destination_account', 'an order pays to receiver'],
  ['platform_fee', 'an order has referral'],
]);
/** What makes an order manual, whatever its mode says. */
const STEERING: readonly SwapKey[] = [
  'exclude_routers', 'exclude_exchanges', 'priority_fee', 'tip', 'broadcast_fee', 'receiver', 'referral',
];

interface SwapScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
  readonly signer: SignerConfig;
  /** The neutral names of all routers. */
  readonly routers: readonly string[];
  /** The configured address of the wallet. */
  readonly wallet: string | undefined;
}

interface EntryScope extends SwapScope {
  readonly path: ConfigPath;
}

/**
 * Returns the options of a section "swap", after adding its faults to the problems; undefined for no section. The
 * options of a strategy replace those for all as a whole.
 */
export function resolveSwap(entry: SwapEntry | undefined, scope: EntryScope): SwapOptions | undefined {
  if (entry === undefined) return undefined;
  refuseOtherRoute(entry, scope);
  refuseTogether(entry, scope);
  refuseUnsigned(entry, scope);
  const priority = lamportsOf(entry, 'priority_fee', scope);
  const tip = lamportsOf(entry, 'tip', scope);
  const { referral, platform_fee: platform } = entry;
  return {
    route: entry.route,
    isAutomatic: entry.mode === 'automatic',
    order: entry.route === 'build' ? {} : given({
      excludeRouters: entry.exclude_routers, excludeDexes: entry.exclude_exchanges,
      priorityFeeLamports: priority, bundleTipLamports: tip,
      broadcastFeeType: entry.broadcast_fee === undefined ? undefined
        : entry.broadcast_fee === 'max_cap' ? 'maxCap' as const : 'exactFee' as const,
      receiver: entry.receiver, referralAccount: referral?.account, referralFee: referral?.fee_bps,
    }),
    build: entry.route === 'order' ? {} : given({
      mode: entry.fast === true ? 'fast' as const : undefined,
      dexes: entry.include_exchanges, excludeDexes: entry.exclude_exchanges, maxAccounts: entry.max_accounts,
      wrapAndUnwrapSol: entry.wrap_sol, blockhashSlotsToExpiry: entry.blockhash_slots,
      destinationTokenAccount: entry.destination_token_account,
      nativeDestinationAccount: entry.native_destination_account,
      platformFeeBps: platform?.fee_bps, feeAccount: platform?.account,
    }),
  };
}

/** Without the members that are not set: an order that states none of them is automatic. */
function given<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function isSet(entry: SwapEntry, key: SwapKey): boolean {
  return entry[key] !== undefined;
}

/** Refuses options that the route does not know: the service would refuse each swap. */
function refuseOtherRoute(entry: SwapEntry, { problems, path }: EntryScope): void {
  for (const [known, route, other] of [[ORDER_ONLY, 'order', 'build'], [BUILD_ONLY, 'build', 'order']] as const) {
    for (const [key, instead] of known) {
      if (!isSet(entry, key) || entry.route === route) continue;
      problems.add([...path, key], entry.route === other
        ? `the route "${other}" does not know it: ${instead}; remove the key, or write route: ${route}`
        : `only the route "${route}" knows it: write route: ${route} beside it, or remove the key`, { at: 'key' });
    }
  }
  if (entry.mode !== 'automatic' || entry.route === 'order') return;
  problems.add([...path, 'mode'], entry.route === 'build'
    ? 'a build has no automatic slippage: write mode: manual, or route: order'
    : 'only the route "order" has automatic slippage: write route: order beside it, or mode: manual');
}

/** Refuses options that exclude each other, or that have no effect as they stand. */
function refuseTogether(entry: SwapEntry, { problems, path, routers }: EntryScope): void {
  const refuse = (key: SwapKey, message: string): void => { problems.add([...path, key], message, { at: 'key' }); };
  if (isSet(entry, 'payer')) refuse('payer', 'another payer of fees would have to sign each swap: the signer holds the '
    + 'key of the wallet alone, and the service signs for no payer that is named; remove the key. Of an order, the '
    + 'service may pay for a wallet without SOL by itself');
  const steering = entry.mode === 'automatic' ? STEERING.filter((key) => isSet(entry, key)) : [];
  for (const key of steering)
    refuse(
      key, 'mode: automatic leaves the order to the service, and this steers it: remove it, or write mode: manual',
    );
  if (isSet(entry, 'include_exchanges') && isSet(entry, 'exclude_exchanges'))
    refuse('exclude_exchanges', 'include_exchanges and exclude_exchanges exclude each other: remove one of them');
  if (isSet(entry, 'broadcast_fee') && !isSet(entry, 'priority_fee') && !isSet(entry, 'tip'))
    refuse('broadcast_fee', 'it has no effect without priority_fee or tip: add one of them, or remove the key');
  if (isSet(entry, 'destination_token_account') && isSet(entry, 'native_destination_account')) {
    refuse('native_destination_account', 'destination_token_account and native_destination_account exclude each other: '
      + 'remove one of them');
  }
  const excluded = entry.exclude_routers ?? [];
  for (const [index, router] of excluded.entries()) {
    if (!routers.includes(router)) problems.add([...path, 'exclude_routers', index],
      `expected a router out of ${routers.join(', ')}, got "${safeText(router, 60)}"`);
  }
  if (excluded.length > 0 && routers.every((router) => excluded.includes(router)))
    refuse(
      'exclude_routers', `expected at least one of the routers ${routers.join(', ')} to be left, got all of them`,
    );
  if (entry.route === 'order' && isSet(entry, 'exclude_exchanges') && excluded.includes('iris')) {
    refuse('exclude_exchanges', 'only the router iris leaves exchanges out, and exclude_routers leaves out iris: '
      + 'remove one of them');
  }
}

/** Refuses what the signer would not sign: it reads its own section "signer" alone. */
function refuseUnsigned(entry: SwapEntry, { problems, path, signer, wallet }: EntryScope): void {
  for (const key of ['receiver', 'destination_token_account', 'native_destination_account'] as const) {
    const receiver = entry[key];
    if (receiver === undefined) continue;
    if (receiver === wallet) problems.add([...path, key], 'expected another account than the wallet: remove the key');
    else if (!signer.destinations.includes(receiver)) problems.add([...path, key],
      'the signer pays to accounts in signer.destinations only: list it there, or remove the key');
  }
  for (const key of ['referral', 'platform_fee'] as const) {
    const fee = entry[key];
    const most = fee === undefined ? undefined : signer.allowances.feeAccounts.get(fee.account);
    if (fee === undefined) continue;
    if (most === undefined) problems.add([...path, key, 'account'],
      `the signer pays fees to accounts in signer.fee_accounts only: list it there with ${fee.fee_bps} or more`);
    else if (most < fee.fee_bps) problems.add([...path, key, 'fee_bps'],
      `signer.fee_accounts allows this account ${most}, got ${fee.fee_bps}: raise it there, or lower it here`);
  }
}

/** Returns a fee in lamports, within what the signer allows. */
function lamportsOf(
  entry: SwapEntry, key: 'priority_fee' | 'tip', { amounts, problems, signer, path }: EntryScope,
): Lamports | undefined {
  const text = entry[key];
  const found = amounts.limit([...path, key], text);
  if (found === undefined) return undefined;
  if (found.mint !== SOL_MINT) {
    problems.add([...path, key], `expected an amount of SOL such as "0.0001 SOL", got "${safeText(text!, 60)}"`);
    return undefined;
  }
  const [allowed, where] = key === 'tip' ? [signer.allowances.maxTipLamports, 'signer.max_tip']
    : [signer.allowances.maxPriorityFeeLamports, 'signer.max_priority_fee'];
  if (found.amount > allowed) {
    problems.add([...path, key], allowed === 0n ? `the signer allows no tip: set ${where}, or remove the key`
      : `expected at most ${formatDecimal(allowed, SOL_DECIMALS)} SOL, which ${where} allows, got `
        + `"${safeText(text!, 60)}"`);
  }
  return found.amount as bigint as Lamports;
}

/** Options of swaps as a run's manifest keeps them: those that are set. */
export interface SwapRecord {
  readonly route: 'order' | 'build' | null;
  readonly mode: 'automatic' | 'manual';
  readonly order: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly build: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** Returns options as plain data. */
export function recordSwap(options: SwapOptions | undefined): SwapRecord | null {
  if (options === undefined) return null;
  const { route = null, isAutomatic, order, build } = options;
  return { route, mode: isAutomatic ? 'automatic' : 'manual', order: plain(order), build: plain(build) };
}

function plain(options: object): SwapRecord['order'] {
  return Object.fromEntries(Object.entries(options as Readonly<Record<string, string | number | boolean | bigint>>)
    .map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]));
}
