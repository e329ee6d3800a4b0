import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentTokens, type AgentTokensOptions } from '../../src/proxy/kubernetes/agent-tokens.ts';
import { KubeFault } from '../../src/proxy/kubernetes/kube-fault.ts';
import type { TokenReviewStatus } from '../../src/proxy/kubernetes/token-reviews.ts';
import type { TokenVerdict } from '../../src/proxy/kubernetes/token-verdict.ts';
import { type Deferred, deferred } from '../peers/deferred.ts';

const policy = { namespace: 'kube-system', serviceAccount: 'agent', audience: 'us' };
const good: TokenReviewStatus = {
  authenticated: true,
  user: { username: 'system:serviceaccount:kube-system:agent' },
  audiences: ['us'],
};
const bad: TokenReviewStatus = { authenticated: false, error: 'token is expired' };
const never = new AbortController().signal;

/** Reviews that a test answers, by hand or at once. */
class Reviewer {
  readonly asked: { token: string; audiences: readonly string[]; signal: AbortSignal }[] = [];
  readonly answers: Deferred<TokenReviewStatus | KubeFault>[] = [];
  answer: (token: string) => TokenReviewStatus | KubeFault | undefined = () => undefined;
  clockMs = 0;
  readonly tokens: AgentTokens;

  constructor(options: Partial<AgentTokensOptions> = {}) {
    this.tokens = new AgentTokens({ policy, reviews: this, now: () => this.clockMs, ...options });
  }

  async create(token: string, audiences: readonly string[], signal: AbortSignal) {
    this.asked.push({ token, audiences, signal });
    const later = deferred<TokenReviewStatus | KubeFault>();
    this.answers.push(later);
    const body = this.answer(token) ?? (await later.promise);
    if (body instanceof KubeFault) throw body;
    return { status: 201, body };
  }

  async check(token: string, signal = never): Promise<TokenVerdict> {
    return this.tokens.check([`Bearer ${token}`], signal);
  }
}

test('a token is reviewed once for all who bring it at the same time, and with our audience', async () => {
  const reviewer = new Reviewer();
  const checks = Array.from({ length: 1000 }, () => reviewer.check('t'));
  reviewer.answers[0]?.resolve(good);
  assert.ok((await Promise.all(checks)).every(({ kind }) => kind === 'accepted'));
  assert.deepEqual(
    reviewer.asked.map(({ token, audiences }) => [token, audiences]),
    [['t', ['us']]],
  );
  assert.deepEqual(reviewer.tokens.outcomes, { accepted: 1, refused: 0, unknown: 0 });
  assert.equal(reviewer.tokens.pending, 0);
});

test('an accepted token lives for its time, and is reviewed again after it', async () => {
  const reviewer = new Reviewer({ acceptedMs: 60_000 });
  reviewer.answer = () => good;
  await reviewer.check('t');
  // Revoked now.
  reviewer.answer = () => bad;
  reviewer.clockMs = 59_999;
  assert.equal((await reviewer.check('t')).kind, 'accepted');
  reviewer.clockMs = 60_000;
  assert.equal((await reviewer.check('t')).kind, 'refused');
  assert.equal(reviewer.asked.length, 2);
});

test('a refused token is refused for its time, and reviewed again after it', async () => {
  const reviewer = new Reviewer({ refusedMs: 5_000 });
  reviewer.answer = () => bad;
  await reviewer.check('t');
  reviewer.answer = () => good;
  reviewer.clockMs = 4_999;
  assert.equal((await reviewer.check('t')).kind, 'refused');
  reviewer.clockMs = 5_000;
  assert.equal((await reviewer.check('t')).kind, 'accepted');
});

test('while the API is down a known token lives on, and of others nobody can tell', async () => {
  const reviewer = new Reviewer();
  reviewer.answer = () => good;
  await reviewer.check('known');
  reviewer.answer = () => new KubeFault('kube-unreachable', 'nothing listens', { remedy: 'start it' });
  assert.equal((await reviewer.check('known')).kind, 'accepted');
  assert.deepEqual(await reviewer.check('other'), {
    kind: 'unknown',
    reason: 'the token cannot be checked: nothing listens; start it',
  });
  reviewer.answer = () => good;
  assert.equal((await reviewer.check('other')).kind, 'accepted');
});

test('one who gives up is let go, and the others get their verdict', async () => {
  const reviewer = new Reviewer();
  const stop = new AbortController();
  const leaving = reviewer.check('t', stop.signal);
  const staying = reviewer.check('t');
  await Promise.resolve();
  stop.abort();
  assert.equal((await leaving).kind, 'unknown');
  assert.equal(reviewer.asked[0]?.signal.aborted, false);
  reviewer.answers[0]?.resolve(good);
  assert.equal((await staying).kind, 'accepted');
});

test('a review that nobody waits for any more is given up, and a new one can begin', async () => {
  const reviewer = new Reviewer();
  const stop = new AbortController();
  const leaving = reviewer.check('t', stop.signal);
  await Promise.resolve();
  stop.abort();
  await leaving;
  assert.equal(reviewer.asked[0]?.signal.aborted, true);
  assert.equal(reviewer.tokens.pending, 0);
  const coming = reviewer.check('t');
  reviewer.answers[0]?.resolve(bad);
  reviewer.answers[1]?.resolve(good);
  assert.equal((await coming).kind, 'accepted');
  assert.equal((await reviewer.check('t')).kind, 'accepted');
});

test('more distinct tokens at once than the bound are sent away for now', async () => {
  const reviewer = new Reviewer({ mostReviews: 2 });
  const first = [reviewer.check('a'), reviewer.check('b')];
  assert.match(
    String(((await reviewer.check('c')) as { reason: string }).reason),
    /cannot be checked now: 2 others/,
  );
  const same = reviewer.check('a');
  for (const answer of reviewer.answers) answer.resolve(good);
  await Promise.all([...first, same]);
  reviewer.answer = () => good;
  assert.equal((await reviewer.check('c')).kind, 'accepted');
  assert.equal(reviewer.asked.length, 3);
});

test('of too many accepted tokens the oldest is forgotten, and refused ones crowd out none', async () => {
  const reviewer = new Reviewer({ mostAccepted: 2, mostRefused: 2 });
  reviewer.answer = (token) => (token.startsWith('good') ? good : bad);
  for (const token of ['good1', 'good2', 'good3', 'bad1', 'bad2', 'bad3']) await reviewer.check(token);
  assert.equal(reviewer.asked.length, 6);
  for (const token of ['good2', 'good3', 'bad2', 'bad3']) await reviewer.check(token);
  assert.equal(reviewer.asked.length, 6);
  await reviewer.check('good1');
  await reviewer.check('bad1');
  assert.equal(reviewer.asked.length, 8);
});

test('the white space of a Go agent that does not trim its file makes no other token', async () => {
  const reviewer = new Reviewer();
  reviewer.answer = () => good;
  await reviewer.check('t');
  await reviewer.check(' t ');
  assert.deepEqual(
    reviewer.asked.map(({ token }) => token),
    ['t'],
  );
});

for (const [name, values, words] of [
  ['no token', [], /no token was sent/],
  ['two tokens', ['Bearer a', 'Bearer b'], /2 authorization headers/],
  ['another scheme', ['Basic SECRET'], /no "Bearer TOKEN"/],
  ['an empty token', ['Bearer  '], /no "Bearer TOKEN"|empty/],
  ['an endless token', [`Bearer ${'S'.repeat(16 * 1024 + 1)}`], /longer than 16384/],
  ['a token with blanks', ['Bearer SECRET SECRET'], /characters that no token has/],
] as const) {
  test(`${name} is refused without asking`, async () => {
    const reviewer = new Reviewer();
    const verdict = await reviewer.tokens.check(values, never);
    assert.ok(verdict.kind === 'refused');
    assert.equal(verdict.why, 'no-token');
    assert.match(verdict.reason, words);
    assert.ok(!verdict.reason.includes('SECRET'));
    assert.equal(reviewer.asked.length, 0);
  });
}

const account = (username: string): TokenReviewStatus => ({ ...good, user: { username } });
for (const [name, status, why, words] of [
  [
    'is garbage',
    { authenticated: false, error: 'invalid bearer token' },
    'bad-token',
    /\(invalid bearer token\)/,
  ],
  ['is refused without a reason', {}, 'bad-token', /does not accept the token$/],
  [
    'is for another audience',
    {
      authenticated: false,
      error: '[invalid bearer token, token audiences ["x"] is invalid for the target audiences ["us"]]',
    },
    'wrong-audience',
    /not made for the audience us \(.*token audiences \["x"\]/,
  ],
  ['was accepted for another audience', { ...good, audiences: ['x'] }, 'wrong-audience', /audience us$/],
  [
    'was accepted by an API that ignores audiences',
    { ...good, audiences: undefined },
    'wrong-audience',
    /us$/,
  ],
  ['is accepted with an error', { ...good, error: 'hm' }, 'bad-token', /has doubts about the token \(hm\)/],
  [
    'is of another account',
    account('system:serviceaccount:kube-system:other'),
    'wrong-account',
    /belongs to system:serviceaccount:kube-system:other, and system:serviceaccount:kube-system:agent is expected/,
  ],
  [
    'is of another namespace',
    account('system:serviceaccount:default:agent'),
    'wrong-account',
    /default:agent/,
  ],
  ['is of a user', account('admin'), 'wrong-account', /belongs to admin/],
  ['has a longer account', account('system:serviceaccount:kube-system:agent:x'), 'wrong-account', /agent:x/],
  ['is of nobody', { ...good, user: undefined }, 'wrong-account', /belongs to nobody/],
] as const) {
  test(`a token that ${name} is refused with the true reason`, async () => {
    const reviewer = new Reviewer();
    reviewer.answer = () => status as TokenReviewStatus;
    const verdict = await reviewer.check('a.b.c');
    assert.ok(verdict.kind === 'refused');
    assert.equal(verdict.why, why);
    assert.match(verdict.reason, words);
  });
}

test('an API that repeats the token in its error does not make us tell it', async () => {
  const reviewer = new Reviewer();
  reviewer.answer = () => ({ authenticated: false, error: 'SECRET.TOKEN is bad\n' });
  const verdict = await reviewer.check('SECRET.TOKEN');
  assert.ok(verdict.kind === 'refused');
  assert.match(verdict.reason, /\(<token> is bad\\u000a\)/);
});

test('only a string is a name: what reads like the right account is refused', async () => {
  const name = 'system:serviceaccount:kube-system:agent';
  for (const username of [[name], { toString: 1 }, 1, null]) {
    const reviewer = new Reviewer();
    reviewer.answer = () => ({ ...good, user: { username } }) as unknown as TokenReviewStatus;
    const verdict = await reviewer.check('t');
    assert.equal(verdict.kind === 'refused' && verdict.why, 'wrong-account', JSON.stringify(username));
  }
});

test('an error of another shape is doubt, and breaks nothing', async () => {
  const reviewer = new Reviewer();
  reviewer.answer = () => ({ ...good, error: { toString: 1 } }) as unknown as TokenReviewStatus;
  assert.equal((await reviewer.check('t')).kind, 'refused');
});

test('a token that comes back as the name of its user is not shown', async () => {
  const reviewer = new Reviewer();
  reviewer.answer = () => ({ ...good, user: { username: 'opaque-token' } });
  assert.doesNotMatch(JSON.stringify(await reviewer.check('opaque-token')), /opaque/);
});

test('what is remembered of a refused token is short, however long the token and the words about it', async () => {
  const reviewer = new Reviewer();
  const token = 'x'.repeat(16_000);
  reviewer.answer = () => ({ authenticated: false, error: `no ${'such '.repeat(100_000)}token ${token}` });
  for (let look = 0; look < 2; look++) {
    const verdict = await reviewer.check(token);
    assert.ok(verdict.kind === 'refused' && verdict.reason.length < 500);
  }
  assert.equal(reviewer.asked.length, 1);
});
