import { join } from 'node:path';
import { expect, it, describe, onTestFinished } from 'vitest';
import { landOrder } from '../../src/execution/land-order.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { openExecutedOrders } from '../../src/store/executed-orders.ts';
import type { Amount } from '../../src/core/amount.ts';
import { executionFixtures, type ExecutionFixture } from './execution-fixture.ts';
import { memoryFolder } from './memory-folder.ts';

const startFixture = executionFixtures();
type Order = Parameters<typeof landOrder>[1];

/** An order of the service, signed with the wallet's key outside of the executor. */
async function signedOrder(
  { service, signer }: ExecutionFixture, excludeRouters: readonly string[] = ['rfqz'], amount = 20_000_000n,
): Promise<Order & { readonly lastValidBlockHeight: bigint }> {
  const order = await service.order(
    { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount as Amount, taker: signer.address, excludeRouters },
  );
  const { transaction } = await signer.sign(order.transaction!, undefined as never);
  return {
    requestId: order.requestId!, signedTransaction: transaction, lastValidBlockHeight: order.lastValidBlockHeight!,
  };
}

interface Setting {
  readonly fixture: ExecutionFixture;
  /** How often bytes were posted. */
  readonly posted: () => number;
  readonly land: (order: Order) => ReturnType<typeof landOrder>;
}

async function setting(): Promise<Setting> {
  const fixture = await startFixture();
  onTestFinished(() => fixture.close());
  const path = join(memoryFolder('gannet-orders-'), 'orders.sqlite');
  const orders = openExecutedOrders({ path, clock: fixture.clock });
  onTestFinished(() => { orders.close(); });
  let posted = 0;
  return {
    fixture, posted: () => posted,
    land: (order) => landOrder({
      chain: fixture.chain, clock: fixture.clock, orders,
      service: {
        execute(request, call) {
          posted += 1;
          return fixture.service.execute(request, call);
        },
      },
    }, order, { isCancelled: () => false, onFault: () => undefined }),
  };
}

const refusal = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'EXECUTE_REFUSED', message: expect.stringMatching(message) as string });

describe('an order that was signed elsewhere', () => {
  it('lands once, and is not sent again after its end is known', async () => {
    const { fixture, land, posted } = await setting();
    const order = await signedOrder(fixture);
    const end = await land(order);
    expect(end).toMatchObject({ state: 'landed' });
    const before = posted();
    expect(await land(order)).toEqual(end);
    expect(posted()).toBe(before);
    expect(fixture.landed).toEqual([{ signature: end!.signature, succeeded: true }]);
  });

  it('lands once where the service lands it and drops its answer', async () => {
    const { fixture, land } = await setting();
    await fixture.fault({ path: '/swap/v2/execute', fault: { kind: 'drop_after' }, times: 1 });
    expect(await land(await signedOrder(fixture))).toMatchObject({ state: 'landed' });
    expect(fixture.landed).toHaveLength(1);
  });

  it('lands where a maker adds its signature, which is the transaction’s id', async () => {
    const { fixture, land } = await setting();
    const end = await land(await signedOrder(fixture, ['iris', 'routerA', 'routerB'], 1_000_000_000n));
    expect(end).toMatchObject({ state: 'landed' });
    expect(fixture.landed.map(({ signature }) => signature)).toEqual([end!.signature]);
  });

  it('is refused where another transaction comes under its request', async () => {
    const { fixture, land, posted } = await setting();
    const [first, second] = [await signedOrder(fixture), await signedOrder(fixture)];
    await land(first);
    const before = posted();
    await expect(land({ ...second, requestId: first.requestId })).rejects
      .toEqual(refusal(/used for another transaction/));
    await expect(land({ ...first, requestId: second.requestId })).rejects.toEqual(refusal(/under another request/));
    expect(posted()).toBe(before);
    expect(fixture.landed).toHaveLength(1);
  });

  it('is refused unsigned, and with a signature that is not its own', async () => {
    const { fixture, land, posted } = await setting();
    const { signedTransaction, ...order } = await signedOrder(fixture);
    const unsigned = new Uint8Array(signedTransaction).fill(0, 1, 65);
    const wrong = new Uint8Array(signedTransaction);
    wrong[10]! ^= 1;
    await expect(land({ ...order, signedTransaction: unsigned })).rejects.toEqual(refusal(/is not signed/));
    await expect(land({ ...order, signedTransaction: wrong })).rejects
      .toEqual(refusal(/is not one of this transaction/));
    expect(posted()).toBe(0);
  });

  it('ends as expired once it can no longer land, and stays so', async () => {
    const { fixture, land, posted } = await setting();
    const order = await signedOrder(fixture);
    await fixture.passSlots(200);
    expect(await land(order)).toMatchObject({ state: 'expired' });
    const before = posted();
    expect(await land(order)).toMatchObject({ state: 'expired' });
    expect(posted()).toBe(before);
    expect(fixture.landed).toEqual([]);
  });
});
