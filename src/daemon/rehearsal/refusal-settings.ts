import type { SignerCode } from '../../signer/policy/codes.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { Check } from '../doctor/check.ts';

/** Why a route cannot be signed. */
export interface RouteRefusal {
  readonly code: string;
  readonly message: string;
  /** The key of the YAML, or the variable of the environment, that would change it; undefined where none would. */
  readonly setting: string | undefined;
}

const KEY = 'service.api_key';
const HOST = 'service.base_url';
const DIALECT = 'service.dialect';
const PLAN = 'service.plan';
const NODE = 'chain.rpc_url';
const WALLET = 'wallet.address';
const RESERVE = 'wallet.sol_reserve';
const PROGRAMS = 'signer.programs';
/** The dialect lists the programs of its hosts: another one is allowed only where that is not the reason. */
const DIALECT_FIRST = `${DIALECT}, else ${PROGRAMS}`;
const TIP = 'signer.max_tip';
const CAPS = 'signer.caps';
const DESTINATIONS = 'signer.destinations';
const GUARD = 'signer.price_guard.max_deviation_bps';
const SLIPPAGE = 'risk.max_slippage_bps';
const IMPACT = 'risk.max_price_impact_bps';
const FEE = 'risk.max_fee_bps';

/** What a code of the signer, of the checks before it, or of an edge is changed by. */
const SETTINGS: Readonly<Partial<Record<SignerCode | ErrorCode, string>> & Record<string, string>> = {
  TIP_EXCEEDS: TIP, TRANSFER_DESTINATION: TIP,
  FEE_EXCEEDS: 'signer.max_priority_fee', PLATFORM_FEE_EXCEEDS: FEE, FEE_EXCEEDS_MAX: FEE,
  PROGRAM_UNKNOWN: DIALECT_FIRST, SWAP_UNREADABLE: PROGRAMS, SWAP_MISSING: PROGRAMS,
  // How a layout rounds stands in the dialect.
  SWAP_MINIMUM_BELOW: DIALECT,
  INSTRUCTION_UNREADABLE: PROGRAMS,
  ATA_OWNER: DESTINATIONS, SWAP_DESTINATION: DESTINATIONS, CLOSE_DESTINATION: DESTINATIONS,
  CAP_MISSING: CAPS, CAP_EXCEEDED_TRADE: CAPS, CAP_EXCEEDED_HOUR: CAPS, CAP_EXCEEDED_DAY: CAPS,
  PRICE_BELOW_GUARD: GUARD, PRICE_GUARD_UNAVAILABLE: HOST,
  SLIPPAGE_EXCEEDS_MAX: SLIPPAGE, LIMIT_NOT_MET: SLIPPAGE, IMPACT_EXCEEDS_MAX: IMPACT, IMPACT_UNKNOWN: IMPACT,
  PRICE_OFF_REFERENCE: IMPACT,
  QUOTE_STALE: 'risk.max_quote_age', QUOTE_EXPIRED: 'risk.max_quote_age',
  TABLE_UNREAD: NODE, CHAIN_UNREAD: NODE, CAP_DECIMALS_UNREAD: NODE, COUNTERS_UNPROVEN: NODE,
  CHAIN_UNREACHABLE: NODE, CHAIN_RPC_ERROR: NODE, CHAIN_RESPONSE_INVALID: NODE, CHAIN_UNAGREED: NODE,
  CHAIN_SIMULATION_FAILED: NODE, SIMULATION_FAILED: NODE,
  SERVICE_UNAUTHORIZED: KEY, SERVICE_FORBIDDEN: KEY, SERVICE_RATE_LIMITED: PLAN,
  SERVICE_MALFORMED: DIALECT, SERVICE_UNREACHABLE: HOST, SERVICE_TIMEOUT: HOST, SERVICE_STATUS: HOST,
  ORDER_INCOMPLETE: DIALECT, TERMS_MISMATCH: DIALECT,
  KEY_INVALID: 'wallet.key_from',
  INPUT_INSUFFICIENT: WALLET, ACCOUNT_FROZEN: WALLET,
  SOL_INSUFFICIENT: RESERVE, SOL_RESERVE: RESERVE, WRAPPED_SOL_ONLY: RESERVE,
};

/** What a status of the service is changed by. */
const STATUS_SETTINGS: ReadonlyMap<unknown, string> =
  new Map([[401, KEY], [402, PLAN], [403, KEY], [404, DIALECT], [410, DIALECT], [429, PLAN]]);

/** What a finding of the doctor is changed by, where its group does not say it. */
const CHECK_SETTINGS: Readonly<Record<string, string>> =
  { 'api-key': KEY, 'credits': PLAN, 'clock': 'the clock of this machine', 'proxy': 'HTTPS_PROXY' };
const GROUP_SETTINGS: Readonly<Partial<Record<Check['group'], string>>> =
  { service: HOST, chain: NODE, money: RESERVE, key: 'wallet.key_from' };

/** Returns the refusal of a code, with the setting that would change it. */
export function refusalOf(code: string, message: string, status?: unknown): RouteRefusal {
  // An order without transaction has the code of its router.
  const isOrder = /^ORDER_[A-Z0-9-]+_(?:\d+|UNKNOWN)$/.test(code);
  return { code, message, setting: STATUS_SETTINGS.get(status) ?? SETTINGS[code] ?? (isOrder ? WALLET : undefined) };
}

/** Returns the refusal that a fault of host or machine means for every route. */
export function refusalOfCheck({ group, name, message, fix }: Check): RouteRefusal {
  const setting = CHECK_SETTINGS[name] ?? GROUP_SETTINGS[group];
  return {
    code: name.replaceAll('-', '_').toUpperCase(), message: fix === undefined ? message : `${message}; ${fix}`, setting,
  };
}
