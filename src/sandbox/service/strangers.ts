import {
  TOKEN_2022_PROGRAM, TOKEN_PROGRAM, addressBytes, associatedTokenAddress, seededAddress,
} from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import type { Instruction, InstructionAccount } from '../chain/message.ts';
import { MINT_BYTES } from '../chain/token-layout.ts';
import { indexedRandom } from '../market/indexed-random.ts';
import { createSeededAccount, createTokenAccount, transferLamports } from './build/instructions.ts';

/** Strangers who send a wallet something now and then. */
interface Strangers {
  /** Sends what is due after the slot `from` and up to `to`, at most the last few. */
  run(span: { readonly from: number; readonly to: number }): void;
}

/** One gift in as many slots: ten minutes. None in the first ones, so that short runs have none. */
const SLOTS_EACH = 1_500;
const MOST_AT_ONCE = 3;
const LAMPORTS_SHARE = 0.5;
const MOST_LAMPORTS = 5_000;
const MOST_UNITS = 1e15;
/** Of the transactions that are of version 1. */
const VERSION_1_SHARE = 0.5;
const INITIALIZE_MINT_2 = 20;
const MINT_TO = 7;
const MOST_DECIMALS = 255;

function writable(pubkey: string): InstructionAccount {
  return { pubkey, isSigner: false, isWritable: true };
}

/**
 * Returns the strangers of a seed: they send lamports, and tokens of their own with 0 to 255 decimals, of both token
 * programs, each by a transaction of its own, of version 0 or 1. Each gift depends on the seed and its place in time
 * alone.
 */
export function createStrangers(
  { seed, chain, wallet }: { readonly seed: number; readonly chain: SandboxChain; readonly wallet: string },
): Strangers {
  const random = indexedRandom(`${seed}:strangers`);
  // The faucet is a stranger to the wallet, and pays by transactions of each version.
  const { faucet } = chain;

  function gift(place: number): readonly Instruction[] {
    if (random(place, 1) < LAMPORTS_SHARE) {
      const lamports = BigInt(1 + Math.floor(random(place, 2) * MOST_LAMPORTS));
      return [transferLamports({ from: faucet.address, to: wallet, lamports })];
    }
    const tokenProgram = random(place, 3) < 0.5 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
    const amount = BigInt(1 + Math.floor(random(place, 4) * MOST_UNITS));
    const decimals = Math.floor(random(place, 5) * (MOST_DECIMALS + 1));
    return ownToken(place, { tokenProgram, amount, decimals });
  }

  function ownToken(
    place: number, { tokenProgram, amount, decimals }: { tokenProgram: string; amount: bigint; decimals: number },
  ): readonly Instruction[] {
    const { address } = faucet;
    const name = `gift ${place}`;
    const mint = seededAddress(address, name, tokenProgram);
    const made = Buffer.concat([Buffer.of(INITIALIZE_MINT_2, decimals), addressBytes(address), Buffer.of(0)]);
    const given = Buffer.alloc(9);
    given.writeUInt8(MINT_TO, 0);
    given.writeBigUInt64LE(amount, 1);
    return [
      createSeededAccount({
        payer: address, base: address, seed: name, account: mint, lamports: chain.rentExemption(MINT_BYTES),
        bytes: MINT_BYTES, owner: tokenProgram,
      }),
      { programId: tokenProgram, accounts: [writable(mint)], data: made },
      createTokenAccount({ payer: address, owner: wallet, mint, tokenProgram }),
      {
        programId: tokenProgram, data: given,
        accounts: [
          writable(mint), writable(associatedTokenAddress(wallet, mint, tokenProgram)),
          { pubkey: address, isSigner: true, isWritable: false },
        ],
      },
    ];
  }

  return {
    run({ from, to }) {
      const last = Math.floor(to / SLOTS_EACH);
      const due = Array.from({ length: MOST_AT_ONCE + 1 }, (_, back) => last - back).filter((place) => {
        const slot = place * SLOTS_EACH + Math.floor(random(place) * SLOTS_EACH);
        return place >= 1 && slot > from && slot <= to;
      });
      for (const place of due.toReversed().slice(-MOST_AT_ONCE))
        faucet.send(gift(place), random(place, 6) < VERSION_1_SHARE ? 1 : 0);
    },
  };
}
