import type { EmailConfig } from '../../config/notifications/channel-config.ts';
import { messageOf } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { plainMessage } from '../../core/text.ts';
import { bodyLines, headline } from './message-text.ts';
import type { Channel, Delivery } from './notification.ts';

const CONNECT_MS: Millis = 10_000;
const SILENCE_MS: Millis = 15_000;
const WHOLE_MS: Millis = 45_000;
const SUBJECT_MAX = 150;

/** Returns the channel that sends e-mail; each message has a connection of its own. */
export function createEmailChannel({ host, port, security, login, from, to }: EmailConfig): Channel {
  return {
    send: async (message, signal) => {
      // Loading it takes time, which only those pay who send e-mail.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        host, port, secure: security === 'tls', requireTLS: security === 'starttls', ignoreTLS: security === 'none',
        connectionTimeout: CONNECT_MS, greetingTimeout: SILENCE_MS, socketTimeout: SILENCE_MS, dnsTimeout: CONNECT_MS,
        disableFileAccess: true, disableUrlAccess: true,
        // A server that hangs must not keep the process open.
        socketCloseTimeout: 0,
        ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
      });
      const subject = headline(message);
      const ended = AbortSignal.any([signal, AbortSignal.timeout(WHOLE_MS)]);
      const sending = transport.sendMail({
        from, to: [...to],
        subject: `Gannet ${subject.length > SUBJECT_MAX ? `${subject.slice(0, SUBJECT_MAX)}…` : subject}`,
        text: [headline(message), ...bodyLines(message)].join('\n'),
        // The same in each attempt, so that mail programs can recognise a repetition.
        messageId: `<${message.id}@gannet.invalid>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: ended,
      }).then((): Delivery => ({ kind: 'sent' }), (error: unknown) => faultOf(error, { host, port }));
      const late = abandoned(ended);
      try {
        return await Promise.race([sending, late]);
      } finally {
        transport.close();
      }
    },
    close: () => Promise.resolve(),
  };
}

/** Resolves when the signal is aborted. */
function abandoned(signal: AbortSignal): Promise<Delivery> {
  const result: Delivery = { kind: 'failed', fault: 'no answer in time', mayHaveArrived: true };
  return new Promise((resolve) => {
    if (signal.aborted) resolve(result);
    signal.addEventListener('abort', () => { resolve(result); }, { once: true });
  });
}

/** Faults before the content of the message was on its way. */
const BEFORE_DATA = new Set(['EDNS', 'ECONNECTION', 'EAUTH', 'ENOAUTH', 'EENVELOPE', 'ETLS', 'EREQUIRETLS']);

function faultOf(error: unknown, { host, port }: Pick<EmailConfig, 'host' | 'port'>): Delivery {
  const { code, responseCode, command } = error as { code?: unknown; responseCode?: unknown; command?: unknown };
  const fault = plainMessage(messageOf(error), 200);
  const status = typeof responseCode === 'number' ? responseCode : 0;
  const isPassing = status >= 400 && status < 500;
  if ((code === 'EAUTH' || code === 'ENOAUTH') && !isPassing) {
    return {
      kind: 'refused', of: 'channel', fault: `the server refuses the login (${fault})`,
      remedy: 'check "user" and "password"; many providers want a password made for programs',
    };
  }
  const isUntrusted = /certificate|self.signed|altname|wrong version number/i.test(fault);
  if (code === 'ETLS' || code === 'EREQUIRETLS' || isUntrusted) {
    return {
      kind: 'refused', of: 'channel', fault: `no trusted encryption with ${host}:${port} (${fault})`,
      remedy: 'check "host", "port" and "security" (tls on 465, starttls on 587); a certificate of your own authority '
        + 'needs NODE_EXTRA_CA_CERTS',
    };
  }
  if (status >= 500) {
    return {
      kind: 'refused', of: code === 'EENVELOPE' ? 'channel' : 'message', fault: `the server refuses it (${fault})`,
      remedy: 'check "from" and "to", and whether the login may send from this address',
    };
  }
  const isBefore = BEFORE_DATA.has(String(code)) || command === 'CONN' || isPassing;
  return { kind: 'failed', fault, mayHaveArrived: !isBefore };
}
