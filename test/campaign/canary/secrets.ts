import { generateKeyPairSync } from 'node:crypto';
import bs58 from 'bs58';

/** Invented secrets, put where real ones stand; wherever one turns up, a real one would. */
export interface Canaries {
  readonly wallet: {
    readonly address: string; readonly base58: string; readonly json: string; readonly hex: string;
    readonly base64: string; readonly seed: Buffer;
  };
  readonly apiKey: string;
  /** In the path of the RPC's address, as providers have it. */
  readonly rpcKey: string;
}

/** A secret that turned up. */
export interface Leak {
  readonly secret: 'wallet key' | 'API key' | 'RPC key';
  /** What stands around it, the secret itself included, because it is invented. */
  readonly around: string;
}

/** Returns new secrets. */
export function newCanaries(): Canaries {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d, x } = privateKey.export({ format: 'jwk' });
  const seed = Buffer.from(d!, 'base64url');
  const publicKey = Buffer.from(x!, 'base64url');
  const both = Buffer.concat([seed, publicKey]);
  return {
    wallet: {
      address: bs58.encode(publicKey), base58: bs58.encode(both), json: JSON.stringify([...both]),
      hex: both.toString('hex'), base64: both.toString('base64'), seed,
    }, apiKey: newWord(), rpcKey: newWord(),
  };
}

function newWord(): string {
  return bs58.encode(crypto.getRandomValues(new Uint8Array(27)));
}

/** So long a part of a secret is a leak; shorter ones turn up by chance. */
const RUN = 16;
const NUMBERS = 7;

/**
 * Returns a search for any run of a secret, in base58, hex, base64 or as numbers, escaped or not, and for the key's
 * very bytes.
 */
export function createSearch({ wallet, apiKey, rpcKey }: Canaries): (bytes: Buffer) => Leak[] {
  const seedNumbers = [...wallet.seed].map(String);
  const forms: readonly (readonly [Leak['secret'], readonly string[]])[] = [
    ['wallet key', [
      ...runs(wallet.base58), ...runs(bs58.encode(wallet.seed)), ...runs(wallet.seed.toString('hex')),
      ...runs(wallet.seed.toString('hex').toUpperCase()), ...base64Runs(wallet.seed), ...numberRuns(seedNumbers, ','),
      ...numberRuns(seedNumbers, ', '), ...numberRuns(seedNumbers, ' '), ...numberRuns(seedNumbers, '\n'),
      wallet.seed.toString('latin1'), wallet.seed.subarray(0, RUN).toString('latin1'),
      wallet.seed.subarray(RUN).toString('latin1'),
    ]],
    ['API key', spellings(apiKey)],
    ['RPC key', spellings(rpcKey)],
  ];
  const known = new Map(forms.flatMap(([secret, texts]) => texts.map((text) => [text, secret] as const)));
  const lengths = [...new Set([...known.keys()].map((text) => text.length))];
  const starts = new Set([...known.keys()].map((text) => text.slice(0, 3)));
  const search = (text: string): Leak[] => {
    for (let at = 0; at < text.length - 3; at++) {
      if (!starts.has(text.slice(at, at + 3))) continue;
      for (const length of lengths) {
        const secret = known.get(text.slice(at, at + length));
        if (secret !== undefined) return [{ secret, around: text.slice(Math.max(0, at - 80), at + 100) }];
      }
    }
    return [];
  };
  return (bytes) => {
    const text = bytes.toString('latin1');
    const plain = unescaped(text);
    const found = search(text);
    return found.length > 0 || plain === text ? found : search(plain);
  };
}

/**
 * Returns a search for the wallet's key in large stretches of memory: every other half of a run, which misses a leak of
 * less than 24 characters.
 */
export function createMemorySearch({ wallet }: Canaries): (bytes: Buffer) => Leak[] {
  const texts = [
    wallet.base58, bs58.encode(wallet.seed), wallet.seed.toString('hex'), wallet.seed.toString('base64').slice(0, -2),
    JSON.stringify([...wallet.seed]).slice(1, -1),
  ];
  const needles = [
    wallet.seed.subarray(0, RUN), wallet.seed.subarray(RUN),
    ...texts.flatMap((text) => runs(text).filter((_, at) => at % (RUN / 2) === 0))
      .flatMap((run) => [Buffer.from(run, 'latin1'), Buffer.from(run, 'utf16le')]),
  ];
  return (bytes) =>
    needles.some((needle) => bytes.includes(needle)) ? [{ secret: 'wallet key', around: '(in memory)' }] : [];
}

function spellings(key: string): string[] {
  return [
    ...runs(key), ...runs(Buffer.from(key).toString('hex')), ...base64Runs(Buffer.from(key)),
    ...runs(Array.from(key).reverse().join('')),
  ];
}

function runs(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - RUN + 1) }, (_, at) => text.slice(at, at + RUN));
}

/** However many bytes stand before it; what they share a digit with is left out. */
function base64Runs(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => ['base64', 'base64url'].flatMap((form) =>
    runs(Buffer.concat([Buffer.alloc(before), bytes]).toString(form as 'base64').replace(/=+$/, '').slice(2, -2))));
}

function numberRuns(numbers: readonly string[], between: string): string[] {
  return Array.from({ length: numbers.length - NUMBERS + 1 }, (_, at) => numbers.slice(at, at + NUMBERS).join(between));
}

/** Undoes what writers of JSON and of addresses do to characters. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u00([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|\\x([0-9a-fA-F]{2})/g, (
    _, ...codes: readonly (string | undefined)[]
  ) => String.fromCharCode(Number.parseInt(codes.find((code) => /^[0-9a-fA-F]{2}$/.test(code ?? '')) ?? '3f', 16)));
}
