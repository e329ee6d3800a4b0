import type { Registry } from 'prom-client';
import { PlainHistogram } from './plain-histogram.ts';
import { ScrapedMetrics } from './scraped-metrics.ts';

const SAMPLE_MS = 100;
const DELAY_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * What server and agent tell of themselves under konnectivity_ts_: the build, and how late the event loop is, which is
 * by how much every packet waits.
 * @returns stops measuring
 */
export function ownMetrics(registry: Registry, version: string): () => void {
  const metrics = new ScrapedMetrics(registry, 'konnectivity_ts_');
  const labels = { version, node: process.versions.node };
  metrics.gauges('build_info', 'Always 1; the labels tell the versions.', () => [{ labels, value: 1 }]);
  const delay = new PlainHistogram(DELAY_SECONDS);
  let dueMs = performance.now() + SAMPLE_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + SAMPLE_MS;
  }, SAMPLE_MS).unref();
  metrics.histogram(
    'event_loop_delay_seconds',
    'How late a timer fired, sampled every 100 ms: time in which the process did nothing else.',
    delay,
  );
  return () => clearInterval(timer);
}
