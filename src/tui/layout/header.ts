import { ageText, byteRateText, countText, roundTripText } from '../../proxy/admin/model/amounts.ts';
import { scoped, type TopState } from '../state/top-state.ts';
import { rateText } from '../text/amounts.ts';
import { safeText } from '../text/safe-text.ts';
import { fitPieces, lineWidth, type Piece } from './clip.ts';
import { type Line, type Span, span } from './span.ts';

const DAY_MS = 86_400_000;
/** A certificate that ends within that time is shown as something to do. */
const EXPIRY_WARNING_DAYS = 14;

/** The two lines on top: whom we look at and how fresh it is, then the sums. */
export function header(state: TopState): readonly Line[] {
  return [whoLine(state), sumLine(state)];
}

function whoLine(state: TopState): Line {
  const right = freshness(state);
  const rightWidth = lineWidth({ spans: right });
  const left = fitPieces(whoPieces(state), state.columns - rightWidth - 3, 3);
  const spans = join(left, '   ');
  const pad = Math.max(1, state.columns - 1 - lineWidth({ spans }) - rightWidth);
  return { spans: [span(' '), ...spans, span(' '.repeat(pad)), ...right] };
}

function whoPieces(state: TopState): Piece[] {
  const { servers, scope, nowMs } = state;
  const shown = scoped(state);
  const live = shown.filter(({ link }) => link.kind === 'live');
  const one = shown.length === 1 ? shown[0] : undefined;
  const info = one?.info ?? shown.find((server) => server.info !== undefined)?.info;
  const pieces: Piece[] = [{ priority: 6, spans: [span('konnectivity-ts top', 'strong')] }];
  if (one !== undefined) {
    pieces.push({ priority: 0, spans: [span(safeText(one.info?.id ?? one.address), 'strong')] });
  }
  if (info !== undefined && one !== undefined) {
    const up = ageText((nowMs - info.startedAt.getTime()) / 1_000);
    pieces.push({ priority: 4, spans: [span(`${safeText(info.version)} up ${up}`)] });
    if (info.stopping) pieces.push({ priority: 1, spans: [span('STOPPING', 'bad')] });
  }
  if (servers.length > 1) {
    const partial = live.length < shown.length;
    const text =
      scope === 'all' ? `${live.length}/${shown.length} servers` : `server ${scope + 1}/${servers.length}`;
    pieces.push({
      priority: 1,
      spans: [span(partial && live.length > 0 ? `${text} (partial)` : text, partial ? 'bad' : 'plain')],
    });
  }
  if (info !== undefined)
    pieces.push({ priority: 5, spans: [span(safeText(info.strategies.join(',')), 'quiet')] });
  const unserved = new Set(shown.flatMap((server) => server.info?.unservedStrategies ?? []));
  if (unserved.size > 0) {
    pieces.push({ priority: 2, spans: [span(`no agent for ${safeText([...unserved].join(','))}`, 'bad')] });
  }
  const expiry = expiryPiece(state);
  if (expiry !== undefined) pieces.push(expiry);
  const viewer = shown.some((server) => server.info?.caller.role === 'viewer');
  if (state.readOnly || viewer)
    pieces.push({ priority: 3, spans: [span(viewer ? 'viewer' : 'read-only', 'quiet')] });
  return pieces;
}

function expiryPiece(state: TopState): Piece | undefined {
  const ends = scoped(state).flatMap(({ info }) => info?.nextCertificateExpiry?.getTime() ?? []);
  if (ends.length === 0) return undefined;
  const days = Math.floor((Math.min(...ends) - state.nowMs) / DAY_MS);
  const urgent = days < EXPIRY_WARNING_DAYS;
  const left = ageText((Math.min(...ends) - state.nowMs) / 1_000);
  const text =
    days < 0
      ? 'A CERTIFICATE HAS EXPIRED'
      : `next cert expiry ${days < EXPIRY_WARNING_DAYS ? left : `${days}d`}`;
  return { priority: urgent ? 1 : 7, spans: [span(text, urgent ? 'bad' : 'quiet')] };
}

/** `live 1s`: how old the picture is, of several servers the oldest; when nobody answers, since when, and when we try again. */
function freshness(state: TopState): Span[] {
  const shown = scoped(state);
  const lost = shown.flatMap(({ link }) => (link.kind === 'live' ? [] : [link]));
  if (lost.length === 0) return [span(`live${liveAge(state)}`, 'good')];
  if (lost.length < shown.length) return [span(`${lost.length} of ${shown.length} not answering`, 'bad')];
  const retries = lost.flatMap(({ retryAtMs }) => retryAtMs ?? []);
  const inS = Math.ceil((Math.min(...retries) - state.nowMs) / 1_000);
  const retry = retries.length === 0 || inS <= 0 ? 'retrying' : `retrying in ${inS}s`;
  const since = lost.flatMap((link) => (link.kind === 'lost' ? [link.sinceMs] : []));
  if (since.length === 0) {
    return [
      span(
        retries.length === 0 ? 'connecting' : `not connected, ${retry}`,
        retries.length === 0 ? 'quiet' : 'bad',
      ),
    ];
  }
  return [span(`stale ${ageText((state.nowMs - Math.max(...since)) / 1_000)}, ${retry}`, 'bad')];
}

/** Seconds begun since the last word; a server says one every second, so that this stands still. */
function liveAge(state: TopState): string {
  const heard = scoped(state).flatMap(({ link }) => (link.kind === 'live' ? (link.heardMs ?? []) : []));
  if (heard.length === 0) return '';
  return ` ${ageText(Math.max(1, Math.ceil((state.nowMs - Math.min(...heard)) / 1_000)))}`;
}

function sumLine(state: TopState): Line {
  const counts = { ready: 0, draining: 0, drained: 0, gone: 0 };
  for (const { state: word } of state.agents.values()) counts[word]++;
  const totals = scoped(state).flatMap(({ info }) => info?.totals ?? []);
  const sum = (of: (one: (typeof totals)[number]) => number): number =>
    totals.reduce((total, one) => total + of(one), 0);
  const p99 = Math.max(0, ...scoped(state).flatMap(({ info }) => info?.dialP99Seconds ?? []));
  const failed = sum((one) => one.failedDialsTotal);
  const pieces: Piece[] = [
    {
      priority: 0,
      spans: [
        span(`${counts.ready} ready`, counts.ready > 0 ? 'good' : 'bad'),
        span(`  ${counts.draining} draining`, counts.draining > 0 ? 'busy' : 'quiet'),
        span(`  ${counts.drained} drained`, counts.drained > 0 ? 'done' : 'quiet'),
        span(`  ${counts.gone} gone`, 'quiet'),
      ],
    },
    {
      priority: 1,
      spans: [
        span(
          countText(
            sum((one) => one.tunnels),
            'tunnel',
          ),
        ),
      ],
    },
    {
      priority: 2,
      spans: [
        span(`${rateText(sum((one) => one.dialsPerSecond))} dials/s  `),
        span(`${failed} failed`, failed > 0 ? 'bad' : 'quiet'),
      ],
    },
  ];
  if (p99 > 0) pieces.push({ priority: 4, spans: [span(`dial p99 ${roundTripText(p99)}`)] });
  const toNode = byteRateText(sum((one) => one.bytesToNodePerSecond));
  const fromNode = byteRateText(sum((one) => one.bytesFromNodePerSecond));
  pieces.push({ priority: 3, spans: [span(`to nodes ${toNode}  from ${fromNode}`)] });
  return { spans: [span(' '), ...join(fitPieces(pieces, state.columns - 2, 3), '   ')] };
}

function join(pieces: readonly Piece[], gap: string): Span[] {
  return pieces.flatMap(({ spans }, i) => (i === 0 ? spans : [span(gap), ...spans]));
}
