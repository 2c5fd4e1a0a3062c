import type { MintAccount } from '../market/mint-account.ts';
import type { TokenSafetyLimits } from './limits.ts';

/** Every reason not to buy a token: the code, and what it means. One table, from which documents are made. */
export const TOKEN_FINDINGS = {
  TOKEN_RECORD_MISSING: 'the service has no record of it',
  TOKEN_ACCOUNT_UNREAD: 'its mint account could not be read from a chain, so nobody knows what its issuer can do',
  TOKEN_SUSPICIOUS: 'the service calls it suspicious',
  TOKEN_MINT_AUTHORITY: 'more of it can be made, or nobody says that it cannot',
  TOKEN_FREEZE_AUTHORITY: 'its issuer can freeze your account, or nobody says that he cannot',
  TOKEN_PERMANENT_DELEGATE: 'its issuer can take or burn what you hold',
  TOKEN_FROZEN_BY_DEFAULT: 'accounts of it begin frozen, or can be made to',
  TOKEN_NON_TRANSFERABLE: 'it cannot be passed on',
  TOKEN_TRANSFER_HOOK: 'every transfer calls a program of its issuer, which can refuse',
  TOKEN_TRANSFER_FEE: 'its issuer keeps more of every transfer than is allowed, or can raise his share',
  TOKEN_PAUSABLE: 'its issuer can stop all transfers',
  TOKEN_EXTENSION_UNKNOWN: 'it has an extension that nobody here knows or allowed',
  TOKEN_LIQUIDITY_LOW: 'too little liquidity, or nobody says how much there is',
  TOKEN_SCORE_LOW: 'too low an organic score, or none',
  TOKEN_HOLDERS_FEW: 'too few holders, or nobody says how many',
  TOKEN_HOLDERS_CONCENTRATED: 'its largest holders have too much of it, or nobody says how much',
  TOKEN_UNSELLABLE: 'nobody quotes for selling it',
} as const;
export type TokenFinding = keyof typeof TOKEN_FINDINGS;

/** What was found out about a token; a member that is absent is not known, which counts as bad. */
export interface TokenFacts {
  /** As the service tells it. */
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
  } | undefined;
  /** As the chain has it. */
  readonly account?: MintAccount | undefined;
  /** Whether somebody quotes for selling as much of it as would be bought. */
  readonly canBeSold?: boolean | undefined;
}

/** They describe or show the token, and give nobody power over a holder. */
const HARMLESS: ReadonlySet<string> = new Set([
  'metadata-pointer', 'metadata', 'group-pointer', 'group', 'group-member-pointer', 'group-member', 'interest-bearing',
  'scaled-ui-amount',
  'mint-close-authority',
]);
/** They have findings of their own. */
const JUDGED: Readonly<Record<string, TokenFinding>> = {
  'permanent-delegate': 'TOKEN_PERMANENT_DELEGATE',
  'default-account-state': 'TOKEN_FROZEN_BY_DEFAULT',
  'non-transferable': 'TOKEN_NON_TRANSFERABLE',
  'transfer-hook': 'TOKEN_TRANSFER_HOOK',
  pausable: 'TOKEN_PAUSABLE',
};

/**
 * Returns every reason not to buy a token, none for a good one. Pure; what is not known or is no number counts as bad.
 */
export function judgeToken(facts: TokenFacts, limits: TokenSafetyLimits): TokenFinding[] {
  return [...judgeRecord(facts.record, limits), ...judgeAccount(facts, limits), ...(facts.canBeSold === true ? []
    : ['TOKEN_UNSELLABLE' as const])];
}

function judgeRecord(record: TokenFacts['record'], limits: TokenSafetyLimits): TokenFinding[] {
  if (record === undefined) return ['TOKEN_RECORD_MISSING'];
  const findings: TokenFinding[] = [];
  // The service leaves the flag out where it has nothing to say; it is the one member whose absence is its good form.
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

/** The account is asked first: what the service says of authorities must agree, and alone it is not enough. */
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
    } else findings.push(JUDGED[name] ?? 'TOKEN_EXTENSION_UNKNOWN');
  }
  return [...new Set(findings)];
}

/** A fee that somebody can change is as high as he likes, two epochs from now. */
function isFeeTooHigh({ transferFee }: MintAccount, { maxTransferFeeBps }: TokenSafetyLimits): boolean {
  return transferFee === undefined || transferFee.bps > maxTransferFeeBps || transferFee.authority !== undefined;
}

function isAtLeast(value: number | undefined, least: number): boolean {
  return value !== undefined && value >= least;
}
