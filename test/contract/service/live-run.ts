import type { Row } from './row.ts';

/** The statements that a live run uses: by which key of the configuration, or what it does by itself. */
const LIVE_RUN: Readonly<Record<string, string>> = {
  'order./swap/v2/order': '`swap.route: order`',
  'order.inputMint': 'every order',
  'order.outputMint': 'every order',
  'order.amount': 'every order',
  'order.taker': 'every order',
  'order.no-taker-no-transaction': 'every quote',
  'order.taker-for-execute': 'every order',
  'order.receiver': '`swap.receiver`',
  'order.receiver-is-not-taker': '`swap.receiver`',
  'order.receiver-gets-tokens': '`swap.receiver`',
  'order.receiver-account-is-made': '`swap.receiver`',
  'order.receiver-gets-sol': '`swap.receiver`',
  'order.receiver-without-rfq': '`swap.receiver`',
  'order.slippageBps': 'every order; left out with `swap.mode: automatic`',
  'order.referralAccount': '`swap.referral`',
  'order.referralFee': '`swap.referral`',
  'order.referral-together': '`swap.referral`',
  'order.referral-without-rfq': '`swap.referral`',
  'order.priorityFeeLamports': '`swap.priority_fee`',
  'order.bundleTipLamports': '`swap.tip`',
  'order.broadcastFeeType': '`swap.broadcast_fee`',
  'order.max-cap': '`swap.broadcast_fee`',
  'order.exact-fee': '`swap.broadcast_fee`',
  'order.excludeRouters': '`swap.exclude_routers`',
  'order.excludeDexes': '`swap.exclude_exchanges`',
  'order.exclude-dexes-of-iris': '`swap.exclude_exchanges`',
  'build./swap/v2/build': '`swap.route: build`',
  'build.exact-in-only': 'every build',
  'build.inputMint': 'every build',
  'build.outputMint': 'every build',
  'build.amount': 'every build',
  'build.taker': 'every build',
  'build.slippageBps': 'every build',
  'build.mode': '`swap.fast`',
  'build.dexes': '`swap.include_exchanges`',
  'build.dexes-or-exclude-dexes': '`swap.include_exchanges`',
  'build.excludeDexes': '`swap.exclude_exchanges`',
  'build.platformFeeBps': '`swap.platform_fee`',
  'build.fee-needs-account': '`swap.platform_fee`',
  'build.feeAccount': '`swap.platform_fee`',
  'build.maxAccounts': '`swap.max_accounts`',
  'build.wrapAndUnwrapSol': '`swap.wrap_sol`',
  'build.destinationTokenAccount': '`swap.destination_token_account`',
  'build.one-destination': '`swap.destination_token_account`',
  'build.nativeDestinationAccount': '`swap.native_destination_account`',
  'build.blockhashSlotsToExpiry': '`swap.blockhash_slots`',
  'build.no-service-fee': 'every build',
  'execute./swap/v2/execute': 'every order; `gannet execute`',
  'execute.with-request-id': 'every order; `gannet execute`',
  'execute.same-bytes-again': 'every order; `gannet execute`',
};

/** The parameters of a swap that no live run sends, with the reason. */
export const NOT_SENT: Readonly<Record<string, string>> = {
  'order.swapMode': 'no: ExactIn is all there is',
  'order.payer': 'no: the signer holds one key, and a payer has to sign',
  'build.payer': 'no: the signer holds one key, and a payer has to sign',
};

/** Returns the cell of a row in the column "live run". */
export function liveRunOf({ id }: Pick<Row, 'id'>): string {
  return LIVE_RUN[id] ?? NOT_SENT[id] ?? '–';
}

/** The ids of all rows that have a cell of their own. */
export const LIVE_RUN_IDS: readonly string[] = [...Object.keys(LIVE_RUN), ...Object.keys(NOT_SENT)];

/** The keys of the configuration in the column. */
export function liveRunKeys(): readonly string[] {
  const keys = Object.values(LIVE_RUN).flatMap((cell) => [...cell.matchAll(/`swap\.(\w+)/g)].map(([, key]) => key!));
  return [...new Set(keys)].sort();
}
