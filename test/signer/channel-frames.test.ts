import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFrameReader, createFrameWriter } from '../../src/signer/channel/channel-frames.ts';
import { createKeyedHash } from '../../src/signer/keyed-hash.ts';

const MAX_FRAME_BYTES = 65_536;
const KEY = Buffer.alloc(32, 1);
const REFUSED = expect.objectContaining({
  code: 'SIGN_REFUSED', message: expect.stringContaining('forged, repeated, or out of order') as string,
}) as Error;

function header(length: number): Buffer {
  const bytes = Buffer.alloc(36);
  bytes.writeUInt32BE(length);
  return bytes;
}

/** The first frame of a daemon with any body, as its own writer makes it. */
function sealed(body: Buffer): Buffer {
  const key = createHmac('sha256', KEY).update('gannet channel daemon').digest();
  const number = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  const tag = createHmac('sha256', key).update(number).update(body).digest();
  return Buffer.concat([header(body.length).subarray(0, 4), tag, body]);
}

/** The messages that a signer takes from pieces of bytes, and the reason why it stopped. */
function taken(...pieces: readonly Uint8Array[]): { readonly got: unknown[]; readonly fault: unknown } {
  const got: unknown[] = [];
  const read = createFrameReader(KEY, 'daemon', (message) => { got.push(message); });
  try {
    for (const piece of pieces) read(Buffer.from(piece));
  } catch (fault) {
    return { got, fault };
  }
  return { got, fault: undefined };
}

describe('the keyed hash', () => {
  test('is HMAC-SHA256 of the parts together, whatever their lengths', () => {
    fc.assert(fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.array(fc.array(fc.uint8Array({ maxLength: 300 })), { maxLength: 5 }),
      (key, messages) => {
        const keyed = createKeyedHash(key);
        for (const parts of messages)
          expect(keyed(...parts)).toEqual(createHmac('sha256', key).update(Buffer.concat(parts)).digest());
      },
    ));
  });
});

describe('frames', () => {
  test('return every message whole and in order, for any split of the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (messages, sizes) => {
          const plain = messages.map((message) => JSON.parse(JSON.stringify(message)) as unknown);
          const bytes = Buffer.concat(plain.map(createFrameWriter(KEY, 'daemon')));
          const pieces: Buffer[] = [];
          for (let at = 0; at < bytes.length; at += pieces.at(-1)!.length)
            pieces.push(bytes.subarray(at, at + sizes.next().value!));
          expect(taken(...pieces)).toStrictEqual({ got: plain, fault: undefined });
        }),
      { numRuns: 200 },
    );
  });

  test('accept the longest message, and refuse a longer one by its header alone', () => {
    const longest = 'x'.repeat(MAX_FRAME_BYTES - 2);
    const frame = createFrameWriter(KEY, 'daemon');
    const words = `a message of ${MAX_FRAME_BYTES + 1} bytes`;
    expect(() => { frame(`${longest}x`); }).toThrow(words);
    expect(taken(frame(longest), header(MAX_FRAME_BYTES + 1)))
      .toMatchObject({ got: [longest], fault: { message: expect.stringContaining(words) as string } });
  });

  test.each([
    ['nothing at all', ''],
    ['what is no JSON', '{"id":1'],
    ['bytes that are no text', '"\xff"'],
  ])('refuse %s, and quote none of it', (_what, body) => {
    expect(taken(sealed(Buffer.from(body, 'latin1'))).fault).toMatchObject(
      { code: 'SIGN_REFUSED', message: expect.stringMatching(/no JSON in UTF-8$/) as string },
    );
  });
});

describe('issue 15: a message that its sender did not send there is never taken', () => {
  const frame = createFrameWriter(KEY, 'daemon');
  const [one, two, three] = [{ id: 1 }, { id: 2 }, { id: 3 }].map(frame) as [Buffer, Buffer, Buffer];

  test.each<readonly [string, readonly Buffer[], number]>([
    ['a repeated one', [one, two, two], 2],
    ['the first one at the end', [one, two, three, one], 3],
    ['one without the one before', [one, three], 1],
    ['two in another order', [two, one], 0],
    ['one of another session', [createFrameWriter(Buffer.alloc(32, 2), 'daemon')({ id: 1 })], 0],
    ['one of the other direction', [createFrameWriter(KEY, 'signer')({ id: 1 })], 0],
    ['one without a tag', [Buffer.concat([header(8), Buffer.from('{"id":1}')])], 0],
  ])('%s', (_what, pieces, before) => {
    const { got, fault } = taken(...pieces);
    expect([got.length, fault]).toEqual([before, REFUSED]);
  });

  test('with any changed bit', () => {
    for (let bit = 32; bit < one.length * 8; bit += 5) {
      const changed = Buffer.from(one);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(taken(changed)).toEqual({ got: [], fault: REFUSED });
    }
  });
});
