import type { SandboxChain } from '../../src/sandbox/chain/chain.ts';

/** Makes a token dearer by `percent` in every pool that holds it, before the next instruction runs. */
export function makeDearer(
  chain: SandboxChain, { mint, percent }: { readonly mint: string; readonly percent: bigint },
): void {
  for (const { address, mintA, mintB } of chain.pools()) {
    if (mintA !== mint && mintB !== mint) continue;
    const { reserveA, reserveB } = chain.readPool(address);
    const scarcer = (reserve: bigint): bigint => (reserve * (100n - percent)) / 100n;
    chain.writeReserves(address, {
      reserveA: mintA === mint ? scarcer(reserveA) : reserveA, reserveB: mintB === mint ? scarcer(reserveB) : reserveB,
    });
  }
}
