import type { Mint, TokenTable } from '../market/token.ts';
import type { ProblemList } from './config-issue.ts';
import type { ConfigFile } from './config-schema.ts';
import type { ConfigNode, ConfigPath } from './config-tree.ts';
import { nodeAt } from './config-tree.ts';
import type { SignerConfig, StrategyConfig } from './run-config.ts';
import { watchedBy } from './run-config.ts';
import type { ProtectionEntry } from './protection-config.ts';

/** Returns whether a configuration moves real money: live, and not on the embedded service. */
export function movesRealMoney(
  { mode, service }: { readonly mode: string; readonly service: { readonly baseUrl: string } },
): boolean {
  return mode === 'live' && service.baseUrl !== 'embedded';
}

interface GateScope {
  readonly root: ConfigNode;
  readonly problems: ProblemList;
  /** Whether the command line says that real money may be moved; undefined where no run follows. */
  readonly consent: boolean | undefined;
  readonly protections: readonly (ProtectionEntry | undefined)[] | undefined;
  readonly signer: SignerConfig;
  readonly strategies: readonly StrategyConfig[];
  readonly tokens: TokenTable;
}

/**
 * Adds every reason not to trade live: a service and a chain that do not belong together, and on real ones whatever is
 * missing of limits, losses that stop it, caps, a key and the command line's word. All at once, each with what to add.
 */
export function checkLiveGate(sections: ConfigFile, scope: GateScope): void {
  const { mode, service, chain } = sections;
  const { problems } = scope;
  const unclear = [['mode'], ['service', 'base_url'], ['chain', 'rpc_url']].some((path) => problems.isFaulty(path));
  if (mode !== 'live' || unclear) return;
  const realService = service.base_url !== 'embedded';
  const realChain = chain.rpc_url !== 'embedded';
  if (realService !== realChain) {
    const [path, other] = realService ? [['service', 'base_url'], 'chain.rpc_url']
      : [['chain', 'rpc_url'], 'service.base_url'];
    refuse(problems, path, `live trading needs a service and a chain that belong together, but ${other} is embedded: `
      + 'make both embedded, or neither');
  } else if (realService) {
    refuseUnguarded(sections, scope);
  }
}

function refuseUnguarded(sections: ConfigFile, scope: GateScope): void {
  const { root, problems, consent, protections } = scope;
  if (consent === false) {
    refuse(problems, ['mode'], 'on a real service and chain this swaps real money, which the command line has to say '
      + 'too: add --live, as in "gannet run --live" (or write mode: paper)');
  }
  if (sections.wallet?.key_from === undefined && !problems.isFaulty(['wallet', 'key_from'])) {
    refuse(problems, ['wallet', 'key_from'], 'live trading signs with a key of yours: say where it is, wallet: { '
      + 'key_from: "env:GANNET_WALLET_KEY" } or "file:PATH"');
  }
  // A default is no decision of the operator: how much may be lost must stand in the file.
  const isMissing = (path: ConfigPath): boolean => nodeAt(root, path) === undefined && !problems.isFaulty(path);
  if (isMissing(['risk', 'max_trade'])) {
    refuse(
      problems, ['risk', 'max_trade'],
      'live trading needs a largest swap of your own: add max_trade: "200 USDC" to risk',
    );
  }
  if (isMissing(['risk', 'max_swaps'])) {
    refuse(problems, ['risk', 'max_swaps'], 'live trading needs a number of swaps of your own: add max_swaps: { '
      + 'per_minute: 6, per_hour: 60, per_day: 300 } to risk');
  }
  if (!(protections ?? []).some(isLossLimit) && !problems.isFaulty(['risk', 'protections'])) {
    refuse(problems, ['risk', 'protections'],
      'live trading needs a loss at which it stops: add { kind: daily_loss, limit: "50 USDC", action: halt } or { '
        + 'kind: max_drawdown, limit_pct: 10 } to risk.protections');
  }
  if (!problems.isFaulty(['signer'])) refuseUncapped(sections, scope);
}

/** A faulty entry may have been meant as a loss limit, and its fault is reported already. */
function isLossLimit(entry: ProtectionEntry | undefined): boolean {
  return entry === undefined || entry.kind === 'daily_loss' || entry.kind === 'max_drawdown';
}

function refuseUncapped(sections: ConfigFile, { problems, signer, strategies, tokens }: GateScope): void {
  const spendable = new Set<Mint>(Object.values(sections.tokens) as Mint[]);
  for (const { budget } of strategies) if (budget !== undefined) spendable.add(budget.mint);
  for (const { spec } of strategies.flatMap(watchedBy)) {
    if (spec.kind === 'quote') spendable.add(spec.inputMint).add(spec.outputMint);
  }
  for (const mint of spendable) {
    const token = tokens.byMint(mint);
    if (token === undefined || problems.isFaulty(['tokens', token.symbol])) continue;
    const cap = signer.caps.get(mint);
    if (cap === undefined) {
      refuse(problems, ['signer', 'caps', token.symbol],
        `on a real service the signer spends no token without a cap: add ${token.symbol}: { per_trade: "…", `
          + `per_hour: "…", per_day: "…" } to signer.caps, in whole ${token.symbol}`);
    } else if (cap.perHour === undefined && cap.perDay === undefined) {
      refuse(problems, ['signer', 'caps', token.symbol],
        'a cap of each trade alone bounds nothing in the long run, and the signer spends nothing under it: add '
          + `per_hour or per_day, in whole ${token.symbol}`);
    }
  }
}

function refuse(problems: ProblemList, path: ConfigPath, message: string): void {
  problems.add(path, message, { code: 'LIVE_REFUSED' });
}
