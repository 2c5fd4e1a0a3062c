import { PROFILES } from '../../src/sandbox/service/context.ts';
import type { Profile } from '../../src/sandbox/sandbox.ts';

/** The option of a campaign that chooses the sandbox's profile. */
export const PROFILE_FLAG = { profile: { type: 'string' } } as const;

/** Returns the profile that was asked for, undefined where none was. Throws a RangeError on another word. */
export function profileOf({ profile }: { readonly profile?: string | undefined }): Profile | undefined {
  const known = PROFILES.find((name) => name === profile);
  if (profile !== undefined && known === undefined)
    throw new RangeError(`--profile: expected one of ${PROFILES.join(', ')}, got "${profile}"`);
  return known;
}

/** Returns the name of a campaign's results: those of the profile `live` stand apart. */
export function campaignName(name: string, profile: Profile | undefined): string {
  return profile === 'live' ? `${name}-live` : name;
}
