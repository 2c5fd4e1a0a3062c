import { EMBEDDED_PLAN } from '../config/resolve-connections.ts';
import type { Amount } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import type { Connections } from '../daemon/run/connections.ts';
import { openConnections } from '../daemon/run/connections.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { SigningRequestTerms } from '../signer/authorise.ts';
import type { SignerClient } from '../signer/client.ts';
import type { SwapTerms } from '../trading/swap-order.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, percentile } from './measurement.ts';
import { stopwatch } from '../research/stopwatch.ts';

const RUNS = 5;
const SWAPS_PER_RUN = 100;
const ASKED = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 1_000_000n as Amount };
const ASKED_BACK: typeof ASKED = { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: 5_000_000n as Amount };
const MAX_FEE_BPS = 30;
/** So often in a row that processes and caches are awake. */
const AWAKE_AFTER = 4;

/** The embedded connections with its wallet, open in the signer process as in a run. */
interface Scene extends Connections {
  readonly address: string;
  readonly sign: SignerClient['sign'];
  readonly describe: SignerClient['describe'];
}

/**
 * Latency and throughput against the embedded service over HTTP, one request after the other. The latencies are those
 * of the bot's own work: from the answer that came to the bytes that can leave, through the signer process, its rules
 * and its counters. A signer takes one wallet, so all rows share one connections; `close` ends it.
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
    'KEY_INVALID', 'there is no signer process beside this one to measure: start with bin/gannet (or "npm run bench")',
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
    const { wallet, rpc_url: rpcUrl } = connections.sandbox!.addresses;
    const { address } = await client.openEmbedded({ key: wallet.private_key, rpcUrl });
    return {
      ...connections, address, sign: (transaction, terms) => client.sign(transaction, terms),
      describe: () => client.describe(), close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

let signed = 0;

/** The terms that a run would have for it. */
function termsOf(
  route: 'order' | 'build', asked: typeof ASKED, { threshold }: Pick<SwapTerms, 'threshold'>,
): SigningRequestTerms {
  signed += 1;
  return {
    intentId: `bench-${signed}`, attempt: 1, route, inputMint: asked.inputMint, outputMint: asked.outputMint,
    amountIn: asked.amount, minimumOut: threshold, maxFeeBps: MAX_FEE_BPS,
  };
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

async function orderToSigned({ service, chain, address, sign }: Scene): Promise<number> {
  const order = await service.swap.order({ ...ASKED, taker: address, slippageBps: 50 });
  const startedAt = stopwatch();
  chain!.readTransaction(order.transaction!);
  await sign(order.transaction!, { ...termsOf('order', ASKED, order), maker: order.maker });
  return stopwatch() - startedAt;
}

/**
 * The same once more, without a pause: what the work takes where no process must be woken and no cache has gone cold.
 */
async function orderToSignedAwake(scene: Scene): Promise<number> {
  const order = await scene.service.swap.order({ ...ASKED, taker: scene.address, slippageBps: 50 });
  const terms = { ...termsOf('order', ASKED, order), maker: order.maker };
  let took = 0;
  for (let time = 1; time <= AWAKE_AFTER; time++) {
    const startedAt = stopwatch();
    scene.chain!.readTransaction(order.transaction!);
    await scene.sign(order.transaction!, terms);
    took = stopwatch() - startedAt;
  }
  return took;
}

/**
 * A question to the signer that needs no thought, between two orders: what the machine takes to wake it, of each row
 * above.
 */
async function signerWake({ service, address, describe }: Scene): Promise<number> {
  await service.swap.order({ ...ASKED, taker: address, slippageBps: 50 });
  const startedAt = stopwatch();
  await describe();
  return stopwatch() - startedAt;
}

/** Includes the simulation that sets the compute-unit limit, a round trip to the node. */
async function buildToSigned({ service, chain, address, sign }: Scene): Promise<number> {
  const build = await service.swap.build({ ...ASKED, taker: address, slippageBps: 50 });
  const startedAt = stopwatch();
  const { transaction } = await chain!.compose(build, address);
  await sign(transaction, termsOf('build', ASKED, build));
  return stopwatch() - startedAt;
}

async function swapsPerSecond({ service, address, sign }: Scene): Promise<Measurement> {
  const rates: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = stopwatch();
    for (let swap = 0; swap < SWAPS_PER_RUN; swap++) {
      // Both directions in turn: otherwise the wallet would run dry.
      const asked = swap % 2 === 0 ? ASKED : ASKED_BACK;
      const order = await service.swap.order({ ...asked, taker: address, slippageBps: 100 });
      const { transaction } = await sign(order.transaction!, { ...termsOf('order', asked, order), maker: order.maker });
      const answer = await service.swap.execute({ signedTransaction: transaction, requestId: order.requestId! });
      if (answer.status !== 'success')
        throw new Error(`a swap of the benchmark failed: ${answer.error ?? answer.code}`);
    }
    rates.push(SWAPS_PER_RUN / ((stopwatch() - startedAt) / 1_000));
  }
  return measured('sandbox-swaps', 'swaps/s', rates);
}
