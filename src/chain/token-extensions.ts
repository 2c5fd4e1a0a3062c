import type { GannetError } from '../core/errors.ts';

const HEADER_BYTES = 4;

/**
 * Returns the token program's numbers of the extensions after a mint or a token account. Throws `fault(problem)` on
 * damaged data: the library that decodes them takes an extension that is cut short, and bytes after the last one.
 */
export function checkedExtensions(tlvData: Buffer, fault: (problem: string) => GannetError): number[] {
  const kinds: number[] = [];
  let at = 0;
  while (at + 2 <= tlvData.length) {
    const kind = tlvData.readUInt16LE(at);
    // The unused rest of an account is zeros.
    if (kind === 0) {
      if (tlvData.subarray(at).some((byte) => byte !== 0)) throw fault('its extensions end before its bytes do');
      return kinds;
    }
    const start = at + HEADER_BYTES;
    const end = start + (start <= tlvData.length ? tlvData.readUInt16LE(at + 2) : Infinity);
    if (end > tlvData.length) throw fault('its last extension is cut short');
    kinds.push(kind);
    at = end;
  }
  return kinds;
}
