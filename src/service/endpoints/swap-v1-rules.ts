import { SOL_MINT } from '../../market/token.ts';
import type { JointRule, RequestRules, Rule } from './request-rules.ts';
import {
  aFlag, aU64, anAddress, anAmount, anInteger, labels, mustDiffer, notBoth, oneOf, optionalRule, required,
} from './request-rules.ts';
import type { QuoteRequest, QuoteSwapRequest } from './swap-v1-request.ts';
import { wireAddress } from '../wire/fields.ts';

const UINT16 = { min: 0, max: 65_535 } as const;
const UINT8 = { min: 0, max: 255 } as const;

/** What the reference states of `GET /swap/v1/quote`, line by line. */
export const QUOTE_RULES: RequestRules<QuoteRequest> = {
  endpoint: 'GET /swap/v1/quote',
  parameters: {
    inputMint: required(anAddress),
    outputMint: required(anAddress),
    amount: required(anAmount),
    slippageBps: anInteger(UINT16),
    swapMode: oneOf(['ExactIn', 'ExactOut']),
    dexes: labels,
    excludeDexes: labels,
    restrictIntermediateTokens: aFlag,
    onlyDirectRoutes: aFlag,
    asLegacyTransaction: aFlag,
    platformFeeBps: anInteger(UINT16),
    maxAccounts: aU64,
    instructionVersion: oneOf(['V1', 'V2']),
    dynamicSlippage: aFlag,
    forBundle: aFlag,
  },
  joint: [
    mustDiffer('outputMint', 'inputMint'),
    notBoth('dexes', 'excludeDexes'),
  ],
  elsewhere: {
    taker: 'a quote of V1 knows no wallet; it is userPublicKey of /swap',
    feeAccount: '/swap has it',
    mode: '/build of V2 has it',
  },
};

/**
 * Returns what the reference states of the body of `POST /swap/v1/swap`, line by line; `/swap-instructions` takes the
 * same.
 */
export function quoteSwapRules(
  endpoint: 'POST /swap/v1/swap' | 'POST /swap/v1/swap-instructions',
): RequestRules<QuoteSwapRequest> {
  return {
    endpoint,
    parameters: {
      userPublicKey: required(anAddress),
      quoteResponse: required(optionalRule('a quote of V1 as it came', (value) =>
        typeof value === 'object' && value !== null && 'raw' in value)),
      payer: anAddress,
      wrapAndUnwrapSol: aFlag,
      useSharedAccounts: aFlag,
      feeAccount: anAddress,
      trackingAccount: anAddress,
      prioritizationFeeLamports: PRIORITIZATION_FEE,
      asLegacyTransaction: aFlag,
      destinationTokenAccount: anAddress,
      nativeDestinationAccount: anAddress,
      dynamicComputeUnitLimit: aFlag,
      skipUserAccountsRpcCalls: aFlag,
      dynamicSlippage: aFlag,
      computeUnitPriceMicroLamports: aU64,
      blockhashSlotsToExpiry: anInteger(UINT8),
    },
    joint: QUOTE_SWAP_JOINT_RULES,
    elsewhere: {
      taker: 'V1 calls it userPublicKey', slippageBps: 'the quote has it', platformFeeBps: 'the quote has it',
    },
  };
}

const QUOTE_SWAP_JOINT_RULES: readonly JointRule<QuoteSwapRequest>[] = [
  {
    parameter: 'prioritizationFeeLamports',
    words: 'either a priority fee or a tip, not both',
    holds: ({ prioritizationFeeLamports: fee }) => typeof fee !== 'object' || Object.keys(fee).length === 1,
  },
  {
    parameter: 'computeUnitPriceMicroLamports',
    words: 'sets the same price as prioritizationFeeLamports: expected one of them, got both',
    holds: ({ computeUnitPriceMicroLamports, prioritizationFeeLamports }) =>
      computeUnitPriceMicroLamports === undefined || prioritizationFeeLamports === undefined,
  },
  {
    parameter: 'feeAccount',
    words: 'required where platformFeeBps was passed to /quote, got nothing',
    holds: ({ feeAccount, quoteResponse: { asked, platformFee } }) =>
      feeAccount !== undefined
        || (asked === undefined ? (platformFee?.feeBps ?? 0) === 0 : asked.platformFeeBps === undefined),
  },
  {
    parameter: 'asLegacyTransaction',
    words: 'must match the quote',
    holds: ({ asLegacyTransaction = false, quoteResponse: { asked } }) =>
      asked === undefined || asLegacyTransaction === (asked.asLegacyTransaction ?? false),
  },
  notBoth('destinationTokenAccount', 'nativeDestinationAccount'),
  {
    parameter: 'nativeDestinationAccount',
    words: `only where the output is SOL: expected a quote for ${SOL_MINT}, got another`,
    holds: ({ nativeDestinationAccount, quoteResponse }) =>
      nativeDestinationAccount === undefined || quoteResponse.outputMint === SOL_MINT,
  },
  {
    parameter: 'nativeDestinationAccount',
    words: 'only with V2 instructions: expected a quote that was asked for with instructionVersion V2',
    holds: ({ nativeDestinationAccount, quoteResponse: { asked } }) =>
      nativeDestinationAccount === undefined || asked === undefined || asked.instructionVersion === 'V2',
  },
];

const PRIORITY_LEVELS: readonly unknown[] = ['medium', 'high', 'veryHigh'];

const PRIORITIZATION_FEE: Rule = optionalRule(
  'whole lamports, "auto", {priorityLevelWithMaxLamports: {priorityLevel: medium, high or veryHigh, maxLamports, '
    + 'global: true or false or nothing}}, {bundleTipLamports} or {bundleTipLamportsWithPayer: {lamports, payer}}',
  (value) => value === 'auto' || isLamports(value)
    || (isRecord(value) && Object.keys(value).length > 0 && Object.entries(value).every(isFeeForm)),
);

function isFeeForm([name, value]: readonly [string, unknown]): boolean {
  if (name === 'bundleTipLamports') return isLamports(value);
  if (!isRecord(value)) return false;
  if (name === 'bundleTipLamportsWithPayer')
    return isLamports(value['lamports']) && wireAddress.safeParse(value['payer']).success;
  return name === 'priorityLevelWithMaxLamports' && PRIORITY_LEVELS.includes(value['priorityLevel'])
    && isLamports(value['maxLamports'])
    && (value['global'] === undefined || typeof value['global'] === 'boolean');
}

function isLamports(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
