/** Of Ed25519: the field's prime and the curve's constant d. */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const SIGN_BIT = 2n ** 255n;

/**
 * Returns whether 32 bytes are the compressed form of a point of Ed25519, and so could be somebody's public key.
 * As the network does, it takes y modulo p, and any sign: x² = (y² - 1) / (d y² + 1) must have a root (RFC 8032, 5.1.3).
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = (littleEndian(bytes) % SIGN_BIT) % P;
  const square = (y * y) % P;
  const numerator = (square - 1n + P) % P;
  const denominator = (D * square + 1n) % P;
  // A quotient is a square exactly where the product is; 0 is one too.
  return jacobi((numerator * denominator) % P, P) >= 0;
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

/** The Jacobi symbol (a / n) for an odd n: for a prime 1 where a is a square, -1 where it is none, 0 where a is 0. */
function jacobi(a: bigint, n: bigint): -1 | 0 | 1 {
  let [top, bottom] = [a % n, n];
  let isNegative = false;
  while (top !== 0n) {
    while ((top & 1n) === 0n) {
      top >>= 1n;
      const rest = bottom & 7n;
      if (rest === 3n || rest === 5n) isNegative = !isNegative;
    }
    [top, bottom] = [bottom, top];
    if ((top & 3n) === 3n && (bottom & 3n) === 3n) isNegative = !isNegative;
    top %= bottom;
  }
  if (bottom !== 1n) return 0;
  return isNegative ? -1 : 1;
}
