import type { FastifyInstance } from 'fastify';
import { U64_MAX } from '../../../core/amount.ts';
import { associatedTokenAddress, isAddress, NATIVE_MINT } from '../../chain/addresses.ts';
import type { SandboxChain } from '../../chain/chain.ts';
import type { PaymentVersion } from '../../chain/faucet.ts';
import { PAYMENT_VERSIONS } from '../../chain/faucet.ts';
import type { Market } from '../../market/market.ts';
import { createTokenAccount, transferTokens } from '../build/instructions.ts';
import type { ServiceContext } from '../context.ts';
import { parseFaultRule } from '../faults/fault-rule.ts';
import { badRequest } from '../http/request-error.ts';
import { SYSTEM_ACCOUNT_RENT_LAMPORTS } from '../routing/network-fees.ts';
import { fieldsOf, predictionState, registerPredictionControl } from './prediction-control.ts';

const MOST_SLOTS = 1_000_000;
const SMALLEST_USD = 1e-9;
const LARGEST_USD = 1e9;
/** The most SOL that one funding gives: lamports beyond 2^52 are not exact in every client. */
const MOST_LAMPORTS = 2n ** 52n;

/** Serves `/sandbox/*`: the operator's controls of the sandbox. Needs no key. */
export function registerControl(app: FastifyInstance, context: ServiceContext): void {
  app.get('/sandbox/state', (_request, reply) => reply.send(stateOf(context)));
  app.post('/sandbox/faults', (request, reply) => {
    context.faults.add(parseFaultRule(request.body));
    return reply.send({ faults: context.faults.rules });
  });
  app.delete('/sandbox/faults', (_request, reply) => {
    context.faults.clear();
    return reply.send({ faults: context.faults.rules });
  });
  app.post('/sandbox/price', (request, reply) => {
    const price = parsePrice(context.market, request.body);
    context.market.setPrice(price);
    return reply.send(price);
  });
  app.post('/sandbox/time', (request, reply) => {
    const { advance_slots: count } = fieldsOf(request.body, ['advance_slots']);
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 1 || count > MOST_SLOTS) {
      throw badRequest(`advance_slots: expected a whole number of 1 to ${MOST_SLOTS}`);
    }
    context.advanceSlots(count);
    return reply.send({ slot: context.chain.slot, block_height: context.chain.blockHeight });
  });
  app.post('/sandbox/fund', (request, reply) => reply.send(fund(context, request.body)));
  registerPredictionControl(app, context);
}

function stateOf(context: ServiceContext): object {
  const { chain, market, faults } = context;
  return {
    seed: context.seed,
    speed: context.speed,
    slot: chain.slot,
    block_height: chain.blockHeight,
    time: new Date(context.nowMs()).toISOString(),
    transactions: chain.transactionCount,
    orders: context.orders.size,
    maker: context.maker.key.address,
    prices: market.tokens.map(({ mint, symbol }) => ({ mint, symbol, usd: market.usdPrice(mint) })),
    pools: context.pools.map(({ address, label, mintA, mintB, feeBps }) => {
      const { reserveA, reserveB } = chain.readPool(address);
      return {
        address, label, mint_a: mintA, mint_b: mintB, fee_bps: feeBps, reserve_a: reserveA.toString(),
        reserve_b: reserveB.toString(),
      };
    }),
    ...predictionState(context.prediction),
    lend_positions: context.lending.vaults.map(({ position, mint }) => ({ position, mint })),
    faults: faults.rules,
  };
}

/** Returns the body of `POST /sandbox/price`, checked. Throws a RequestError (400). */
export function parsePrice(market: Pick<Market, 'tokens'>, body: unknown): { mint: string; usd: number } {
  const { mint, usd } = fieldsOf(body, ['mint', 'usd']);
  if (typeof mint !== 'string' || !market.tokens.some((token) => token.mint === mint))
    throw badRequest('mint: expected a mint of the sandbox');
  if (typeof usd !== 'number' || !(usd >= SMALLEST_USD && usd <= LARGEST_USD)) {
    throw badRequest(`usd: expected a number of ${SMALLEST_USD} to ${LARGEST_USD}`);
  }
  return { mint, usd };
}

function fund({ chain, tokens }: ServiceContext, body: unknown): object {
  const { owner, mint, amount: text, transaction_version: asked } =
    fieldsOf(body, ['owner', 'mint', 'amount', 'transaction_version']);
  if (typeof owner !== 'string' || !isAddress(owner)) throw badRequest('owner: expected a base58 address');
  if (typeof mint !== 'string' || !tokens.has(mint)) throw badRequest('mint: expected a mint of the sandbox');
  const version = PAYMENT_VERSIONS.find((each) => each === asked);
  if (version === undefined && asked !== undefined)
    throw badRequest(`transaction_version: expected one of ${PAYMENT_VERSIONS.join(', ')}`);
  const amount = typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n;
  const held = mint === NATIVE_MINT ? chain.balance(owner) : chain.tokenBalance({ owner, mint });
  const most = (mint === NATIVE_MINT ? MOST_LAMPORTS : U64_MAX) - held;
  if (amount < 1n || amount > most)
    throw badRequest(`amount: expected a string of digits, 1 to ${most} smallest units`);
  if (mint === NATIVE_MINT) {
    if (held + amount < SYSTEM_ACCOUNT_RENT_LAMPORTS) {
      throw badRequest(
        `amount: expected at least ${SYSTEM_ACCOUNT_RENT_LAMPORTS - held} lamports, the rent of a new account`,
      );
    }
    const signature = chain.faucet.airdrop(owner, amount, version);
    return { owner, mint, balance: chain.balance(owner).toString(), ...(version === undefined ? {} : { signature }) };
  }
  const given = version === undefined ? { account: chain.fundToken({ owner, mint, amount }) }
    : payTokens(chain, { owner, mint, amount, version });
  return { owner, mint, ...given, balance: chain.tokenBalance({ owner, mint }).toString() };
}

/** Sends tokens by a transaction of the faucet, which also opens the account that receives them. */
function payTokens(
  chain: SandboxChain, { owner, mint, amount, version }: {
    owner: string; mint: string; amount: bigint; version: PaymentVersion;
  },
): { account: string; signature: string } {
  const { faucet } = chain;
  const token = chain.mint(mint);
  const account = associatedTokenAddress(owner, mint, token.tokenProgram);
  const from = chain.fundToken({ owner: faucet.address, mint, amount });
  const signature = faucet.send([
    createTokenAccount({ payer: faucet.address, owner, mint, tokenProgram: token.tokenProgram }),
    transferTokens({ from, to: account, owner: faucet.address, token: { ...token, mint }, amount }),
  ], version);
  return { account, signature };
}
