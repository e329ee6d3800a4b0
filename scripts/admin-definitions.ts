// Writes src/proxy/admin/messages/definitions.json, what the codec of the admin API knows of proto/admin.proto. Run it
// after each change of that file; a test holds the two together.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { adminDefinitions } from './admin-proto.ts';

const file = 'src/proxy/admin/messages/definitions.json';
writeFileSync(file, JSON.stringify(adminDefinitions()));
execFileSync('npx', ['biome', 'format', '--write', file], { stdio: 'inherit' });
