// Writes dist/log-lines.json: the source file and line of every log call by its place in the bundle, so that log lines
// can name them without the source maps.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { replaceFile } from './write-bundle.mjs';

/** @param dist the folder of the bundle, with its source maps */
export function writeLogLines(dist) {
  const table = {};
  const files = readdirSync(dist, { recursive: true }).map((name) => `${dist}/${name}`);
  for (const file of files.filter((name) => /\.c?js$/.test(name) && existsSync(`${name}.map`))) {
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    for (const [index, text] of readFileSync(file, 'utf8').split('\n').entries()) {
      // V8 gives a call the column of the method's name.
      for (const call of text.matchAll(/\.(info|warning|error|warn|failed|worked)\(/g)) {
        const column = call.index + 1;
        const { originalSource, originalLine } = map.findEntry(index, column);
        if (!originalSource?.includes('src/') || originalSource.includes('node_modules')) continue;
        table[`${basename(file)}:${index + 1}:${column + 1}`] =
          `${originalSource.split('/').slice(-2).join('/')}:${originalLine + 1}`;
      }
    }
  }
  replaceFile(`${dist}/log-lines.json`, JSON.stringify(table));
}
