import {
  createApproveCheckedInstruction, createAssociatedTokenAccountIdempotentInstruction, createInitializeMintInstruction,
  createInitializeTransferFeeConfigInstruction, createMintToCheckedInstruction, createTransferCheckedInstruction,
  ExtensionType, getAssociatedTokenAddressSync, getMintLen, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import type { TransactionInstruction } from '@solana/web3.js';
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import type { SwapInstruction } from '../../src/trading/swap-terms.ts';
import type { Trap } from './trap.ts';
import type { Trader } from './trader.ts';
import { newTrader } from './trader.ts';
import type { TrapFixture } from './trap-fixture.ts';
import { EXECUTE, SOL, USDC } from './trap-fixture.ts';
import { swapInstruction } from '../sandbox/chain/web3.ts';

const DECIMALS = 6;
const TRANSFER_FEE_BPS = 100n;
const TOKEN_2022_RENT = 2_074_080n;

/** A token that keeps a percent of every transfer, and a house that sells it. */
interface TaxedToken {
  readonly mint: Mint;
  readonly house: Keypair;
  /** Returns the account of the token, or of dollars, of an owner. */
  accountOf(owner: string, mint?: Mint): PublicKey;
}

/**
 * Mints a token with the transfer-fee extension, by the token program's own instructions, and lets the buyer draw on
 * the house's stock.
 */
async function taxedToken(fixture: TrapFixture, buyer: Trader): Promise<TaxedToken> {
  const [house, mint] = [Keypair.generate(), Keypair.generate()];
  await fixture.fund(house.publicKey.toBase58(), SOL, 1_000_000_000n);
  await fixture.fund(house.publicKey.toBase58(), USDC, 1n);
  const node = new Connection(fixture.rpcUrl, { commitment: 'confirmed', disableRetryOnRateLimit: true });
  const space = getMintLen([ExtensionType.TransferFeeConfig]);
  const stock = getAssociatedTokenAddressSync(mint.publicKey, house.publicKey, true, TOKEN_2022_PROGRAM_ID);
  const transaction = new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: house.publicKey, newAccountPubkey: mint.publicKey, space,
      lamports: Number(fixture.sandbox.chain.rentExemption(space)), programId: TOKEN_2022_PROGRAM_ID,
    }),
    createInitializeTransferFeeConfigInstruction(
      mint.publicKey, house.publicKey, house.publicKey, Number(TRANSFER_FEE_BPS), 2n ** 60n, TOKEN_2022_PROGRAM_ID,
    ),
    createInitializeMintInstruction(mint.publicKey, DECIMALS, house.publicKey, null, TOKEN_2022_PROGRAM_ID),
    createAssociatedTokenAccountIdempotentInstruction(
      house.publicKey, stock, house.publicKey, mint.publicKey, TOKEN_2022_PROGRAM_ID,
    ),
    createMintToCheckedInstruction(
      mint.publicKey, stock, house.publicKey, 10n ** 15n, DECIMALS, [], TOKEN_2022_PROGRAM_ID,
    ),
    createApproveCheckedInstruction(
      stock, mint.publicKey, new PublicKey(buyer.address), house.publicKey, 10n ** 15n, DECIMALS, [],
      TOKEN_2022_PROGRAM_ID,
    ),
  );
  transaction.feePayer = house.publicKey;
  transaction.recentBlockhash = (await node.getLatestBlockhash()).blockhash;
  transaction.sign(house, mint);
  const signature = await node.sendRawTransaction(transaction.serialize());
  expect(fixture.sandbox.chain.transaction(signature)?.error).toBeNull();
  const address = mint.publicKey.toBase58() as Mint;
  return {
    mint: address, house,
    accountOf: (owner, of = address) => getAssociatedTokenAddressSync(
      new PublicKey(of), new PublicKey(owner), true, of === address ? TOKEN_2022_PROGRAM_ID : TOKEN_PROGRAM_ID,
    ),
  };
}

/** The service as it would be if it traded the taxed token at the price of another: `how` is what its swap does. */
function trading(token: TaxedToken, trader: Trader, like: Mint, how: (amountIn: Amount, amountOut: Amount) =>
    readonly TransactionInstruction[]): ExecutorPorts['service'] {
  const real = trader.parts.service;
  return {
    ...real,
    order: async (request, urgency) =>
      ({ ...await real.order({ ...request, outputMint: like }, urgency), outputMint: token.mint }),
    build: async (request, urgency) => {
      const build = await real.build({ ...request, outputMint: like }, urgency);
      const [swap, ...others] = how(request.amount, build.outAmount).map(asBuilt);
      const buyer = new PublicKey(trader.address);
      const account = createAssociatedTokenAccountIdempotentInstruction(
        buyer, token.accountOf(trader.address), buyer, new PublicKey(token.mint), TOKEN_2022_PROGRAM_ID,
      );
      return {
        ...build, outputMint: token.mint, setupInstructions: [asBuilt(account)], swapInstruction: swap!,
        cleanupInstruction: undefined, otherInstructions: others, lookupTables: {},
      };
    },
  };
}

function asBuilt({ programId, keys, data }: TransactionInstruction): SwapInstruction {
  return { programId: programId.toBase58(), accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
    pubkey: pubkey.toBase58(), isSigner, isWritable,
  })), data };
}

export const token2022: Trap = {
  number: 8,
  title: 'Token-2022 tokens may keep a part of each transfer, need other accounts, and can be refused by a market',
  plays: [
    {
      says: 'a token with a transfer fee of one percent: the received amount is booked, not the quoted one',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const token = await taxedToken(fixture, trader);
        const buyer = new PublicKey(trader.address);
        const house = token.house.publicKey.toBase58();
        const service = trading(token, trader, fixture.mint('BUOY'), (amountIn, amountOut) => [
          createTransferCheckedInstruction(
            token.accountOf(house), new PublicKey(token.mint), token.accountOf(trader.address), buyer, amountOut,
            DECIMALS, [], TOKEN_2022_PROGRAM_ID,
          ),
          createTransferCheckedInstruction(
            token.accountOf(trader.address, USDC), new PublicKey(USDC), token.accountOf(house, USDC), buyer, amountIn,
            6,
          ),
        ]);
        const { last } =
          await trader.carryOut(trader.intent({ outputMint: token.mint, route: 'build' }), { parts: { service } });
        expect(last).toMatchObject({ state: 'confirmed', fill: { amountIn: 20_000_000n } });
        const quoted = last.quotedOut!;
        const kept = (quoted * TRANSFER_FEE_BPS + 9_999n) / 10_000n;
        expect(last.fill!.amountOut).toBe(quoted - kept);
        expect(fixture.held(trader.address, token.mint)).toBe(quoted - kept);
      },
    },
    {
      says: 'a market that cannot hold such a token refuses it (6008): seen on trial, before anything is signed',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const token = await taxedToken(fixture, trader);
        const { chain } = fixture.sandbox;
        const pool =
          chain.createPool({ mintA: token.mint, mintB: USDC, feeBps: 20, reserveA: 10n ** 12n, reserveB: 10n ** 12n });
        const service = trading(token, trader, fixture.mint('BUOY'), (amountIn) => [
          swapInstruction({
            chain, user: trader.address, hops: [{ pool: pool.address, inputMint: USDC, outputMint: token.mint }],
            amountIn, minimumOut: 1n,
          }),
        ]);
        const { last } = await trader.refused(
          /^6008$/, trader.intent({ outputMint: token.mint, route: 'build' }), { parts: { service } },
        );
        expect(last.reason).toMatch(/would fail/);
      },
    },
    {
      says: 'a plain token of the newer program swaps by both routes, and its larger deposit is booked as it is',
      async play(fixture) {
        const buoy = { outputMint: fixture.mint('BUOY') };
        for (const route of ['order', 'build'] as const) {
          const trader = await newTrader(fixture);
          const { last } = await trader.carryOut(trader.intent({ ...buoy, route }));
          expect(last)
            .toMatchObject({ state: 'confirmed', fill: { amountOut: last.quotedOut, rentLamports: TOKEN_2022_RENT } });
          expect(fixture.held(trader.address, buoy.outputMint)).toBe(last.fill!.amountOut);
        }
      },
    },
    {
      says: 'a fee of our own reaches an account of the newer program',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const collector = Keypair.generate().publicKey.toBase58();
        const buoy = fixture.mint('BUOY');
        await fixture.fund(collector, buoy, 1n);
        const feeAccount = getAssociatedTokenAddressSync(
          new PublicKey(buoy), new PublicKey(collector), true, TOKEN_2022_PROGRAM_ID,
        ).toBase58();
        const build = await fixture.service.swap.build({
          inputMint: USDC, outputMint: buoy, amount: amount(20_000_000n), taker: trader.address, platformFeeBps: 50,
          feeAccount,
        });
        const { transaction } =
          await trader.signUnread((await fixture.chain.compose(build, trader.address)).transaction);
        expect(await fixture.chain.send(transaction)).toEqual({ kind: 'accepted' });
        const received = fixture.held(trader.address, buoy);
        expect(received).toBe(build.outAmount);
        const fee = fixture.held(collector, buoy) - 1n;
        expect(Number(fee) / Number(received + fee)).toBeCloseTo(0.005, 6);
      },
    },
    {
      says: 'the ledger books the chain’s balances, not the amounts that /execute states',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({ path: EXECUTE, fault: { kind: 'patch', set: {
          '/totalOutputAmount': '999999999999', '/outputAmountResult': '999999999999', '/totalInputAmount': '1',
          '/swapEvents': [],
        } } });
        // Within the slippage that is allowed, so that less arrives than was quoted.
        const service: ExecutorPorts['service'] = {
          ...trader.parts.service,
          execute: async (request) => {
            if (fixture.held(trader.address, USDC) === 2_000_000_000n) await fixture.scalePrice(SOL, 1.005);
            return trader.parts.service.execute(request);
          },
        };
        const { last } = await trader.carryOut(trader.intent({ maxSlippageBps: 100 as Bps }), { parts: { service } });
        expect(last.state).toBe('confirmed');
        expect(last.fill!.amountOut).toBeLessThan(last.quotedOut!);
        expect(Number(last.fill!.amountOut) / Number(last.quotedOut)).toBeCloseTo(1 / 1.005, 3);
      },
    },
  ],
};
