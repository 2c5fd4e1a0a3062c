import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFrameReader, encodeFrame } from '../../src/signer/channel-protocol.ts';

const MAX_FRAME_BYTES = 65_536;

function header(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

describe('frames', () => {
  test('return every message whole and in order, for any split of the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (messages, sizes) => {
          const plain = messages.map((message) => JSON.parse(JSON.stringify(message)) as unknown);
          const bytes = Buffer.concat(plain.map(encodeFrame));
          const got: unknown[] = [];
          const read = createFrameReader((message) => { got.push(message); });
          for (let at = 0; at < bytes.length;) {
            const size = sizes.next().value!;
            read(bytes.subarray(at, at + size));
            at += size;
          }
          expect(got).toStrictEqual(plain);
        }),
      { numRuns: 200 },
    );
  });

  test('accept the longest message, and refuse a longer one by its header alone', () => {
    const got: unknown[] = [];
    const read = createFrameReader((message) => { got.push(message); });
    const longest = 'x'.repeat(MAX_FRAME_BYTES - 2);
    read(encodeFrame(longest));
    expect(got).toStrictEqual([longest]);
    expect(() => { encodeFrame(`${longest}x`); }).toThrow(`a message of ${MAX_FRAME_BYTES + 1} bytes`);
    expect(() => { read(header(MAX_FRAME_BYTES + 1)); }).toThrow(`a message of ${MAX_FRAME_BYTES + 1} bytes`);
  });

  test.each([
    ['nothing at all', ''],
    ['what is no JSON', '{"id":1'],
    ['bytes that are no text', '"\xff"'],
  ])('refuse %s, and quote none of it', (_what, body) => {
    const bytes = Buffer.from(body, 'latin1');
    expect(() => { createFrameReader(() => undefined)(Buffer.concat([header(bytes.length), bytes])); })
      .toThrow(
        expect.objectContaining({ code: 'SIGN_REFUSED', message: expect.not.stringContaining('"id"') as string }),
      );
  });
});
