import {
  NATIVE_MINT,
  TOKEN_PROGRAM_ID,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createSyncNativeInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { createChain, type Chain } from '../../src/chain/chain.ts';
import { amount } from '../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT, type Mint } from '../../src/market/token.ts';
import { associatedTokenAddress } from '../../src/sandbox/chain/addresses.ts';
import { createChain as createSandboxChain, type Pool, type SandboxChain } from '../../src/sandbox/chain/chain.ts';
import { quoteHop } from '../../src/sandbox/chain/swap-math.ts';
import { startRpc } from '../../src/sandbox/rpc/server.ts';
import { parseSecretKey } from '../../src/signer/key.ts';
import { createSigner, type Signer } from '../../src/signer/sign.ts';
import type { SwapBuild, SwapInstruction } from '../../src/trading/swap-terms.ts';
import { wallClock } from './hostile-node.ts';
import { priceInstruction } from './random-build.ts';
import { swapInstruction } from '../sandbox/chain/web3.ts';

/** A token of the newer token program. */
export const NEWER_MINT = Keypair.fromSeed(new Uint8Array(32).fill(200)).publicKey.toBase58() as Mint;
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const TOKEN = TOKEN_PROGRAM_ID.toBase58();

export interface ChainFixture {
  readonly node: SandboxChain;
  readonly chain: Chain;
  readonly rpcUrl: string;
  /** Pools of SOL with another token, by that token's mint. */
  readonly pools: ReadonlyMap<Mint, Pool>;
  /** Returns a wallet with 10 SOL and none of the tokens. */
  wallet(): { readonly signer: Signer; readonly address: string; readonly keypair: Keypair };
  build(options: BuildOptions): SwapBuild;
  close(): Promise<void>;
}

export interface BuildOptions {
  readonly wallet: string;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: bigint;
  /** By default what the pool would pay now. */
  readonly minimumOut?: bigint;
  readonly microLamports?: bigint;
  /** Leave wrapped SOL as it is. */
  readonly keepWrapped?: boolean;
  readonly lookupTables?: SwapBuild['lookupTables'];
}

/** Starts a chain that really executes behind real JSON-RPC, with pools of SOL and two tokens. */
export async function startChainFixture(): Promise<ChainFixture> {
  const node = createSandboxChain({ genesisUnixSeconds: 1_780_000_000 });
  node.createMint({ mint: USDC_MINT, decimals: 6, tokenProgram: TOKEN, supply: 10n ** 15n });
  node.createMint({ mint: NEWER_MINT, decimals: 5, tokenProgram: TOKEN_2022, supply: 10n ** 15n });
  const reserves = { feeBps: 30, reserveA: 1_000_000_000_000n, reserveB: 150_000_000_000n };
  const pools = new Map([USDC_MINT, NEWER_MINT].map((mintB) =>
    [mintB, node.createPool({ mintA: SOL_MINT, mintB, ...reserves })]));
  const rpc = await startRpc({ chain: node, port: 0, host: '127.0.0.1', websocketPort: 0 });
  const chain = createChain({ rpcUrl: rpc.url, clock: wallClock });
  let wallets = 0;
  node.advanceSlots(40);

  return {
    node,
    chain,
    rpcUrl: rpc.url,
    pools,
    wallet() {
      wallets += 1;
      const keypair = Keypair.fromSeed(new Uint8Array(32).fill(wallets));
      const signer = createSigner(parseSecretKey(JSON.stringify([...keypair.secretKey])));
      node.airdrop(signer.address, 10_000_000_000n);
      node.advanceSlots(2);
      return { signer, address: signer.address, keypair };
    },
    build: (options) => buildOf(node, pools, options),
    async close() {
      await chain.close();
      await rpc.close();
    },
  };
}

/** The pool's price now, to the unit. */
export function quote(node: SandboxChain, pool: Pool, options: { inputMint: Mint; amountIn: bigint }): bigint {
  const { reserveA, reserveB, feeBps } = node.readPool(pool.address);
  const [reserveIn, reserveOut] = options.inputMint === pool.mintA ? [reserveA, reserveB] : [reserveB, reserveA];
  return quoteHop({ reserveIn, reserveOut, feeBps, amountIn: options.amountIn });
}

function buildOf(node: SandboxChain, pools: ReadonlyMap<Mint, Pool>, options: BuildOptions): SwapBuild {
  const {
    wallet, inputMint, outputMint, amountIn, microLamports = 10_000n, keepWrapped = false, lookupTables = {},
  } = options;
  const pool = pools.get(inputMint === SOL_MINT ? outputMint : inputMint)!;
  const outAmount = quote(node, pool, { inputMint, amountIn });
  const owner = new PublicKey(wallet);
  const wrapped = new PublicKey(associatedTokenAddress(wallet, SOL_MINT, TOKEN));
  const wrapping = [
    SystemProgram.transfer({ fromPubkey: owner, toPubkey: wrapped, lamports: amountIn }),
    createSyncNativeInstruction(wrapped),
  ];
  const swap = swapInstruction({
    chain: node,
    user: wallet,
    hops: [{ pool: pool.address, inputMint, outputMint }],
    amountIn,
    minimumOut: options.minimumOut ?? outAmount,
  });
  const { blockhash, lastValidBlockHeight } = node.latestBlockhash();
  return {
    inputMint,
    outputMint,
    inAmount: amount(amountIn),
    outAmount: amount(outAmount),
    threshold: amount(outAmount),
    feeBps: 0,
    router: 'routerA',
    computeBudgetInstructions: [priceInstruction(microLamports)],
    setupInstructions: [
      openAccount(node, owner, inputMint), openAccount(node, owner, outputMint),
      ...(inputMint === SOL_MINT ? wrapping : []),
    ].map(plain),
    swapInstruction: plain(swap),
    cleanupInstruction: keepWrapped ? undefined : plain(createCloseAccountInstruction(wrapped, owner, owner)),
    otherInstructions: [],
    lookupTables,
    blockhash,
    lastValidBlockHeight: BigInt(lastValidBlockHeight),
  };
}

function openAccount(node: SandboxChain, owner: PublicKey, mint: Mint): TransactionInstruction {
  const { tokenProgram } = mint === SOL_MINT ? { tokenProgram: TOKEN } : node.mint(mint);
  const account = new PublicKey(associatedTokenAddress(owner.toBase58(), mint, tokenProgram));
  const mintKey = mint === SOL_MINT ? NATIVE_MINT : new PublicKey(mint);
  return createAssociatedTokenAccountIdempotentInstruction(owner, account, owner, mintKey, new PublicKey(tokenProgram));
}

function plain({ programId, keys, data }: TransactionInstruction): SwapInstruction {
  return {
    programId: programId.toBase58(),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: pubkey.toBase58(), isSigner, isWritable })),
    data,
  };
}
