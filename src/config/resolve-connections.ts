import type { Amount, Lamports } from '../core/amount.ts';
import { lamports } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import { CONTROL_TOKENS, SECRET_BITS_MIN, SIGNALS_TOKEN, weaknessOf } from '../core/secret-strength.ts';
import { nearest } from '../core/text.ts';
import { parseDuration } from '../core/time.ts';
import type { Mint, Token } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { RatePlan } from '../service/rate/rate-plan.ts';
import { requestsPerSecond } from '../service/rate/rate-plan.ts';
import { dialectNames, loadDialect } from '../service/wire/dialect.ts';
import { hasWalletKeyForm } from '../signer/key-shape.ts';
import { isAddress } from '../solana/addresses.ts';
import type { ProblemList } from './config-issue.ts';
import { safeText } from './config-issue.ts';
import type { ConfigFile } from './config-schema.ts';
import type { EnvironmentRecord } from './interpolate.ts';
import { withheldVariable } from './interpolate.ts';
import type { AmountReader } from './resolve-tokens.ts';
import type {
  AllowanceConfig, ChainConfig, ControlConfig, KeySource, PriceGuardConfig, ServiceConfig, SignalsConfig, SignerConfig,
  StrategyConfig, WalletConfig,
} from './run-config.ts';
import { watchedBy } from './run-config.ts';
import { isLoopback } from './schema-fields.ts';
import type { SpendCap } from '../trading/limits.ts';
import type { ConfigPath } from './config-tree.ts';

interface SignerScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
}

type CapsEntry = NonNullable<ConfigFile['signer']>['caps'][string];
const SPANS = ['per_trade', 'per_hour', 'per_day'] as const;

/** Returns what the section "signer" allows, read as the signer's own process reads it. */
export function resolveSigner({ signer, risk, service }: ConfigFile, scope: SignerScope): SignerConfig {
  const priceGuard = resolvePriceGuard(signer?.price_guard, { risk, service });
  const allowances = resolveAllowances(signer, scope);
  if (signer === undefined) return { programs: [], destinations: [], caps: new Map(), priceGuard, allowances };
  refuseRepeated(['signer', 'programs'], signer.programs, scope.problems);
  refuseRepeated(['signer', 'destinations'], signer.destinations, scope.problems);
  const caps = new Map<Mint, SpendCap>();
  for (const [alias, entry] of Object.entries(signer.caps)) {
    const path = ['signer', 'caps', alias];
    const token = scope.amounts.token(path, alias, 'key');
    if (token !== undefined) caps.set(token.mint, resolveCaps(entry, { path, token }, scope));
  }
  return { programs: signer.programs, destinations: signer.destinations, caps, priceGuard, allowances };
}

/** As the signer's own process has them. */
const ALLOWED_FEES = {
  max_tip: { usual: 100_000n, most: 5_000_000n, mostText: '0.005 SOL' },
  max_priority_fee: { usual: 1_000_000n, most: 10_000_000n, mostText: '0.01 SOL' },
} as const;

function resolveAllowances(signer: ConfigFile['signer'], { amounts, problems }: SignerScope): AllowanceConfig {
  const read = (key: keyof typeof ALLOWED_FEES): Lamports => {
    const { usual, most, mostText } = ALLOWED_FEES[key];
    const path = ['signer', key];
    // No tips at all are a choice, no priority is not.
    const found = key === 'max_tip' ? amounts.withToken(path, signer?.[key]) : amounts.limit(path, signer?.[key]);
    const isTooMuch = found !== undefined && (found.mint !== SOL_MINT || found.amount > most);
    if (isTooMuch)
      problems.add(path, `expected an amount of SOL of at most "${mostText}", got "${safeText(signer![key]!, 60)}"`);
    return lamports(found === undefined || isTooMuch ? usual : found.amount);
  };
  return {
    maxTipLamports: read('max_tip'), maxPriorityFeeLamports: read('max_priority_fee'),
    feeAccounts: new Map(Object.entries(signer?.fee_accounts ?? {})),
  };
}

const MAX_DEVIATION_BPS = 5_000;
const QUOTES_PER_MINUTE = { real: 60, embedded: 60_000 } as const;

function resolvePriceGuard(
  guard: NonNullable<ConfigFile['signer']>['price_guard'] | undefined,
  { risk, service }: Pick<ConfigFile, 'risk' | 'service'>,
): PriceGuardConfig {
  const usual = risk.max_slippage_bps + risk.max_price_impact_bps;
  return {
    maxDeviationBps: guard?.max_deviation_bps ?? Math.min(Math.max(usual, 1), MAX_DEVIATION_BPS),
    quoteTtlMs: parseDuration(guard?.quote_ttl ?? '5s'),
    maxQuotesPerMinute: guard?.max_quotes_per_minute
      ?? QUOTES_PER_MINUTE[service.base_url === 'embedded' ? 'embedded' : 'real'],
  };
}

function resolveCaps(entry: CapsEntry, { path, token }: { readonly path: ConfigPath; readonly token: Token }, {
  amounts, problems,
}: SignerScope): SpendCap {
  if (SPANS.every((span) => entry[span] === undefined) && !problems.isFaulty(path)) {
    problems.add(path, 'expected at least one of per_trade, per_hour and per_day: without any, nothing is capped');
  }
  const read = (span: typeof SPANS[number]): Amount | undefined => {
    const text = entry[span];
    const cap = text === undefined ? undefined : amounts.ofToken([...path, span], text, token);
    if (cap === 0n)
      problems.add([...path, span], 'expected a cap above zero; what is not to be spent at all needs no strategy');
    return cap;
  };
  const caps = SPANS.map((span) => ({ span, cap: read(span) }))
    .filter((known): known is { span: typeof SPANS[number]; cap: Amount } => known.cap !== undefined);
  for (const [index, { span, cap }] of caps.entries()) {
    const larger = caps[index + 1];
    if (larger !== undefined && cap > larger.cap) {
      problems.add(
        [...path, larger.span], `expected at least what ${span} allows, ${entry[span]}, got ${entry[larger.span]}`,
      );
    }
  }
  const of = (span: typeof SPANS[number]): Amount | undefined => caps.find((known) => known.span === span)?.cap;
  return { perTrade: of('per_trade'), perHour: of('per_hour'), perDay: of('per_day') };
}

function refuseRepeated(path: ConfigPath, addresses: readonly string[], problems: ProblemList): void {
  for (const [index, address] of addresses.entries()) {
    const first = addresses.indexOf(address);
    if (first < index)
      problems.add([...path, index], `expected each address once, but it is that of position ${first} too`);
  }
}

/** The embedded service has no other clients. This limit is never reached, except by a runaway loop. */
export const EMBEDDED_PLAN: RatePlan = { requestsPerSecond: 1_000 };
const DEFAULT_SOL_RESERVE = lamports(50_000_000n) as bigint as Amount;

/** Adds the faults of a file for a run: in its connections, its wallet, and the access to the control API. */
export function checkForRun(
  sections: ConfigFile, { environment, problems }: { environment: EnvironmentRecord; problems: ProblemList },
): void {
  const { mode, service, wallet, control, signals } = sections;
  if (mode === 'paper' && service.base_url !== 'embedded' && wallet === undefined && !problems.isFaulty(['wallet'])) {
    problems.add(
      ['service', 'base_url'],
      'a real service needs a wallet to quote for: add "wallet: { address: … }"; on paper no key is needed',
    );
  }
  if (signals !== undefined && !control.enabled) {
    problems.add(['signals'], 'expected the control API, which takes signals: remove "control: { enabled: false }"',
      { at: 'key' });
  }
  if (!control.enabled) return;
  if (signals !== undefined) for (const fault of signalsTokenFaults(environment)) problems.add(['signals'], fault);
  if (!isLoopback(control.host) && (environment[CONTROL_TOKENS.operator] ?? '') === '') {
    problems.add(
      ['control', 'host'],
      `with "${control.host.slice(0, 60)}" others can reach the control API: set ${CONTROL_TOKENS.operator}, or write `
        + '127.0.0.1',
    );
  }
  for (const fault of controlTokenFaults(environment)) problems.add(['control'], fault);
}

/** Returns the section of the control API. */
export function resolveControl({ control }: ConfigFile, isPortGiven: boolean): ControlConfig {
  const { enabled, host, port, allowed_hosts: hosts, public_url: publicUrl, tls, trusted_proxies: proxies } = control;
  const named = publicUrl === undefined ? hosts : [...hosts, new URL(publicUrl).hostname];
  return {
    enabled, host, port, isPortGiven, publicUrl, tls, trustedProxies: proxies,
    allowedHosts: [...new Set(named.map((name) => name.toLowerCase()))],
  };
}

/** Returns the section of signals. */
export function resolveSignals({ signals }: ConfigFile): SignalsConfig | undefined {
  return signals === undefined ? undefined : { names: signals.names, tokenFile: signals.token_file };
}

/** Adds the strategies that wait for a signal that nothing may send. */
export function refuseUnknownSignals(
  names: readonly string[], strategies: readonly (StrategyConfig | undefined)[], problems: ProblemList,
): void {
  for (const [index, strategy] of strategies.entries()) {
    for (const { name, spec } of strategy === undefined ? [] : watchedBy(strategy)) {
      if (spec.kind !== 'signal' || names.includes(spec.name)) continue;
      const known = names.length === 0 ? '' : `, which are ${names.join(', ')}`;
      problems.add(['strategies', index], `its input "${safeText(name, 60)}" waits for the signal "${spec.name}", `
        + `which nothing may send: add it to signals.names${known}`);
    }
  }
}

/** Returns why the environment's token for signals is refused, for people and without any part of it. */
export function signalsTokenFaults(environment: EnvironmentRecord): string[] {
  const token = environment[SIGNALS_TOKEN] ?? '';
  const isShared = token !== '' && Object.values(CONTROL_TOKENS).some((name) => environment[name] === token);
  return [
    ...weakTokens([SIGNALS_TOKEN], environment),
    ...(isShared ? [`${SIGNALS_TOKEN}: expected a token of its own: it allows signals and nothing else`] : []),
  ];
}

function weakTokens(names: readonly string[], environment: EnvironmentRecord): string[] {
  return names.flatMap((name) => {
    const token = environment[name] ?? '';
    const weakness = token === '' ? undefined : weaknessOf(token);
    return weakness === undefined ? [] : [`${name}: expected at least ${SECRET_BITS_MIN} random bits, such as 32 `
      + `hexadecimal digits or 22 characters of base64url, but ${weakness}; "openssl rand -hex 32" makes a token, and `
      + 'without the variable each run makes its own'];
  });
}

/** Returns why tokens of the environment are refused, for people and without any part of them. */
export function controlTokenFaults(environment: EnvironmentRecord): string[] {
  const weak = weakTokens(Object.values(CONTROL_TOKENS), environment);
  const { operator, viewer } = CONTROL_TOKENS;
  const isShared = (environment[operator] ?? '') !== '' && environment[operator] === environment[viewer];
  return isShared ? [...weak, `${viewer}: expected another token than ${operator}: it only reads`] : weak;
}

/** Returns the service's part. */
export function resolveService(sections: ConfigFile, scope: {
  readonly environment: EnvironmentRecord; readonly withheld: readonly string[]; readonly problems: ProblemList;
  readonly dialectsDir: string;
}): ServiceConfig {
  const { environment, withheld, problems } = scope;
  const { service } = sections;
  const embedded = service.base_url === 'embedded';
  checkDialect(service, scope);
  const takesUsualKey = service.api_key === undefined && !embedded && service.plan !== 'keyless';
  const apiKey = takesUsualKey ? environment['GANNET_API_KEY'] || undefined : service.api_key;
  // Without this fault, the service would be asked with another identity.
  const isWithheld = takesUsualKey && apiKey === undefined && withheld.includes('GANNET_API_KEY');
  if (isWithheld) problems.add(['service', 'api_key'], withheldVariable('GANNET_API_KEY'));
  const plan = resolvePlan(sections, { hasKey: apiKey !== undefined, problems });
  return {
    baseUrl: service.base_url.replace(/\/+$/, ''),
    apiKey,
    dialect: service.dialect,
    plan,
    requestsPerSecond: requestsPerSecond(plan, 'main'),
    limited: !embedded || service.plan !== undefined || service.requests_per_second !== undefined,
  };
}

function resolvePlan(
  { service }: ConfigFile, { hasKey, problems }: { hasKey: boolean; problems: ProblemList },
): RatePlan {
  const { plan, requests_per_second: ownRate } = service;
  const embedded = service.base_url === 'embedded';
  if (plan !== undefined && ownRate !== undefined) {
    problems.add(
      ['service', 'requests_per_second'], 'expected either "plan" or "requests_per_second", got both', { at: 'key' },
    );
  }
  if (plan !== undefined && plan !== 'keyless' && !hasKey && !embedded && !problems.isFaulty(['service', 'api_key'])) {
    problems.add(['service', 'plan'], `the plan "${plan}" goes with an API key: set GANNET_API_KEY and write api_key: `
      + `\${GANNET_API_KEY}, or take the plan "keyless"`);
  }
  if (ownRate !== undefined) return { requestsPerSecond: ownRate };
  if (plan !== undefined) return plan;
  if (embedded) return EMBEDDED_PLAN;
  return hasKey ? 'free' : 'keyless';
}

/** Adds the faults of a dialect that is missing, invalid, or not the one of the named host. */
function checkDialect({ dialect: name, base_url: baseUrl }: ConfigFile['service'], { dialectsDir, problems }: {
  dialectsDir: string; problems: ProblemList;
}): void {
  const path = ['service', 'dialect'];
  const known = dialectNames(dialectsDir);
  if (!known.includes(name)) {
    const close = nearest(name, known);
    problems.add(path, `there is no dialect "${name}" in `
      + `config/dialects${close === undefined ? '' : ` (did you mean "${close}"?)`}; known are ${known.join(', ')}`);
    return;
  }
  const host = baseUrl === 'embedded' ? undefined : new URL(baseUrl).hostname.replace(/\.$/, '');
  try {
    // Read here already, so that an invalid dialect is a fault of the configuration, not of the start.
    const speakers = (host === undefined ? [name] : known)
      .filter((dialect) => loadDialect(dialect, dialectsDir).hosts.some((spoken) => spoken === host));
    if (host === undefined || speakers.length === 0 || speakers.includes(name)) return;
    problems.add(path, `the host of service.base_url speaks the dialect "${speakers.join('" and "')}", not "${name}": `
      + `write dialect: ${speakers[0]}`);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    problems.add(path, error.message);
  }
}

const ROUTERS = ['iris', 'rfqz', 'routerA', 'routerB'];

/** Returns the neutral names of a dialect's routers; those of the service's description where it cannot be read. */
export function knownRouters(dialect: string, dialectsDir: string): readonly string[] {
  try {
    const { routers } = loadDialect(dialect, dialectsDir);
    return routers.length === 0 ? ROUTERS : routers;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return ROUTERS;
  }
}

/** Returns the chain's part. */
export function resolveChain({ chain }: ConfigFile, problems: ProblemList): ChainConfig {
  if (chain.commitment !== 'confirmed') {
    problems.add(['chain', 'commitment'], 'this version waits for "confirmed" and nothing else yet: remove the key');
  }
  const { rpc_url: rpcUrl, further_rpc_urls: furtherRpcUrls, ws_url: wsUrl } = chain;
  const path = ['chain', 'further_rpc_urls'];
  if (furtherRpcUrls.length > 0 && rpcUrl === 'embedded' && !problems.isFaulty(['chain', 'rpc_url']))
    problems.add(path, 'the embedded chain has one node: write the address of the first node as chain.rpc_url');
  for (const [index, url] of furtherRpcUrls.entries()) {
    // A node cannot confirm its own answers.
    if ([rpcUrl, ...furtherRpcUrls.slice(0, index)].some((other) => isSameNode(url, other)))
      problems.add([...path, index], 'expected each node once, but this address is given twice (not shown)');
  }
  if (wsUrl !== undefined && wsUrl !== 'off' && rpcUrl === 'embedded' && !problems.isFaulty(['chain', 'rpc_url']))
    problems.add(['chain', 'ws_url'], 'the embedded chain has its own: remove the key, or write "off"');
  return { rpcUrl, furtherRpcUrls, wsUrl, commitment: 'confirmed' };
}

function isSameNode(url: string, other: string): boolean {
  return URL.canParse(url) && URL.canParse(other) && new URL(url).href === new URL(other).href;
}

/** Returns the wallet's part: where its key is, never the key. */
export function resolveWallet(
  { wallet }: ConfigFile, { amounts, problems }: { amounts: AmountReader; problems: ProblemList },
): WalletConfig {
  const reservePath = ['wallet', 'sol_reserve'];
  const reserve = amounts.withToken(reservePath, wallet?.sol_reserve);
  if (reserve !== undefined && reserve.mint !== SOL_MINT)
    problems.add(reservePath, `expected an amount of SOL such as "0.05 SOL", got "${wallet?.sol_reserve}"`);
  const keyFrom = wallet?.key_from === undefined ? undefined : keySource(wallet.key_from);
  if (keyFrom === 'unclear') {
    problems.add(['wallet', 'key_from'],
      'expected "env:NAME" or "file:PATH", which say where the key is; the key itself never stands in a configuration '
        + '(what was found is not shown)');
  }
  return { keyFrom: keyFrom === 'unclear' ? undefined : keyFrom, address: wallet?.address, solReserve: reserve?.amount
    ?? DEFAULT_SOL_RESERVE };
}

function keySource(text: string): KeySource | 'unclear' {
  const [, kind, place = ''] = /^(env|file):(.+)$/s.exec(text) ?? [];
  // A seed of 32 bytes has the form of an address: no name of a variable or a file has that form.
  if (place === '' || hasWalletKeyForm(place) || isAddress(place)) return 'unclear';
  if (kind === 'file') return { kind, path: place };
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(place) ? { kind: 'env', name: place } : 'unclear';
}
