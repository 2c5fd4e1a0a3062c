import type { FastifyInstance } from 'fastify';
import type { RunMetrics, WatchedSession } from './run-metrics.ts';

/** What Prometheus reads. It is for machines, so it says nothing about the presence of an operator. */
export const METRICS_PATH = '/metrics';

/**
 * The paths that supervisors ask, without a token. They tell no amounts and nothing about what is traded. They answer
 * in every phase of a run.
 */
export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Adds the metrics, and the health for supervisors. HEAD is answered too. */
export function addMetrics(app: FastifyInstance, { metrics, controlPort }: {
  readonly metrics: RunMetrics;
  readonly controlPort: () => Pick<WatchedSession, 'health'> | undefined;
}): void {
  app.get(METRICS_PATH, async (_request, reply) => {
    const { contentType, text } = await metrics.scrape();
    return reply.type(contentType).send(text);
  });
  app.get('/healthz', async (_request, reply) => {
    const reasons = metrics.sickReasons();
    return reply.code(reasons.length === 0 ? 200 : 503).send({ ok: reasons.length === 0, reasons });
  });
  app.get('/readyz', async (_request, reply) => {
    const waits = controlPort()?.health.waits() ?? [{ reason: 'STARTING', text: 'the run is starting' }];
    return reply.code(waits.length === 0 ? 200 : 503).send({
      ready: waits.length === 0, reasons: waits.map(({ reason }) => reason), waits_for: waits.map(({ text }) => text),
    });
  });
}
