import type { Millis } from '../core/time.ts';
import type { MintAccount } from '../market/token.ts';
import type { DiscoveredLimits, TokenSafetyLimits } from './limits.ts';

/** Every reason not to buy a token: the code and its meaning. The documents are generated from this table. */
export const TOKEN_FINDINGS = {
  TOKEN_RECORD_MISSING: 'the service has no record of it',
  TOKEN_ACCOUNT_UNREAD: 'its mint account could not be read from a chain, so the powers of its issuer are unknown',
  TOKEN_SUSPICIOUS: 'the service calls it suspicious',
  TOKEN_MINT_AUTHORITY: 'more of it can be minted, or that is not ruled out',
  TOKEN_FREEZE_AUTHORITY: 'its issuer can freeze your account, or that is not ruled out',
  TOKEN_PERMANENT_DELEGATE: 'its issuer can take or burn what you hold',
  TOKEN_FROZEN_BY_DEFAULT: 'new accounts of it are frozen, or can be frozen',
  TOKEN_NON_TRANSFERABLE: 'it cannot be transferred',
  TOKEN_TRANSFER_HOOK: 'every transfer calls a program of its issuer, which can refuse',
  TOKEN_TRANSFER_FEE: 'its issuer keeps more of every transfer than is allowed, or can raise the fee',
  TOKEN_PAUSABLE: 'its issuer can stop all transfers',
  TOKEN_EXTENSION_UNKNOWN: 'it has an extension that is neither known nor allowed',
  TOKEN_LIQUIDITY_LOW: 'its liquidity is too low or unknown',
  TOKEN_SCORE_LOW: 'its organic score is too low or unknown',
  TOKEN_HOLDERS_FEW: 'its holders are too few or of unknown number',
  TOKEN_HOLDERS_CONCENTRATED: 'the share of its largest holders is too high or unknown',
  TOKEN_UNSELLABLE: 'the service has no quote for selling it',
  TOKEN_DECIMALS_DIFFER: 'it is not configured, and its record and its mint account differ in decimals',
  TOKEN_UNVERIFIED: 'it is not configured, and not verified',
  TOKEN_TOO_YOUNG: 'it is not configured, and its first pool is too young or unknown',
} as const;
type TokenFinding = keyof typeof TOKEN_FINDINGS;

/** The facts about a token. An absent member is unknown, which counts as a fault. */
export interface TokenFacts {
  /** From the service's token record. */
  readonly record?: {
    readonly isSuspicious?: boolean | undefined;
    readonly mintAuthorityDisabled?: boolean | undefined;
    readonly freezeAuthorityDisabled?: boolean | undefined;
    /** Percent, 0 to 100. */
    readonly topHoldersPct?: number | undefined;
    readonly liquidityUsd?: number | undefined;
    /** 0 to 100. */
    readonly organicScore?: number | undefined;
    readonly holders?: number | undefined;
    readonly decimals?: number | undefined;
    readonly isVerified?: boolean | undefined;
    readonly firstPoolAt?: Millis | undefined;
  } | undefined;
  /** From the chain. */
  readonly account?: MintAccount | undefined;
  /** Whether the service quotes for selling as much of it as would be bought. */
  readonly canBeSold?: boolean | undefined;
}

/** Extensions that describe or display the token, without power over a holder. */
const HARMLESS: ReadonlySet<string> = new Set([
  'metadata-pointer', 'metadata', 'group-pointer', 'group', 'group-member-pointer', 'group-member', 'interest-bearing',
  'scaled-ui-amount',
  'mint-close-authority',
]);
/** Extensions with a finding of their own. */
const EXTENSION_FINDINGS: Readonly<Record<string, TokenFinding>> = {
  'permanent-delegate': 'TOKEN_PERMANENT_DELEGATE',
  'default-account-state': 'TOKEN_FROZEN_BY_DEFAULT',
  'non-transferable': 'TOKEN_NON_TRANSFERABLE',
  'transfer-hook': 'TOKEN_TRANSFER_HOOK',
  pausable: 'TOKEN_PAUSABLE',
};

/**
 * Returns every reason not to buy a token, none for a safe one. Unknown data and NaN count as faults.
 */
export function judgeToken(facts: TokenFacts, limits: TokenSafetyLimits): TokenFinding[] {
  return [...judgeRecord(facts.record, limits), ...judgeAccount(facts, limits), ...(facts.canBeSold === true ? []
    : ['TOKEN_UNSELLABLE' as const])];
}

/** Returns every further reason not to buy a token that the configuration does not name, at an instant. */
export function judgeDiscovered(
  { record, account }: TokenFacts, { minAgeMs, mustBeVerified }: DiscoveredLimits, at: Millis,
): TokenFinding[] {
  const findings: TokenFinding[] = [];
  if (record?.decimals === undefined || record.decimals !== account?.decimals) findings.push('TOKEN_DECIMALS_DIFFER');
  if (mustBeVerified && record?.isVerified !== true) findings.push('TOKEN_UNVERIFIED');
  const ageMs = record?.firstPoolAt === undefined ? undefined : at - record.firstPoolAt;
  if (!isAtLeast(ageMs, minAgeMs)) findings.push('TOKEN_TOO_YOUNG');
  return findings;
}

function judgeRecord(record: TokenFacts['record'], limits: TokenSafetyLimits): TokenFinding[] {
  if (record === undefined) return ['TOKEN_RECORD_MISSING'];
  const findings: TokenFinding[] = [];
  // The service sends this flag only for suspicious tokens; it is the only member whose absence is no fault.
  if (record.isSuspicious === true) findings.push('TOKEN_SUSPICIOUS');
  if (!isAtLeast(record.liquidityUsd, limits.minLiquidityUsd)) findings.push('TOKEN_LIQUIDITY_LOW');
  if (!isAtLeast(record.organicScore, limits.minOrganicScore) || record.organicScore! > 100)
    findings.push('TOKEN_SCORE_LOW');
  if (!isAtLeast(record.holders, limits.minHolders)) findings.push('TOKEN_HOLDERS_FEW');
  const { topHoldersPct } = record;
  if (topHoldersPct === undefined || !(topHoldersPct >= 0 && topHoldersPct <= limits.maxTopHoldersPct))
    findings.push('TOKEN_HOLDERS_CONCENTRATED');
  return findings;
}

/** Judges the mint account. The service's record must agree with it on authorities, and alone is not sufficient. */
function judgeAccount({ account, record }: TokenFacts, limits: TokenSafetyLimits): TokenFinding[] {
  if (account === undefined) return ['TOKEN_ACCOUNT_UNREAD'];
  const findings: TokenFinding[] = [];
  if (account.mintAuthority !== undefined || record?.mintAuthorityDisabled !== true)
    findings.push('TOKEN_MINT_AUTHORITY');
  if (account.freezeAuthority !== undefined || record?.freezeAuthorityDisabled !== true)
    findings.push('TOKEN_FREEZE_AUTHORITY');
  for (const name of new Set(account.extensions)) {
    if (limits.allowedExtensions.has(name) || HARMLESS.has(name)) continue;
    if (name === 'transfer-fee') {
      if (isFeeTooHigh(account, limits)) findings.push('TOKEN_TRANSFER_FEE');
    } else findings.push(EXTENSION_FINDINGS[name] ?? 'TOKEN_EXTENSION_UNKNOWN');
  }
  return [...new Set(findings)];
}

/** Returns whether the transfer fee is too high. A fee with an authority can be raised to any height in two epochs. */
function isFeeTooHigh({ transferFee }: MintAccount, { maxTransferFeeBps }: TokenSafetyLimits): boolean {
  return transferFee === undefined || transferFee.bps > maxTransferFeeBps || transferFee.authority !== undefined;
}

function isAtLeast(value: number | undefined, least: number): boolean {
  return value !== undefined && value >= least;
}
