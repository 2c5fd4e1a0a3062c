import { resolve } from 'node:path';
import type { ConnectionSettings } from '../../config/resolve-config.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { isGannetError } from '../../core/errors.ts';
import { addressSecrets, createRedaction } from '../../core/redaction.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { openJournalView } from '../../store/journal-reader.ts';
import { journalPath } from '../files/find-run.ts';
import { examineNode } from './chain-checks.ts';
import type { Check, DoctorScope } from './check.ts';
import { CHECK_GROUPS, checksOf, within } from './check.ts';
import type { ExaminedConfig } from './config-checks.ts';
import { examineConfig } from './config-checks.ts';
import { exclusiveChecks, findDaemon } from './daemon-checks.ts';
import { examineKey } from './key-checks.ts';
import { machineChecks } from './machine-checks.ts';
import { tokenChecks, walletChecks } from './money-checks.ts';
import { serviceChecks } from './service-probe.ts';
import { stateChecks } from './state-checks.ts';

/** The bound of what waits for the node. The service has one of its own, so that both take less than 15 s. */
const NODE_WITHIN_MS: Millis = 8_000;

/**
 * Examines the machine, the configuration, the key, the state, a running daemon, the service, the chain and the wallet.
 * Nothing of them is changed, no lock is taken, and no secret is in a result. Results are in the order of the groups.
 */
export async function examine(scope: DoctorScope): Promise<readonly Check[]> {
  const examined = await examineConfig(scope);
  const { config, settings } = examined;
  const daemon = await findDaemon(scope);
  const key = config === undefined ? { checks: [], address: undefined } : await examineKey(scope, config);
  const { address } = key;
  const network = scope.offline ? [checksOf('chain').ok('rpc', 'not asked: --offline')]
    : await within(networkChecks(scope, examined, address), NODE_WITHIN_MS, () => [late()]);
  const folders = [scope.stateDir, ...(config?.recording.enabled === true ? [config.recording.dir] : [])]
    .map((folder) => resolve(scope.workingDir, folder));
  const checks = [
    ...machineChecks(scope.machine, folders), ...examined.checks, ...key.checks,
    ...await stateChecks({ ...scope, runConfig: config, address, isDaemonRunning: daemon.isRunning }),
    ...daemon.checks, ...(config === undefined ? [] : await exclusiveChecks(daemon, { config, address })),
    ...(settings === undefined ? [] : serviceChecks(settings, examined.probe)), ...network,
  ];
  const redact = createRedaction(secretsOf(scope, settings), '[hidden]');
  return CHECK_GROUPS.flatMap((group) => checks.filter((check) => check.group === group)).map((check) => ({
    ...check, message: redact(check.message), ...(check.fix === undefined ? {} : { fix: redact(check.fix) }),
  }));
}

function late(): Check {
  return checksOf('chain').fault('rpc', `no answer within ${formatDuration(NODE_WITHIN_MS)}`,
    'check chain.rpc_url and the network, or see what is not asked over it with "gannet doctor --offline"');
}

/** Asks every node, and compares the answers of the first that gives any with the configuration. */
async function networkChecks(
  scope: DoctorScope, { config, settings, probe }: ExaminedConfig, address: string | undefined,
): Promise<Check[]> {
  if (settings === undefined) return [];
  const { chain: { rpcUrl, furtherRpcUrls }, service: { baseUrl } } = settings;
  const { ok } = checksOf('chain');
  if (rpcUrl === 'embedded') return [ok('rpc', 'the embedded chain, which each run starts itself')];
  const nodes = await Promise.all([rpcUrl, ...furtherRpcUrls].map((url) =>
    examineNode({ rpcUrl: url, realService: baseUrl !== 'embedded', address, clock: scope.clock })));
  const chain = nodes.find((node) => node.chain !== undefined)?.chain;
  const checks = nodes.flatMap((node, index) => (index === 0 ? node.checks : node.checks.map(ofFurtherNode)));
  try {
    const [money, tokens] = config === undefined ? [[], []] : await Promise.all([
      chain === undefined || address === undefined || config.mode === 'paper' ? []
        : walletChecks({ config, chain, address, books: booksOf(scope, config) }),
      probe?.records === undefined ? [] : tokenChecks({ config, chain, records: probe.records }),
    ]);
    return [...checks, ...money, ...tokens];
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
}

function ofFurtherNode(check: Check): Check {
  return check.fix === undefined ? check
    : { ...check, fix: check.fix.replaceAll('chain.rpc_url', 'chain.further_rpc_urls') };
}

/** A journal that cannot be read is a result of the checks of the state. */
function booksOf(scope: DoctorScope, { mode }: RunConfig): Parameters<typeof walletChecks>[0]['books'] {
  try {
    const view = openJournalView(journalPath(resolve(scope.workingDir, scope.stateDir), mode));
    const books = view?.loadSnapshot()?.books ?? {};
    view?.close();
    return books;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return {};
  }
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|URL/i;
/** A shorter text is no secret, and hiding it would damage messages. */
const SHORTEST_SECRET = 8;

function secretsOf({ environment, overrides }: DoctorScope, settings: ConnectionSettings | undefined): string[] {
  const named = Object.entries(environment).flatMap(([name, value = '']) =>
    (SECRET_NAME.test(name) ? [value, ...addressSecrets(value)] : []));
  const { chain, service } = settings ?? {};
  const urls = [chain?.rpcUrl, ...chain?.furtherRpcUrls ?? [], chain?.wsUrl, service?.baseUrl, overrides.rpcUrl]
    .flatMap((url) => (url === undefined ? [] : addressSecrets(url)));
  // An address itself is no secret, only parts of it.
  return [...named.filter((value) => !URL.canParse(value)), ...urls, settings?.service.apiKey ?? '']
    .filter((secret) => secret.length >= SHORTEST_SECRET);
}
