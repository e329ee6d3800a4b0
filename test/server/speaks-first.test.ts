import { it } from 'node:test';
import { readBanners } from '../peers/banners.ts';
import { startTunnel } from '../peers/tunnel.ts';

it('what a destination says first comes behind the 200 and its blank line, each of 300 times', async () => {
  const tunnel = await startTunnel();
  await readBanners(tunnel, 300);
  await tunnel.close();
});
