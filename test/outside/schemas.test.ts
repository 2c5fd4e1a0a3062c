import { VersionedTransaction, Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { asyncScheduler } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { amount, type Amount } from '../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT, type Mint } from '../../src/market/token.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { PROFILES } from '../../src/sandbox/service/context.ts';
import { createService, type Service } from '../../src/service/service.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { startExchangeLog, type ExchangeLog } from './exchange-log.ts';

const STILL_SLOT_MS = 60_000;
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
const units = (value: number): Amount => amount(BigInt(value));
const SELL = { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: units(100_000_000) };
const BUY = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: units(20_000_000) };

describe.each(PROFILES)('Gannet’s client and the sandbox in the profile %s against the schemas', (profile) => {
  let sandbox: Sandbox;
  let log: ExchangeLog;
  let service: Service;
  let keypair: Keypair;
  let taker: string;

  beforeAll(async () => {
    sandbox = await startSandbox({ seed: 7, speed: 0, slotMs: STILL_SLOT_MS, profile });
    log = await startExchangeLog(sandbox, profile);
    service = createService({
      baseUrl: log.baseUrl, apiKey: 'outside', clock: asyncScheduler, plan: { requestsPerSecond: 1_000_000 },
      dialect: loadDialect('neutral'),
    });
    keypair = Keypair.fromSecretKey(bs58.decode(sandbox.addresses.wallet.private_key));
    taker = keypair.publicKey.toBase58();
  });
  afterAll(async () => {
    await service.close();
    await log.close();
    await sandbox.close();
  });

  function expectNoFault(): void {
    expect(log.faults).toEqual([]);
  }

  test('orders with every option fit, and so does what their execution says', async () => {
    const { swap } = service;
    const receiver = Keypair.generate().publicKey.toBase58();
    const payer = Keypair.generate();
    sandbox.chain.airdrop(payer.publicKey.toBase58(), 1_000_000_000n);
    await swap.order(SELL);
    await swap.order({ ...BUY, amount: units(900_000_000), taker });
    for (const options of [
      {}, { receiver }, { slippageBps: 51 }, { excludeRouters: ['rfqz', 'routerA'] }, { swapMode: 'ExactIn' as const },
      { excludeRouters: ['rfqz', 'routerA', 'routerB'], excludeDexes: ['Lagoon', 'Estuary'] },
      { referralAccount: receiver, referralFee: 120 }, { payer: payer.publicKey.toBase58() },
      { priorityFeeLamports: 20_000n, bundleTipLamports: 5_000n, broadcastFeeType: 'maxCap' as const },
    ]) {
      const { transaction, requestId, lastValidBlockHeight } = await swap.order({ ...BUY, taker, ...options });
      if ('payer' in options || transaction === undefined) continue;
      const signed = VersionedTransaction.deserialize(transaction);
      signed.sign([keypair]);
      await swap.execute({
        signedTransaction: signed.serialize(), requestId: requestId!,
        ...('slippageBps' in options && lastValidBlockHeight !== undefined ? { lastValidBlockHeight } : {}),
      });
    }
    const poor = Keypair.generate().publicKey.toBase58();
    expect((await swap.order({ ...SELL, taker: poor })).transaction).toBeUndefined();
    expectNoFault();
  });

  test('builds with every option fit', async () => {
    const { swap } = service;
    const friend = Keypair.generate().publicKey.toBase58();
    const feeAccount = sandbox.chain.fundToken({ owner: friend, mint: USDC_MINT, amount: 1n });
    for (const options of [
      {}, { slippageBps: 0 }, { mode: 'fast' as const }, { dexes: ['Lagoon', 'Tidepool'] },
      { excludeDexes: ['Lagoon'] }, { platformFeeBps: 40, feeAccount }, { maxAccounts: 30 }, { payer: friend },
      { destinationTokenAccount: feeAccount }, { blockhashSlotsToExpiry: 20 }, { wrapAndUnwrapSol: false },
    ]) await swap.build({ ...SELL, taker, ...options });
    await swap.build({ ...BUY, taker, nativeDestinationAccount: friend });
    expectNoFault();
  });

  test('the first version with every option fits, and a quote goes back as it came', async () => {
    const { swapV1 } = service;
    const quotes = [
      await swapV1.quote(SELL), await swapV1.quote({ ...BUY, swapMode: 'ExactOut', amount: units(50_000_000) }),
      await swapV1.quote({ ...SELL, instructionVersion: 'V2', platformFeeBps: 30, slippageBps: 80 }),
      await swapV1.quote({
        ...SELL, dexes: ['Tidepool', 'Lagoon'], restrictIntermediateTokens: false, onlyDirectRoutes: true,
        maxAccounts: 40n, dynamicSlippage: true, forBundle: true, asLegacyTransaction: true,
      }),
    ];
    const feeAccount = sandbox.chain.fundToken({ owner: taker, mint: USDC_MINT, amount: 1n });
    await swapV1.swap({ userPublicKey: taker, quoteResponse: quotes[0]! });
    await swapV1.swap({ userPublicKey: taker, quoteResponse: quotes[1]!, dynamicComputeUnitLimit: true });
    await swapV1.swap({
      userPublicKey: taker, quoteResponse: quotes[2]!, feeAccount, computeUnitPriceMicroLamports: 1_000n,
      skipUserAccountsRpcCalls: true, blockhashSlotsToExpiry: 100, trackingAccount: taker,
    });
    await swapV1.swap({
      userPublicKey: taker, quoteResponse: quotes[3]!, asLegacyTransaction: true, dynamicSlippage: true,
      prioritizationFeeLamports: 40_000,
    });
    await swapV1.swapInstructions({ userPublicKey: taker, quoteResponse: quotes[0]!, useSharedAccounts: true });
    expectNoFault();
  });

  test('tokens, lending and prediction markets fit', async () => {
    const { tokens, prediction, lend } = service;
    await tokens.search([SOL_MINT, PEARL]);
    await tokens.search(['PEARL', 'usd']);
    await tokens.recent();
    await tokens.tag('verified');
    const state = JSON.parse((await sandbox.answer({
      method: 'GET', url: '/sandbox/state', headers: {}, body: undefined,
    })).body.toString()) as {
      lend_positions: { position: string }[]; prediction_owners: { address: string }[];
      prediction_events: { event_id: string; markets: string[] }[];
    };
    await lend.earnings({ user: taker, positions: state.lend_positions.map(({ position }) => position) });
    await prediction.searchEvents({ query: 'a' });
    const [event] = state.prediction_events;
    await prediction.eventMarkets(event!.event_id);
    for (const market of event!.markets) await prediction.orderBook(market);
    for (const { address } of state.prediction_owners) {
      await prediction.positions({ owner: address });
      await prediction.history({ owner: address });
    }
    expectNoFault();
  });

  test('no endpoint of the list was left out', () => {
    expect(log.unseen()).toEqual([]);
  });

  test('an answer that was changed is seen, and so is a request', async () => {
    const changed: Pick<Sandbox, 'answer'> = { async answer(request) {
      const real = await sandbox.answer(request);
      const { outAmount: _outAmount, ...body } = JSON.parse(real.body.toString()) as Record<string, unknown>;
      return { ...real, headers: {}, body: Buffer.from(JSON.stringify({ ...body, inAmount: 5, unheardOf: 1 })) };
    } };
    const other = await startExchangeLog(changed, profile);
    const path = `/swap/v2/order?inputMint=${SOL_MINT}&outputMint=${USDC_MINT}&amount=1000000`;
    try {
      for (const url of [path, `${path}&excludeRouters=rfqz,`])
        await (await fetch(`${other.baseUrl}${url}`, { headers: { 'x-api-key': 'k' } })).text();
      const seen = [/request: \/excludeRouters must match/, /answer: \/inAmount must be string/];
      if (profile === 'reference') seen.push(/required property 'outAmount'/, /additional properties.*unheardOf/);
      for (const words of seen) expect(other.faults.some((fault) => words.test(fault)), String(words)).toBe(true);
    } finally {
      await other.close();
    }
  });
});
