import type { ConfigPath } from './issue.ts';
import type { ConfigNode } from './node.ts';
import type { Problem } from './problem.ts';
import { hasWalletKeyForm } from './wallet-key-shape.ts';

/** A key with a character mistyped or missing is still nearly a key. */
const NEARLY_A_KEYPAIR = /^[0-9A-Za-z]{80,100}$/;

const REFUSAL = 'this looks like a wallet’s key, and a configuration never holds one: remove it (if others saw the '
  + 'file, move the funds) '
  + 'and point at it with wallet.key_from: "env:GANNET_WALLET_KEY" or "file:PATH"';

/**
 * Returns a problem, which repeats nothing, for each wallet's key that stands in the tree as a value, a list or a key.
 */
export function findWalletKeys(node: ConfigNode, path: ConfigPath = []): Problem[] {
  switch (node.kind) {
    case 'scalar': return typeof node.value === 'string' && isForbidden(node.value, path)
      ? [{ position: node.position, path, message: REFUSAL }] : [];
    case 'list': {
      if (node.items.length >= 32 && node.items.every(isByte))
        return [{ position: node.position, path, message: REFUSAL }];
      return node.items.flatMap((item, index) => findWalletKeys(item, [...path, index]));
    }
    case 'map': return [...node.members].flatMap(([key, member]) => {
      const memberPath = [...path, key];
      if (isForbidden(key, memberPath))
        return [{ position: member.keyPosition ?? member.position, path: memberPath, message: REFUSAL }];
      return findWalletKeys(member, memberPath);
    });
  }
}

function isForbidden(text: string, path: ConfigPath): boolean {
  if (hasWalletKeyForm(text)) return true;
  // A service's own key may be of any length.
  const isApiKey = path[0] === 'service' && path[1] === 'api_key';
  return !isApiKey && NEARLY_A_KEYPAIR.test(text.trim());
}

function isByte(node: ConfigNode): boolean {
  return node.kind === 'scalar' && typeof node.value === 'number' && Number.isInteger(node.value) && node.value >= 0
    && node.value <= 255;
}
