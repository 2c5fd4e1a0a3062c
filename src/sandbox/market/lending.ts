import type { GenesisToken } from '../genesis.ts';

/** Where a token is lent: one position address for all lenders. */
interface LendingVault {
  readonly position: string;
  readonly mint: string;
}

/** The lending product of the sandbox. Deposits are on no chain: the reference has no endpoint that makes one. */
export interface Lending {
  readonly vaults: readonly LendingVault[];
  /**
   * Returns what an owner has earned on a position by then, in the token's smallest units, floored; 0 where nothing is
   * lent.
   */
  earnings(options: { user: string; position: string; nowMs: number }): number;
}

const YEAR_MS = 365.25 * 86_400_000;
/** The sandbox's wallet has lent this value of each token, since so long before the start. */
const DEPOSIT_USD = 1_500;
const LENT_BEFORE_START_MS = 45 * 86_400_000;
const PERCENT = 100;

/** Returns the lending of the tokens that have a yield. It compounds continuously up to `lendingApy` percent a year. */
export function createLending(options: {
  readonly tokens: readonly GenesisToken[]; readonly wallet: string; readonly startedAtMs: number;
  readonly addressOf: (purpose: string) => string;
}): Lending {
  const lent = options.tokens.filter(({ lendingApy }) => lendingApy !== undefined).map((token) => ({
    position: options.addressOf(`lending:${token.mint}`),
    mint: token.mint,
    apy: token.lendingApy!,
    principal: Math.round((DEPOSIT_USD / token.usdPrice) * 10 ** token.decimals),
  }));
  return {
    vaults: lent.map(({ position, mint }) => ({ position, mint })),
    earnings({ user, position, nowMs }) {
      const vault = lent.find((candidate) => candidate.position === position);
      if (vault === undefined || user !== options.wallet) return 0;
      const years = (nowMs - options.startedAtMs + LENT_BEFORE_START_MS) / YEAR_MS;
      return Math.floor(vault.principal * ((1 + vault.apy / PERCENT) ** years - 1));
    },
  };
}
