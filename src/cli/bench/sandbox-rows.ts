import { systemClock } from '../../daemon/system-clock.ts';
import type { World } from '../../daemon/world.ts';
import { EMBEDDED_PLAN } from '../../config/resolve-connections.ts';
import { openWorld } from '../../daemon/world.ts';
import type { Amount } from '../../core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import type { Signer } from '../../signer/sign.ts';
import { createSigner } from '../../signer/sign.ts';
import { parseSecretKey } from '../../signer/key.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, percentile, stopwatch } from './measurement.ts';

const RUNS = 5;
const SWAPS_PER_RUN = 100;
const ASKED = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 1_000_000n as Amount };

/**
 * Latency and throughput against the embedded service over HTTP, one request after the other. The latencies are those
 * of the bot's own work: from the answer that came to the bytes that can leave.
 */
export const SANDBOX_ROWS: readonly BenchRow[] = [
  { name: 'order-to-signed', measure: () => inSandbox((world, signer) => latency('order-to-signed', () => orderToSigned(world, signer))) },
  { name: 'build-to-signed', measure: () => inSandbox((world, signer) => latency('build-to-signed', () => buildToSigned(world, signer))) },
  { name: 'sandbox-swaps', measure: () => inSandbox(swapsPerSecond) },
];

async function inSandbox(measure: (world: World, signer: Signer) => Promise<Measurement>): Promise<Measurement> {
  const world = await openWorld({
    baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: EMBEDDED_PLAN, seed: 7, clock: systemClock,
  });
  try {
    return await measure(world, createSigner(parseSecretKey(world.sandbox!.addresses.wallet.private_key)));
  } finally {
    await world.close();
  }
}

/** The median of each run's medians: one slow moment of the machine is not the program's. */
async function latency(name: string, once: () => Promise<number>): Promise<Measurement> {
  const medians: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const times: number[] = [];
    for (let swap = 0; swap < SWAPS_PER_RUN; swap++) times.push(await once());
    medians.push(percentile(times.sort((a, b) => a - b), 0.5));
  }
  return measured(name, 'ms', medians);
}

async function orderToSigned({ service, chain }: World, signer: Signer): Promise<number> {
  const order = await service.swap.order({ ...ASKED, taker: signer.address, slippageBps: 50 });
  const startedAt = stopwatch();
  chain!.readTransaction(order.transaction!);
  await signer.sign(order.transaction!);
  return stopwatch() - startedAt;
}

/** Includes the simulation that sets the compute-unit limit, a round trip to the node. */
async function buildToSigned({ service, chain }: World, signer: Signer): Promise<number> {
  const build = await service.swap.build({ ...ASKED, taker: signer.address, slippageBps: 50 });
  const startedAt = stopwatch();
  const { transaction } = await chain!.compose(build, signer.address);
  await signer.sign(transaction);
  return stopwatch() - startedAt;
}

async function swapsPerSecond({ service }: World, signer: Signer): Promise<Measurement> {
  const rates: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = stopwatch();
    for (let swap = 0; swap < SWAPS_PER_RUN; swap++) {
      // Both directions in turn: otherwise the wallet would run dry.
      const asked = swap % 2 === 0 ? ASKED : { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 5_000_000n as Amount };
      const order = await service.swap.order({ ...asked, taker: signer.address, slippageBps: 100 });
      const signed = await signer.sign(order.transaction!);
      const answer = await service.swap.execute({ signedTransaction: signed.transaction, requestId: order.requestId! });
      if (answer.status !== 'success') throw new Error(`a swap of the benchmark failed: ${answer.error ?? answer.code}`);
    }
    rates.push(SWAPS_PER_RUN / ((stopwatch() - startedAt) / 1_000));
  }
  return measured('sandbox-swaps', 'swaps/s', rates);
}
