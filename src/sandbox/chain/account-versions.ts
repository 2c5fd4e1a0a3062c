import type { Address } from './addresses.ts';
import { SLOTS_BEHIND } from './blocks.ts';
import type { Account } from './vm.ts';

interface Version {
  /** The slot whose transactions replaced this content. */
  replacedAt: number;
  account: Account | undefined;
}

export interface AccountVersions {
  /** Remembers what a transaction of `slot` replaced. */
  replaced: (address: Address, before: Account | undefined, slot: number) => void;
  /** Returns the account as it was at the end of `slot`, given how it is now. */
  asOf: (address: Address, slot: number, now: Account | undefined) => Account | undefined;
  /** Returns the addresses that have older contents, for those who list accounts. */
  addresses: () => Iterable<Address>;
  /** Forgets what no commitment can ask for any more. */
  prune: (currentSlot: number) => void;
}

/**
 * Returns the memory behind the commitment levels: what transactions of the last 32 slots overwrote, so that a reader
 * who asks for `finalized` does not see what may still be undone on a real chain.
 */
export function createAccountVersions(): AccountVersions {
  const versionsByAddress = new Map<Address, Version[]>();

  return {
    replaced: (address, account, slot) => {
      const versions = versionsByAddress.get(address);
      if (!versions) versionsByAddress.set(address, [{ replacedAt: slot, account }]);
      else if (versions.at(-1)!.replacedAt < slot) versions.push({ replacedAt: slot, account });
    },
    asOf: (address, slot, now) => {
      const version = versionsByAddress.get(address)?.find(({ replacedAt }) => replacedAt > slot);
      return version ? version.account : now;
    },
    addresses: () => versionsByAddress.keys(),
    prune: (currentSlot) => {
      const oldestAsked = currentSlot - SLOTS_BEHIND.finalized;
      for (const [address, versions] of versionsByAddress) {
        const kept = versions.filter(({ replacedAt }) => replacedAt > oldestAsked);
        if (kept.length === 0) versionsByAddress.delete(address);
        else if (kept.length < versions.length) versionsByAddress.set(address, kept);
      }
    },
  };
}
