import { expect, it } from 'vitest';
import { huntCanaries } from './canary.ts';
import { createSearch, newCanaries } from './canary/secrets.ts';

it('finds a secret in any of its forms, and finds none in other text', () => {
  const canaries = newCanaries();
  const { wallet, apiKey } = canaries;
  const search = createSearch(canaries);
  const found = (text: string | Buffer): string | undefined => search(Buffer.from(text))[0]?.secret;
  expect([wallet.base58, wallet.json, wallet.hex, wallet.base64, wallet.base58.slice(10, 30), wallet.seed].map((text) =>
    found(typeof text === 'string' ? `before ${text} after` : text)))
    .toEqual(Array.from({ length: 6 }, () => 'wallet key'));
  expect([
    apiKey, apiKey.slice(4, 20), encodeURIComponent(`"${apiKey}"`),
    Buffer.from(`x-api-key: ${apiKey}`).toString('base64'),
  ].map(found)).toEqual(Array.from({ length: 4 }, () => 'API key'));
  expect([wallet.address, apiKey.slice(0, 12), JSON.stringify([...Buffer.from(wallet.address)])].map(found))
    .toEqual([undefined, undefined, undefined]);
});

it('no secret appears on error paths of this process', async () => {
  const { paths, leaks } = await huntCanaries({ paths: 300, processes: false, seed: 2 });
  expect(leaks).toEqual([]);
  expect(Object.keys(paths)).toHaveLength(5);
  for (const count of Object.values(paths)) expect(count).toBeGreaterThan(20);
});
