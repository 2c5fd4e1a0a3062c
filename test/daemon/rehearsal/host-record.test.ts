import type { TransactionInstruction } from '@solana/web3.js';
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import type { HostRecord } from '../../../src/daemon/rehearsal/host-record.ts';
import { createHostRecord } from '../../../src/daemon/rehearsal/host-record.ts';
import type { HostProfile } from '../../../src/service/wire/host-profile.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';

const [wallet, sponsor, stranger, other] = Array.from({ length: 4 }, () => Keypair.generate().publicKey);

function paid(from: typeof wallet, to: typeof wallet, lamports: number): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from!, toPubkey: to!, lamports });
}

function saw(record: HostRecord, payer: typeof wallet, instructions: TransactionInstruction[]): void {
  const message = new TransactionMessage({
    payerKey: payer!, recentBlockhash: stranger!.toBase58(), instructions,
  }).compileToV0Message();
  record.saw(new VersionedTransaction(message).serialize(), {
    route: 'order', wallet: wallet!.toBase58(), isRead: () => false,
  });
}

function tipOf(...orders: readonly (readonly [payer: typeof wallet, instructions: TransactionInstruction[]])[]):
HostProfile['tip'] {
  const record = createHostRecord(loadDialect('neutral'));
  // A host is known by an answer at least.
  record.heard({ path: '/swap/v2/order', query: undefined, limits: undefined, tookMs: 1, json: { mode: 'ultra' } });
  for (const [payer, instructions] of orders) saw(record, payer, instructions);
  return record.profile({ host: 'https://host.example', dialect: 'neutral', at: 0, node: {} })!.tip;
}

describe('the tips of a host', () => {
  it('are not what the wallet pays back to a sponsor, or to any other that signs', () => {
    expect(tipOf([sponsor, [paid(wallet, sponsor, 2_039_280), paid(sponsor, stranger, 50_000)]]))
      .toEqual({ lamports: '0', receivers: [] });
  });

  it('are what the wallet pays to all strangers of one order together, the most of all orders', () => {
    expect(tipOf(
      [wallet, [paid(wallet, stranger, 60_000), paid(wallet, other, 30_000), paid(wallet, stranger, 5_000)]],
      [wallet, [paid(wallet, other, 70_000)]],
    )).toEqual({ lamports: '95000', receivers: [stranger!.toBase58(), other!.toBase58()] });
  });
});

describe('the limit of a host', () => {
  it('is what its headers state, with the longest reset as the length of the window', () => {
    const record = createHostRecord(loadDialect('neutral'));
    for (const [remaining, resetInMs] of [[4, 9_400], [3, 7_100], [2, 6_000]]) record.heard({
      path: '/swap/v2/order', query: undefined, tookMs: 1, json: { mode: 'ultra' },
      limits: { remaining, limit: 5, resetInMs },
    });
    expect(record.profile({ host: 'https://host.example', dialect: 'neutral', at: 0, node: {} })!.limits)
      .toEqual({ requests: 5, window_ms: 10_000 });
  });
});

describe('the words of a host', () => {
  it('reach its profile without what could forge a line of a terminal', () => {
    const record = createHostRecord(loadDialect('neutral'));
    record.heard({
      path: '/swap/v2/order', query: undefined, limits: undefined, tookMs: 1,
      json: { '\u009b2J\u202eevil': 1, [`\u001b[31m${'x'.repeat(100)}`]: 1 },
    });
    const { members, node } = record.profile({
      host: 'https://host.example', dialect: 'neutral', at: 0, node: { version: '4.0\u009b2J' },
    })!;
    expect(members.order.extra).toEqual(['\\u009b2J\\u202eevil', expect.stringMatching(/^\\u001b\[31mx+…$/)]);
    expect(node.version).toBe('4.0\\u009b2J');
  });
});
