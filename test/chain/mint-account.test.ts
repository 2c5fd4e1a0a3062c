import {
  ExtensionType, MintLayout, TransferFeeConfigLayout, getExtensionTypes, getTransferFeeConfig, unpackMint,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/constants.ts';
import { readMintAccount } from '../../src/chain/mint-account.ts';
import type { Mint } from '../../src/market/token.ts';

const MINT = 'BuoyHJCtC7kycWMhouUyksdYbQpLw2hw471cG3hhu9s' as Mint;
const ISSUER = new PublicKey('BuoyHJCtC7kycWMhouUyksdYbQpLw2hw471cG3hhu9t');
const ZEROS = new PublicKey(new Uint8Array(32));

/** A mint as the token program's own library writes it, with extensions behind it. */
function mintData({ authority, extensions = [], tail = 0 }: {
  readonly authority?: PublicKey;
  readonly extensions?: readonly { readonly kind: number; readonly value: Uint8Array }[]; readonly tail?: number;
}): Buffer {
  const base = Buffer.alloc(82);
  MintLayout.encode({
    mintAuthorityOption: authority === undefined ? 0 : 1, mintAuthority: authority ?? ZEROS, supply: 1_000_000n,
    decimals: 6, isInitialized: true,
    freezeAuthorityOption: authority === undefined ? 0 : 1, freezeAuthority: authority ?? ZEROS,
  }, base);
  if (extensions.length === 0) return base;
  const entries = extensions.flatMap(({ kind, value }) => {
    const header = Buffer.alloc(4);
    header.writeUInt16LE(kind, 0);
    header.writeUInt16LE(value.length, 2);
    return [header, Buffer.from(value)];
  });
  return Buffer.concat([base, Buffer.alloc(83), Buffer.from([1]), ...entries, Buffer.alloc(tail)]);
}

const read = (data: Buffer, owner = TOKEN_2022_PROGRAM): ReturnType<typeof readMintAccount> =>
  readMintAccount(MINT, { owner, data });

function feeConfig(older: number, newer: number, authority: PublicKey): Uint8Array {
  const data = Buffer.alloc(TransferFeeConfigLayout.span);
  TransferFeeConfigLayout.encode({
    transferFeeConfigAuthority: authority, withdrawWithheldAuthority: ISSUER, withheldAmount: 5n,
    olderTransferFee: { epoch: 1n, maximumFee: 10n, transferFeeBasisPoints: older },
    newerTransferFee: { epoch: 900n, maximumFee: 77n, transferFeeBasisPoints: newer },
  }, data);
  return data;
}

describe('a mint account', () => {
  it('has the mint and freeze authorities, or none', () => {
    expect(read(mintData({}), TOKEN_PROGRAM)).toMatchObject({
      decimals: 6, supply: 1_000_000n, mintAuthority: undefined, freezeAuthority: undefined, extensions: [],
    });
    expect(read(mintData({ authority: ISSUER }), TOKEN_PROGRAM))
      .toMatchObject({ mintAuthority: ISSUER.toBase58(), freezeAuthority: ISSUER.toBase58() });
  });

  it('names every known extension, and an unknown one by its number', () => {
    const kinds = [ExtensionType.MetadataPointer, ExtensionType.PermanentDelegate, ExtensionType.NonTransferable, 999];
    const data = mintData({ extensions: kinds.map((kind) => ({ kind, value: Buffer.alloc(64, 1) })) });
    expect(read(data).extensions)
      .toStrictEqual(['metadata-pointer', 'permanent-delegate', 'non-transferable', 'unknown-999']);
    // The library of the token program lists the same.
    const { tlvData } = unpackMint(
      new PublicKey(MINT), { owner: new PublicKey(TOKEN_2022_PROGRAM), data, executable: false, lamports: 1 },
      new PublicKey(TOKEN_2022_PROGRAM),
    );
    expect(getExtensionTypes(tlvData)).toStrictEqual(kinds);
  });

  it('has the higher of the two transfer fees, and its authority', () => {
    for (const [older, newer] of [[10, 300], [300, 10]] as const) {
      const data =
        mintData({ extensions: [{ kind: ExtensionType.TransferFeeConfig, value: feeConfig(older, newer, ISSUER) }] });
      expect(read(data).transferFee)
        .toStrictEqual({ bps: 300, maximum: older > newer ? 10n : 77n, authority: ISSUER.toBase58() });
      const mint = unpackMint(
        new PublicKey(MINT), { owner: new PublicKey(TOKEN_2022_PROGRAM), data, executable: false, lamports: 1 },
        new PublicKey(TOKEN_2022_PROGRAM),
      );
      expect(getTransferFeeConfig(mint)?.newerTransferFee.transferFeeBasisPoints).toBe(newer);
    }
    expect(read(
      mintData({ extensions: [{ kind: ExtensionType.TransferFeeConfig, value: feeConfig(5, 5, ZEROS) }] }),
    ).transferFee).toStrictEqual({ bps: 5, maximum: 10n, authority: undefined });
  });

  it('has the permanent delegate, the hook program, and the default frozen state', () => {
    expect(read(mintData({ extensions: [
      { kind: ExtensionType.PermanentDelegate, value: ISSUER.toBytes() },
      { kind: ExtensionType.TransferHook, value: Buffer.concat([ZEROS.toBytes(), ISSUER.toBytes()]) },
      { kind: ExtensionType.DefaultAccountState, value: Buffer.from([2]) },
    ] }))).toMatchObject({
      permanentDelegate: ISSUER.toBase58(), transferHook: ISSUER.toBase58(), isFrozenByDefault: true,
    });
  });

  it('may have unused room at its end', () => {
    expect(read(
      mintData({ extensions: [{ kind: ExtensionType.DefaultAccountState, value: Buffer.from([1]) }], tail: 9 }),
    ).isFrozenByDefault).toBe(false);
  });

  it('is refused where it is cut off anywhere', () => {
    const whole = mintData({ extensions: [
      { kind: ExtensionType.TransferFeeConfig, value: feeConfig(1, 2, ISSUER) },
      { kind: ExtensionType.PermanentDelegate, value: ISSUER.toBytes() },
    ] });
    const endOfFirst = 166 + 4 + 108;
    for (let length = 83; length < whole.length; length += 1) {
      // Behind a whole extension, with less than another one's name, there is nothing to miss.
      if (length === 166 || length === 167 || length === endOfFirst || length === endOfFirst + 1) continue;
      expect(() => read(whole.subarray(0, length)), String(length))
        .toThrow(expect.objectContaining({ code: 'MINT_INVALID' }));
    }
  });

  it('is read, or refused with MINT_INVALID, for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ minLength: 0, maxLength: 400 }), (tail) => {
      const data = Buffer.concat([mintData({ extensions: [{ kind: 6, value: Buffer.from([1]) }] }), tail]);
      try {
        expect(read(data).extensions[0]).toBe('default-account-state');
      } catch (error) {
        expect(error).toMatchObject({ code: 'MINT_INVALID' });
      }
    }), { numRuns: 500 });
  });
});
