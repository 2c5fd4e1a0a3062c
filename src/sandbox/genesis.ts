import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import bs58 from 'bs58';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { TransferFee } from './chain/token-layout.ts';

/** A key pair of the sandbox, derived from the public seed; it must hold nothing of value elsewhere. */
export interface SeededKey {
  readonly address: string;
  /** Base58 of the 64 bytes that wallets exchange: seed, then public key. */
  readonly privateKey: string;
  sign(message: Uint8Array): Buffer;
}

/** A market of the embedded chain: what the pools of one label have in common. */
export interface GenesisMarket {
  readonly label: string;
  /** The programs that share the label: several where a market was replaced by a new version. */
  readonly programIds: readonly string[];
  /** Whether it can be asked for an exact output. */
  readonly exactOut: boolean;
  /** Whether its swaps may stand in a bundle of transactions. */
  readonly bundles: boolean;
  /** Whether intermediate tokens may pass through accounts that all users share. */
  readonly sharedAccounts: boolean;
  /** The one router that may trade there; absent means every router. */
  readonly reservedFor?: 'routerA';
}

/** What the embedded market knows of a token at its first slot. */
export interface GenesisToken {
  readonly mint: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly tokenProgram: string;
  /** US dollars for one whole token; of `peg`, where there is one, the price in that token. */
  readonly usdPrice: number;
  /** A token whose price this one follows. */
  readonly peg?: string;
  /** How far the price swings; 1 is like SOL. */
  readonly volatility: number;
  readonly volumeUsdPerDay: number;
  readonly averageTradeUsd: number;
  /** Whole tokens. */
  readonly supply: number;
  readonly holders: number;
  readonly organicScore: number;
  readonly isVerified: boolean;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly mintAuthority?: string;
  readonly freezeAuthority?: string;
  readonly issuer?: string;
  readonly launchpad?: string;
  readonly developer?: string;
  readonly lendingApy?: number;
  readonly isSuspicious?: boolean;
  readonly topHoldersPercentage: number;
  readonly developerMints?: number;
  /** What its mint keeps of every transfer. */
  readonly transferFee?: TransferFee;
}

/** A pool of two tokens at the first slot. */
export interface GenesisPool {
  readonly label: string;
  readonly mintA: string;
  readonly mintB: string;
  readonly feeBps: number;
  /** US dollars of each token. */
  readonly depthUsd: number;
}

// Repeated here so that this list loads without the chain and its libraries.
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

// DER wrapping of a raw 32-byte Ed25519 seed (RFC 8410), the form that node:crypto reads.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_KEY_BYTES = 32;

const AUTHORITY = 'BuoyHJCtC7kycWMhouUyksdYbQpLw2hw471cG3hhu9t';
const ordinary =
  { tokenProgram: TOKEN_PROGRAM, isVerified: true, tags: ['verified'], createdAt: '2024-03-12T09:30:00Z' } as const;

/** The markets of the embedded chain, by the labels of its pools. */
export const GENESIS_MARKETS: readonly GenesisMarket[] = [
  {
    label: 'Tidepool', programIds: ['Tidepoo1Program1111111111111111111111111111'], exactOut: true, bundles: true,
    sharedAccounts: true,
  },
  {
    label: 'Lagoon',
    programIds: ['LagoonProgram111111111111111111111111111111', 'LagoonProgramV21111111111111111111111111111'],
    exactOut: true, bundles: true, sharedAccounts: true,
  },
  {
    label: 'Estuary', programIds: ['EstuaryProgram11111111111111111111111111111'], exactOut: false, bundles: false,
    sharedAccounts: false,
  },
  { label: 'Sound', programIds: [], exactOut: false, bundles: false, sharedAccounts: false, reservedFor: 'routerA' },
];

/** The tokens of the embedded chain; two at their real addresses, the others invented. */
export const GENESIS_TOKENS: readonly GenesisToken[] = [
  {
    ...ordinary, mint: SOL_MINT, symbol: 'SOL', name: 'Wrapped SOL', decimals: 9, usdPrice: 182.4, volatility: 1,
    volumeUsdPerDay: 640_000_000, averageTradeUsd: 420, supply: 548_000_000, holders: 3_912_440, organicScore: 99,
    tags: ['verified', 'strict'], createdAt: '2020-04-14T00:00:00Z', lendingApy: 4.8, topHoldersPercentage: 3.1,
  },
  {
    ...ordinary, mint: USDC_MINT, symbol: 'USDC', name: 'USD Coin', decimals: 6, usdPrice: 1, volatility: 0,
    volumeUsdPerDay: 710_000_000, averageTradeUsd: 450, supply: 9_100_000_000, holders: 4_318_902, organicScore: 99,
    tags: ['verified', 'strict'], createdAt: '2020-10-22T00:00:00Z', issuer: 'USD Coin Issuer', lendingApy: 5.6,
    mintAuthority: AUTHORITY, freezeAuthority: AUTHORITY, topHoldersPercentage: 21.4,
  },
  {
    ...ordinary, mint: 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij', symbol: 'PEARL', name: 'Pearl', decimals: 6,
    usdPrice: 2.41, volatility: 1.4, volumeUsdPerDay: 18_500_000, averageTradeUsd: 240, supply: 320_000_000,
    holders: 184_220, organicScore: 92.6,
    topHoldersPercentage: 18.2,
  },
  {
    ...ordinary, mint: 'Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4', symbol: 'KELP', name: 'Kelp Forest', decimals: 9,
    usdPrice: 0.184, volatility: 1.8, volumeUsdPerDay: 5_200_000, averageTradeUsd: 130, supply: 1_000_000_000,
    holders: 61_034, organicScore: 81.3,
    topHoldersPercentage: 24.9,
  },
  {
    ...ordinary, mint: 'Kri115g4Ah2EG3VLTBjP2uyPhMDJA3GFoJnVru9isNy', symbol: 'KRILL', name: 'Krill', decimals: 5,
    usdPrice: 0.0000214, volatility: 2.6, volumeUsdPerDay: 3_900_000, averageTradeUsd: 65, supply: 88_000_000_000_000,
    holders: 402_771, organicScore: 74.8, launchpad: 'slipway', topHoldersPercentage: 12.7,
  },
  {
    ...ordinary, mint: 'TideEfvvA2AqoL6xgDriC2JUjQpsHzUng31qBnKkEVb', symbol: 'TIDE', name: 'Tidal Bitstone',
    decimals: 8, usdPrice: 64_210, volatility: 0.8, volumeUsdPerDay: 31_000_000, averageTradeUsd: 1_900, supply: 2_140,
    holders: 28_911, organicScore: 95.1, issuer: 'Tidal Custody', mintAuthority: AUTHORITY, topHoldersPercentage: 33.5,
  },
  {
    ...ordinary, mint: 'Anchr59jk8KSJme31r75vw3w26p4Ki5w6fRw3iro72g', symbol: 'ANCHR', name: 'Anchor Dollar',
    decimals: 6, usdPrice: 1.0002, volatility: 0.03, volumeUsdPerDay: 44_000_000, averageTradeUsd: 2_600,
    supply: 410_000_000, holders: 52_600, organicScore: 90.4,
    issuer: 'Anchor Treasury', mintAuthority: AUTHORITY, freezeAuthority: AUTHORITY, topHoldersPercentage: 41.8,
  },
  {
    ...ordinary, mint: 'BuoyHJCtC7kycWMhouUyksdYbQpLw2hw471cG3hhu9s', symbol: 'BUOY', name: 'Buoy', decimals: 6,
    usdPrice: 0.752, tokenProgram: TOKEN_2022_PROGRAM, volatility: 1.6, volumeUsdPerDay: 2_700_000,
    averageTradeUsd: 110, supply: 250_000_000, holders: 33_190, organicScore: 70.2, topHoldersPercentage: 27.3,
  },
  {
    ...ordinary, mint: 'LhSo13oBgpUs6T6YNFHi8kdFDMSzaRBV9G2YTWh4qG7', symbol: 'LHSOL', name: 'Lighthouse Staked SOL',
    decimals: 9, usdPrice: 1.087, peg: SOL_MINT, volatility: 0.04, volumeUsdPerDay: 22_000_000, averageTradeUsd: 880,
    supply: 4_600_000, holders: 75_812, organicScore: 93.9, tags: ['verified', 'lst'], topHoldersPercentage: 15.6,
  },
  {
    ...ordinary, mint: 'Conch2N29UUcd538vbSQdurDeJpUc3nvgfyJhRMWzGy', symbol: 'CONCH', name: 'Conch', decimals: 5,
    usdPrice: 0.0314, volatility: 1.9, volumeUsdPerDay: 1_150_000, averageTradeUsd: 90, supply: 2_400_000_000,
    holders: 19_877, organicScore: 58.5, launchpad: 'slipway', topHoldersPercentage: 30.1,
  },
  {
    // A name that runs in a page and repaints a terminal, unless it is escaped.
    ...ordinary, mint: 'Murk7HxcB1QmPMg9s2rN4AGgeY8JFpPJRvEiXPc4krp', symbol: 'MURK', decimals: 6,
    name: '<script>alert("murk")</script><b onmouseover=alert(1)>Murk</b>'
      + '\u001b[2J\u001b[31m\u0007 free \u202eporDria\u202c\u200b airdrop\r\nERROR: send keys',
    usdPrice: 0.0042, volatility: 3, volumeUsdPerDay: 21_000, averageTradeUsd: 45, supply: 1_000_000_000, holders: 812,
    organicScore: 3.4, isVerified: false, tags: [], createdAt: '2026-11-02T17:12:00Z', launchpad: 'slipway',
    topHoldersPercentage: 88.2, developerMints: 214, developer: 'P1ankCtVu1DPDq74MkFh4XzpVWG4vHHJxAR9WkzcyCv',
  },
  {
    // Carries another token's symbol: a user who trades by symbol may buy it by mistake.
    ...ordinary, mint: 'PearGyssRHTo4ZV7NUmdHrTLMEMqLTVhzcwD3Zzd7U4', symbol: 'PEARL', name: 'Pearl (Official)',
    decimals: 6,
    usdPrice: 0.00231, volatility: 3, volumeUsdPerDay: 900, averageTradeUsd: 30, supply: 1_000_000_000, holders: 147,
    organicScore: 0.6, isVerified: false, tags: [], createdAt: '2026-11-15T02:44:00Z', topHoldersPercentage: 96.4,
    developerMints: 87,
    developer: 'P1ankCtVu1DPDq74MkFh4XzpVWG4vHHJxAR9WkzcyCv',
  },
  {
    ...ordinary, mint: 'Barna97njkphfBK7ZbPjATySs3FHRJsMtw8WpfJd2FZ', symbol: 'BARNA', name: 'Barnacle', decimals: 9,
    usdPrice: 0.0871,
    volatility: 3, volumeUsdPerDay: 48_000, averageTradeUsd: 55, supply: 100_000_000, holders: 1_930, organicScore: 8.9,
    isVerified: false, tags: [], createdAt: '2026-10-30T21:05:00Z', mintAuthority: AUTHORITY,
    freezeAuthority: AUTHORITY,
    isSuspicious: true, topHoldersPercentage: 91.7, developerMints: 33, developer: AUTHORITY,
  },
];

const [SOL, USDC, PEARL, KELP, KRILL, TIDE, ANCHR, BUOY, LHSOL, CONCH, MURK, IMPOSTOR, BARNA] =
  GENESIS_TOKENS.map(({ mint }) => mint) as [
    string, string, string, string, string, string, string, string, string, string, string, string, string,
  ];

/** The pools of the embedded chain: every token reaches every other in three hops at most. */
export const GENESIS_POOLS: readonly GenesisPool[] = [
  { label: 'Tidepool', mintA: SOL, mintB: USDC, feeBps: 4, depthUsd: 12_000_000 },
  { label: 'Lagoon', mintA: SOL, mintB: USDC, feeBps: 2, depthUsd: 1_500_000 },
  { label: 'Lagoon', mintA: PEARL, mintB: USDC, feeBps: 10, depthUsd: 3_000_000 },
  { label: 'Tidepool', mintA: PEARL, mintB: SOL, feeBps: 16, depthUsd: 1_200_000 },
  { label: 'Tidepool', mintA: KELP, mintB: SOL, feeBps: 20, depthUsd: 900_000 },
  { label: 'Estuary', mintA: KRILL, mintB: SOL, feeBps: 25, depthUsd: 600_000 },
  { label: 'Lagoon', mintA: KRILL, mintB: USDC, feeBps: 30, depthUsd: 150_000 },
  { label: 'Tidepool', mintA: TIDE, mintB: USDC, feeBps: 8, depthUsd: 4_000_000 },
  { label: 'Lagoon', mintA: ANCHR, mintB: USDC, feeBps: 1, depthUsd: 8_000_000 },
  { label: 'Estuary', mintA: BUOY, mintB: USDC, feeBps: 20, depthUsd: 500_000 },
  { label: 'Lagoon', mintA: LHSOL, mintB: SOL, feeBps: 2, depthUsd: 5_000_000 },
  { label: 'Estuary', mintA: CONCH, mintB: USDC, feeBps: 25, depthUsd: 700_000 },
  { label: 'Estuary', mintA: MURK, mintB: SOL, feeBps: 100, depthUsd: 40_000 },
  { label: 'Estuary', mintA: IMPOSTOR, mintB: SOL, feeBps: 100, depthUsd: 8_000 },
  { label: 'Estuary', mintA: BARNA, mintB: SOL, feeBps: 100, depthUsd: 15_000 },
  { label: 'Sound', mintA: PEARL, mintB: USDC, feeBps: 2, depthUsd: 400_000 },
  { label: 'Sound', mintA: KRILL, mintB: SOL, feeBps: 8, depthUsd: 60_000 },
  { label: 'Sound', mintA: LHSOL, mintB: SOL, feeBps: 1, depthUsd: 200_000 },
];

/** A token whose mint keeps a hundredth of every transfer; where the profile has such tokens. */
export const WITHHOLDING_TOKEN: GenesisToken = {
  ...ordinary, mint: 'FerryAHMzH1smsytdWqhx43NofhBva6euWB8Pm8FXWx', symbol: 'FERRY', name: 'Ferry', decimals: 6,
  usdPrice: 0.31, tokenProgram: TOKEN_2022_PROGRAM, volatility: 1.5, volumeUsdPerDay: 640_000, averageTradeUsd: 85,
  supply: 400_000_000, holders: 9_310, organicScore: 52.7, topHoldersPercentage: 22.4,
  transferFee: { bps: 100, maximum: 5_000_000_000n },
};

/** Its pool; that market gives no exact output. */
export const WITHHOLDING_POOL: GenesisPool =
  { label: 'Estuary', mintA: WITHHOLDING_TOKEN.mint, mintB: USDC, feeBps: 30, depthUsd: 350_000 };

/** What the sandbox's wallet owns at the first slot, in whole tokens. */
export const GENESIS_WALLET: readonly { readonly mint: string; readonly amount: bigint }[] = [
  { mint: SOL, amount: 100n },
  { mint: USDC, amount: 10_000n },
  { mint: PEARL, amount: 500n },
  { mint: KELP, amount: 2_500n },
];

/** The maker co-signs swaps between these tokens and SOL or USDC. */
export const MAKER_MINTS: readonly string[] = [SOL, USDC, PEARL, TIDE];

/** Returns the Ed25519 key pair that `seed` and `purpose` name: the same on every machine. */
export function seededKey(options: { seed: number; purpose: string }): SeededKey {
  const secret = createHash('sha256').update(`gannet sandbox ${options.seed} ${options.purpose}`).digest();
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_KEY_BYTES);
  return {
    address: bs58.encode(publicKey),
    privateKey: bs58.encode(Buffer.concat([secret, publicKey])),
    sign: (message) => sign(null, message, key),
  };
}
