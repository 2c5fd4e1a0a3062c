import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import { PROFILES } from '../../../src/sandbox/service/context.ts';
import { closeTokenAccount, type Instruction } from '../../../src/sandbox/service/build/instructions.ts';
import { compileMessage, unsignedTransaction } from '../../../src/sandbox/chain/message.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox, type TestWallet } from './sandbox-client.ts';

describe.each(PROFILES)('the keys of the service itself, in the profile %s', (profile) => {
  let sandbox: TestSandbox;
  let thief: TestWallet;
  /** The accounts that the service signs for: every trader learns their addresses. */
  let own: { readonly maker: string; readonly gas: string };
  beforeAll(async () => {
    sandbox = await startTestSandbox({ profile, speed: 0 });
    thief = await sandbox.newWallet({ [USDC]: '100000000' });
    const { body } =
      await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '25000000', taker: thief.address });
    own = { gas: body.signatureFeePayer, maker: (await sandbox.get('/sandbox/state')).body.maker };
    expect(own.gas).not.toBe(thief.address);
  });
  afterAll(() => sandbox.close());

  const execute = ({ body }: Answer, signedTransaction: string): Promise<Answer> =>
    sandbox.post('/swap/v2/execute', { signedTransaction, requestId: body.requestId });
  const held = (): readonly bigint[] => [own.maker, own.gas]
    .flatMap((owner) => [sandbox.chain.balance(owner), sandbox.chain.tokenBalance({ owner, mint: USDC })]);

  it('sign no order of which they are the taker, with any receiver', async () => {
    const before = held();
    for (const taker of [own.maker, own.gas]) {
      for (const [inputMint, outputMint] of [[USDC, SOL], [SOL, USDC]] as const) {
        const order =
          await sandbox.order({ inputMint, outputMint, amount: '3000000000', taker, receiver: thief.address });
        expect(order.body.router).not.toBe(taker === own.maker ? 'rfqz' : undefined);
        if (order.body.transaction === '') continue;
        const { status, body } = await execute(order, order.body.transaction);
        expect([status, body.code]).toEqual([400, -1_003]);
      }
    }
    expect(held()).toEqual(before);
  });

  it('pay for no request that names them as payer', async () => {
    const before = held();
    for (const payer of [own.maker, own.gas]) {
      const order = await sandbox.order({
        inputMint: USDC, outputMint: SOL, amount: '5000000', taker: thief.address, payer, bundleTipLamports: 1_000_000,
      });
      expect(order.body.signatureFeePayer).toBe(payer);
      const { status, body } = await execute(order, thief.sign(order.body.transaction));
      expect([status, body.code]).toEqual([400, -1_003]);
    }
    expect(held()).toEqual(before);
  });

  it('lend no rent to an account that was there when the order was made, and is gone', async () => {
    const taker = await sandbox.newWallet({ [USDC]: '100000000', [SOL]: '5000000' });
    const wrapped = sandbox.chain.fundToken({ owner: taker.address, mint: SOL, amount: 1_000n });
    const order = await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '25000000', taker: taker.address });
    expect(order.body).toMatchObject({ gasless: true, signatureFeePayer: own.gas, rentFeeLamports: 0 });
    land(taker, [closeTokenAccount(
      { account: wrapped, destination: taker.address, owner: taker.address, tokenProgram: TOKEN_PROGRAM },
    )]);
    const before = { gas: sandbox.chain.balance(own.gas), taker: sandbox.chain.balance(taker.address) };
    expect((await execute(order, taker.sign(order.body.transaction))).body.status).toBe('Failed');
    expect(before.gas - sandbox.chain.balance(own.gas))
      .toBe(BigInt(order.body.signatureFeeLamports + order.body.prioritizationFeeLamports));
    expect(sandbox.chain.balance(taker.address)).toBe(before.taker);
  });

  function land(payer: TestWallet, instructions: readonly Instruction[]): void {
    const { blockhash } = sandbox.chain.latestBlockhash();
    const message = compileMessage({ payer: payer.address, instructions, blockhash, table: undefined });
    const signed = payer.sign(unsignedTransaction(message).toString('base64'));
    expect(sandbox.chain.land(Buffer.from(signed, 'base64'))).toMatchObject({ kind: 'landed', error: null });
  }
});
