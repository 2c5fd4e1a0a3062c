import type { Zone } from '../../web/time-text.ts';

/** The colours of the page: those of the device, or one scheme. */
export type Scheme = 'auto' | 'light' | 'dark';

const ZONE_KEY = 'gannet-zone';
const SCHEME_KEY = 'gannet-scheme';

/** What a reader has chosen on this device. */
export const preferences: { zone: Zone; scheme: Scheme } = { zone: 'local', scheme: 'auto' };

/** Reads what was chosen before, and applies it. */
export function loadPreferences(): void {
  const zone = readKey(ZONE_KEY);
  const scheme = readKey(SCHEME_KEY);
  if (zone === 'utc' || zone === 'local') preferences.zone = zone;
  if (scheme === 'light' || scheme === 'dark') preferences.scheme = scheme;
  applyScheme();
}

/** Keeps the clock that times are shown in. */
export function chooseZone(zone: Zone): void {
  preferences.zone = zone;
  writeKey(ZONE_KEY, zone);
}

/** Keeps and applies the colours. */
export function chooseScheme(scheme: Scheme): void {
  preferences.scheme = scheme;
  writeKey(SCHEME_KEY, scheme);
  applyScheme();
}

function applyScheme(): void {
  document.documentElement.setAttribute('data-scheme', preferences.scheme);
}

/** A browser may refuse its storage: then a choice lasts as long as the page. */
function readKey(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function writeKey(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice holds until the page is closed.
  }
}
