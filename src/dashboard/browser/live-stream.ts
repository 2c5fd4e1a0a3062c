import type { Millis } from '../../core/time.ts';
import type { PageStarting, PageState, Story } from '../page-state.ts';
import { ApiError, currentApi } from './page-api.ts';

/** Whether the page hears from the daemon. */
export type Connection =
  | { readonly kind: 'open' }
  | { readonly kind: 'connecting' | 'lost'; readonly since: Millis };

/** Who hears of what the daemon sends. */
interface StreamPorts {
  readonly onState: (state: PageState | PageStarting) => void;
  readonly onStory: (story: Story) => void;
  readonly onConnection: (connection: Connection) => void;
  /** The login has ended. */
  readonly onLoggedOut: () => void;
}

const FIRST_RETRY_MS = 1_000;
const MOST_RETRY_MS = 15_000;
/** The page's own clock stands still this long while the device sleeps. */
const SLEPT_MS = 20_000;
/** As long without a word, the page asks whether the daemon is still there. */
const SILENT_MS = 45_000;

/** Listens to the daemon until the page is closed. It connects again by itself, also after the device has slept. */
export function openStream({ onState, onStory, onConnection, onLoggedOut }: StreamPorts): { retry: () => void } {
  let source: EventSource | undefined;
  let retryMs = FIRST_RETRY_MS;
  let heardAt = Date.now();
  let tickedAt = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isChecking = false;

  const connect = (): void => {
    clearTimeout(timer);
    source?.close();
    onConnection({ kind: 'connecting', since: heardAt });
    const opened = new EventSource('/api/events');
    source = opened;
    opened.addEventListener('open', () => {
      retryMs = FIRST_RETRY_MS;
      heardAt = Date.now();
      onConnection({ kind: 'open' });
    });
    opened.addEventListener('state', ({ data }: MessageEvent<string>) => {
      heardAt = Date.now();
      onState(JSON.parse(data) as PageState | PageStarting);
    });
    opened.addEventListener('story', ({ data }: MessageEvent<string>) => {
      heardAt = Date.now();
      onStory(JSON.parse(data) as Story);
    });
    opened.addEventListener('error', () => {
      if (source !== opened) return;
      opened.close();
      onConnection({ kind: 'lost', since: heardAt });
      timer = setTimeout(() => { void again(); }, retryMs);
      retryMs = Math.min(MOST_RETRY_MS, retryMs * 2);
    });
  };

  /** An event source does not tell why it ended: the session does. */
  const again = async (): Promise<void> => {
    try {
      if (await currentApi() === undefined) onLoggedOut();
      else connect();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      onConnection({ kind: 'lost', since: heardAt });
      timer = setTimeout(() => { void again(); }, retryMs);
      retryMs = Math.min(MOST_RETRY_MS, retryMs * 2);
    }
  };

  const check = async (): Promise<void> => {
    const now = Date.now();
    const hasSlept = now - tickedAt > SLEPT_MS;
    tickedAt = now;
    if (hasSlept) {
      connect();
      return;
    }
    if (now - heardAt < SILENT_MS || isChecking || source?.readyState !== EventSource.OPEN) return;
    isChecking = true;
    try {
      if (await currentApi() === undefined) onLoggedOut();
      else heardAt = Date.now();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      connect();
    } finally {
      isChecking = false;
    }
  };

  setInterval(() => { void check(); }, 5_000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) void check(); });
  window.addEventListener('online', connect);
  connect();
  return { retry: connect };
}
