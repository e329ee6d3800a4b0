import { StringDecoder } from 'node:string_decoder';
import type { Key, KeyName } from './key.ts';

const ESC = '\u001b';
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;
const CTRL_C = '\u0003';
/** A longer paste is dropped whole, an endless sequence at its start. */
const MAX_HELD = 64 * 1024;

const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0001': 'ctrl-a',
  '\u0003': 'ctrl-c',
  '\u0005': 'ctrl-e',
  '\u000b': 'ctrl-k',
  '\u000c': 'ctrl-l',
  '\u0015': 'ctrl-u',
  '\u0017': 'ctrl-w',
  '\u001a': 'ctrl-z',
};
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift-tab',
  '1~': 'home',
  '7~': 'home',
  '4~': 'end',
  '8~': 'end',
  '3~': 'delete',
  '5~': 'page-up',
  '6~': 'page-down',
};

/** Turns what a terminal sends into keys. A sequence or a character that a read cut in two is held until the next. */
export class KeyReader {
  readonly #decoder = new StringDecoder('utf8');
  #held = '';
  /** The paste that is arriving is too long: what is held of it is only what may be the start of its end. */
  #tooLong = false;

  /** Whether an escape waits for what may follow it; see `flush`. */
  get waiting(): boolean {
    return this.#held !== '' && !this.#held.startsWith(PASTE_START);
  }

  /** The keys of one read. */
  read(chunk: Buffer): Key[] {
    const text = this.#decoder.write(chunk);
    // A paste whose end got lost must not keep the keyboard for ever; its text does not come as one control character.
    if (text === CTRL_C && this.#held.startsWith(PASTE_START)) {
      this.#held = '';
      this.#tooLong = false;
    }
    this.#held += text;
    const keys: Key[] = [];
    for (;;) {
      const taken = this.#take(keys);
      if (taken === 0) break;
      this.#held = this.#held.slice(taken);
    }
    if (this.#held.length > MAX_HELD) {
      // Cut anywhere, the rest of a paste would be keys.
      this.#tooLong = this.#held.startsWith(PASTE_START);
      this.#held = this.#tooLong ? `${PASTE_START}${this.#held.slice(1 - PASTE_END.length)}` : '';
    }
    return keys;
  }

  /** Nothing followed: a lone escape is the key itself, anything else that was begun is dropped. */
  flush(): Key[] {
    if (!this.waiting) return [];
    const lone = this.#held === ESC;
    this.#held = '';
    return lone ? [{ kind: 'named', name: 'escape' }] : [];
  }

  /** Reads one key from the start of what is held. @returns the characters that it took; 0: more is needed */
  #take(keys: Key[]): number {
    const held = this.#held;
    if (held === '') return 0;
    if (held[0] !== ESC) return takeText(held, keys);
    if (held.startsWith(PASTE_START)) {
      const end = held.indexOf(PASTE_END);
      if (end < 0) return 0;
      keys.push({ kind: 'paste', text: this.#tooLong ? '' : held.slice(PASTE_START.length, end) });
      this.#tooLong = false;
      return end + PASTE_END.length;
    }
    if (held.length === 1) return 0;
    if (held[1] === ESC) {
      keys.push({ kind: 'named', name: 'escape' });
      return 1;
    }
    if (held[1] !== '[' && held[1] !== 'O') {
      // Alt and a key: no key of ours, and not the key alone either.
      keys.push({ kind: 'named', name: 'unknown' });
      return 1 + String.fromCodePoint(held.codePointAt(1) ?? 0).length;
    }
    const match = held[1] === 'O' ? /^.{2}(.)/su.exec(held) : /^.{2}([0-?]*[ -/]*[@-~])/su.exec(held);
    if (match === null) {
      // Either cut in two, or no sequence at all.
      if (/^\u001b(\[[ -?]*|O)$/.test(held)) return 0;
      keys.push({ kind: 'named', name: 'unknown' });
      return 2;
    }
    keys.push({ kind: 'named', name: SEQUENCES[match[1] ?? ''] ?? 'unknown' });
    return match[0].length;
  }
}

function takeText(held: string, keys: Key[]): number {
  const character = String.fromCodePoint(held.codePointAt(0) ?? 0);
  const control = CONTROLS[character];
  if (control !== undefined) keys.push({ kind: 'named', name: control });
  else if (/^\p{Cc}$/u.test(character)) keys.push({ kind: 'named', name: 'unknown' });
  else keys.push({ kind: 'text', text: character });
  return character.length;
}
