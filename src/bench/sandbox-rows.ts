import type { BenchRow, Measurement } from './measurement.ts';
import { measured, percentile } from './measurement.ts';
import { EMBEDDED_PLAN } from '../config/resolve-connections.ts';
import type { Amount } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Connections } from '../daemon/run/connections.ts';
import { openConnections } from '../daemon/run/connections.ts';
import { signingAwake } from '../daemon/run/open-signer.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import { stopwatch } from '../research/stopwatch.ts';
import type { CallOptions } from '../service/rate/rate-plan.ts';
import type { SigningRequestTerms } from '../signer/authorise.ts';
import type { SignerClient } from '../signer/channel/client.ts';
import type { SwapTerms } from '../trading/swap-terms.ts';

const RUNS = 5;
const SWAPS_PER_RUN = 100;
const REQUEST = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 1_000_000n as Amount };
const REVERSE_REQUEST: typeof REQUEST = { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 5_000_000n as Amount };
const MAX_FEE_BPS = 30;
/** After this many requests in a row, processes and caches are warm. */
const AWAKE_AFTER = 4;

/** The embedded service and chain with a wallet, open in the signer process as in a run. */
interface Scene extends Connections {
  readonly address: string;
  readonly signer: Pick<SignerClient, 'sign' | 'describe' | 'expectSwap'>;
}

/**
 * Latency and throughput against the embedded service over HTTP, one request after the other. The latencies are those
 * of the bot's own work: from the received answer to the signed bytes, through the signer process with its rules and
 * counters. A signer takes one wallet, so all rows share one scene; `close` ends it.
 */
export function createSandboxRows(
  connectSigner: (() => SignerClient) | undefined,
): { readonly rows: readonly BenchRow[]; close(): Promise<void> } {
  let opening: Promise<Scene> | undefined;
  const scene = (): Promise<Scene> => (opening ??= openScene(connectSigner));
  return {
    rows: [
      { name: 'order-to-signed', measure: async () =>
        latency('order-to-signed', orderToSigned.bind(undefined, await scene())) },
      { name: 'order-to-signed-awake', measure: async () =>
        latency('order-to-signed-awake', orderToSignedAwake.bind(undefined, await scene())) },
      { name: 'signer-wake', measure: async () => latency('signer-wake', signerWake.bind(undefined, await scene())) },
      { name: 'build-to-signed', measure: async () =>
        latency('build-to-signed', buildToSigned.bind(undefined, await scene())) },
      { name: 'sandbox-swaps', measure: async () => swapsPerSecond(await scene()) },
    ],
    close: async () => { await (await opening)?.close(); },
  };
}

async function openScene(connectSigner: (() => SignerClient) | undefined): Promise<Scene> {
  if (connectSigner === undefined) throw new GannetError(
    'KEY_INVALID', 'there is no signer process to measure: start the benchmark with bin/gannet or "npm run bench"',
  );
  const connections = await openConnections({
    baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: EMBEDDED_PLAN, seed: 7,
    clock: systemClock,
  });
  const client = connectSigner();
  const close = async (): Promise<void> => {
    client.close();
    await connections.close();
  };
  try {
    const { wallet, rpc_url: rpcUrl, base_url: serviceUrl } = connections.sandbox!.addresses;
    const { address } = await client.openEmbedded({ key: wallet.private_key, rpcUrl, serviceUrl });
    const signer: Scene['signer'] = {
      // As the daemon signs.
      sign: signingAwake(client), describe: () => client.describe(), expectSwap: (swap) => { client.expectSwap(swap); },
    };
    return { ...connections, address, signer, close };
  } catch (error) {
    await close();
    throw error;
  }
}

let signed = 0;

/** Returns the signing terms of a run. */
function termsOf(
  route: 'order' | 'build', asked: typeof REQUEST, { threshold }: Pick<SwapTerms, 'threshold'>,
): SigningRequestTerms {
  signed += 1;
  return {
    intentId: `bench-${signed}`, attempt: 1, route, inputMint: asked.inputMint, outputMint: asked.outputMint,
    amountIn: asked.amount, minimumOut: threshold, maxFeeBps: MAX_FEE_BPS,
  };
}

/** Measures medians per run, so that one slow moment of the machine does not count. */
async function latency(name: string, once: () => Promise<number>): Promise<Measurement> {
  const medians: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const times: number[] = [];
    for (let swap = 0; swap < SWAPS_PER_RUN; swap++) times.push(await once());
    medians.push(percentile(times.sort((a, b) => a - b), 0.5));
  }
  return measured(name, 'ms', medians);
}

/** Announces a swap as a run does, while its transaction is being requested. */
function announcing({ signer }: Scene, { inputMint, outputMint, amount }: typeof REQUEST): CallOptions {
  return { onStart: () => { signer.expectSwap({ inputMint, outputMint, amountIn: amount }); } };
}

async function orderToSigned(scene: Scene): Promise<number> {
  const { service, chain, address, signer } = scene;
  const order =
    await service.swap.order({ ...REQUEST, taker: address, slippageBps: 50 }, announcing(scene, REQUEST));
  const startedAt = stopwatch();
  chain!.readTransaction(order.transaction!);
  await signer.sign(order.transaction!, { ...termsOf('order', REQUEST, order), maker: order.maker });
  return stopwatch() - startedAt;
}

/** Signs the same order repeatedly, so that no process is asleep and no cache is cold. */
async function orderToSignedAwake(scene: Scene): Promise<number> {
  const order = await scene.service.swap.order({ ...REQUEST, taker: scene.address, slippageBps: 50 });
  const terms = { ...termsOf('order', REQUEST, order), maker: order.maker };
  let took = 0;
  for (let time = 1; time <= AWAKE_AFTER; time++) {
    const startedAt = stopwatch();
    scene.chain!.readTransaction(order.transaction!);
    await scene.signer.sign(order.transaction!, terms);
    took = stopwatch() - startedAt;
  }
  return took;
}

/** Asks the signer a trivial question between two orders: the wake-up time that the rows above include. */
async function signerWake({ service, address, signer }: Scene): Promise<number> {
  await service.swap.order({ ...REQUEST, taker: address, slippageBps: 50 });
  const startedAt = stopwatch();
  await signer.describe();
  return stopwatch() - startedAt;
}

/** Includes the simulation for the compute-unit limit, one request to the node. */
async function buildToSigned(scene: Scene): Promise<number> {
  const { service, chain, address, signer } = scene;
  const build =
    await service.swap.build({ ...REQUEST, taker: address, slippageBps: 50 }, announcing(scene, REQUEST));
  const startedAt = stopwatch();
  const { transaction } = await chain!.compose(build, address);
  await signer.sign(transaction, termsOf('build', REQUEST, build));
  return stopwatch() - startedAt;
}

async function swapsPerSecond(scene: Scene): Promise<Measurement> {
  const { service, address, signer } = scene;
  const rates: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = stopwatch();
    for (let swap = 0; swap < SWAPS_PER_RUN; swap++) {
      // The directions alternate, so that the wallet keeps both tokens.
      const asked = swap % 2 === 0 ? REQUEST : REVERSE_REQUEST;
      const order = await service.swap.order(
        { ...asked, taker: address, slippageBps: 100 }, announcing(scene, asked),
      );
      const terms = { ...termsOf('order', asked, order), maker: order.maker };
      const { transaction } = await signer.sign(order.transaction!, terms);
      const answer = await service.swap.execute({ signedTransaction: transaction, requestId: order.requestId! });
      if (answer.status !== 'success')
        throw new Error(`a swap of the benchmark failed: ${answer.error ?? answer.code}`);
    }
    rates.push(SWAPS_PER_RUN / ((stopwatch() - startedAt) / 1_000));
  }
  return measured('sandbox-swaps', 'swaps/s', rates);
}
