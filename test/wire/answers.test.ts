import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Answers } from '../../src/proxy/wire/answers.ts';
import { pong } from '../../src/proxy/wire/packets.ts';

it('answers that a peer does not read are bounded, and the bound begins anew when it reads', () => {
  let full = true;
  let tooMany = 0;
  const answers = new Answers(
    () => !full,
    () => tooMany++,
    100,
  );
  const fill = (): void => {
    for (let sent = 0; sent < 80; sent += 20) answers.send(pong(1));
  };
  fill();
  answers.drained();
  fill();
  assert.equal(tooMany, 0);
  full = false;
  fill();
  assert.equal(tooMany, 0);
  full = true;
  fill();
  fill();
  assert.ok(tooMany > 0);
});
