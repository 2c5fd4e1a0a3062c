import { describe, expect, test } from 'vitest';
import type { SwapService } from '../../../src/execution/ports.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { SIGNATURE } from '../answers.ts';
import { clientOf, json, listen } from '../loopback.ts';

const EXECUTE = { signedTransaction: new Uint8Array([9, 8, 7]), requestId: 'r-1', lastValidBlockHeight: 321n };

describe('an execution', () => {
  test('hands over the signed bytes once, with the order they belong to', async () => {
    const server =
      await listen(json({ status: 'Success', code: 0, signature: SIGNATURE, slot: '5', totalInputAmount: '1' }));
    const port: SwapService = clientOf(server).swap;
    expect(await port.execute(EXECUTE)).toMatchObject({ status: 'success', signature: SIGNATURE });
    const [request] = server.received;
    expect(`${request!.method} ${request!.path}`).toBe('POST /swap/v2/execute');
    expect(JSON.parse(request!.body))
      .toEqual({ signedTransaction: 'CQgH', requestId: 'r-1', lastValidBlockHeight: '321' });
  });

  test.each<[string, unknown, number, unknown]>([
    ['a failure on chain', {
      status: 'Failed', code: 6001, signature: SIGNATURE, error: 'Slippage tolerance exceeded',
    }, 200, { status: 'failed', code: 6001, signature: SIGNATURE, error: 'Slippage tolerance exceeded' }],
    [
      'a failure to land', { status: 'Failed', code: '-1000', error: 'failed to land', signature: '' }, 200,
      { status: 'failed', code: -1000, error: 'failed to land' },
    ],
    [
      'an order that is gone, which has no status', { code: -1, error: 'Order not found, it might have expired' }, 200,
      { status: 'failed', code: -1, error: 'Order not found, it might have expired' },
    ],
    [
      'a refusal with a code of the service', { code: -2, error: 'invalid signed transaction' }, 400,
      { status: 'failed', code: -2, error: 'invalid signed transaction' },
    ],
  ])('may end with %s', async (_name, body, status, expected) => {
    expect(await clientOf(await listen(json(body, { status }))).swap.execute(EXECUTE)).toEqual(expected);
  });

  test('tells the amounts, of whatever kind they are', async () => {
    const told = {
      totalInputAmount: '1000000000', totalOutputAmount: '149990000', inputAmountResult: 1_000_000_000,
      outputAmountResult: '150030000',
      swapEvents: [
        { inputMint: SOL_MINT, inputAmount: '1000000000', outputMint: USDC_MINT, outputAmount: '150030000' },
      ],
    };
    const amounts = {
      totalInputAmount: 1_000_000_000n, totalOutputAmount: 149_990_000n, inputAmountResult: 1_000_000_000n,
      outputAmountResult: 150_030_000n, swapEvents: [
        { inputMint: SOL_MINT, inputAmount: 1_000_000_000n, outputMint: USDC_MINT, outputAmount: 150_030_000n },
      ], unread: [],
    };
    for (const slot of ['77', 77]) {
      const answer = { status: 'Success', code: 0, signature: SIGNATURE, slot, ...told };
      expect(await clientOf(await listen(json(answer))).swap.execute(EXECUTE))
        .toEqual({ status: 'success', signature: SIGNATURE, amounts: { slot: 77n, ...amounts } });
    }
    const failed =
      { status: 'Failed', code: 6001, signature: SIGNATURE, slot: '0', error: 'Slippage tolerance exceeded', ...told };
    expect(await clientOf(await listen(json(failed))).swap.execute(EXECUTE))
      .toMatchObject({ status: 'failed', amounts: { slot: undefined, ...amounts } });
  });

  test('is as clear a word when what is only shown cannot be read', async () => {
    const answer = {
      status: 'Success', code: 0, signature: SIGNATURE, slot: 'high', swapEvents: 'none', totalInputAmount: -1,
      error: 5,
    };
    expect(await clientOf(await listen(json(answer))).swap.execute(EXECUTE)).toMatchObject({
      status: 'success', signature: SIGNATURE,
      amounts: { swapEvents: [], unread: ['error', 'slot', 'totalInputAmount', 'swapEvents'] },
    });
  });

  test.each<[string, unknown, number, string]>([
    ['a success without signature', { status: 'Success', code: 0 }, 200, 'SERVICE_MALFORMED'],
    ['a success with an error code', { status: 'Success', code: 6001, signature: SIGNATURE }, 200, 'SERVICE_MALFORMED'],
    ['a failure without code', { status: 'Failed', error: 'no' }, 200, 'SERVICE_MALFORMED'],
    ['a failure with the code of success', { status: 'Failed', code: 0 }, 200, 'SERVICE_MALFORMED'],
    ['an unknown status', { status: 'Pending', code: -1 }, 200, 'SERVICE_MALFORMED'],
    ['an empty object', {}, 200, 'SERVICE_MALFORMED'],
    ['a code of the chain without status', { code: 6001 }, 200, 'SERVICE_MALFORMED'],
    ['a refusal with two codes, of which none counts', `{"code":-2,"code":6001,"error":"x"}`, 400, 'SERVICE_STATUS'],
    [
      'a refusal by the gateway, which must not pass for an error of the chain', { code: 400, message: 'Bad Request' },
      400, 'SERVICE_STATUS',
    ],
    ['an error of the server', { signature: SIGNATURE, error: 'internal' }, 500, 'SERVICE_STATUS'],
    ['a refusal for the rate', { code: 429, message: 'Too many requests' }, 429, 'SERVICE_RATE_LIMITED'],
  ])('is no answer when it brings %s', async (_name, body, status, code) => {
    await expect(clientOf(await listen(json(body, { status }))).swap.execute(EXECUTE)).rejects.toMatchObject({ code });
  });

  test('that ended in an error of the server keeps the signature for a later status check', async () => {
    const refused = clientOf(await listen(json({ signature: SIGNATURE, error: 'internal' }, { status: 500 })))
      .swap.execute(EXECUTE);
    await expect(refused).rejects.toMatchObject({ details: { signature: SIGNATURE } });
  });
});
