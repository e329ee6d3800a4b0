// string-width makes its Unicode tables when it is loaded, a fifth of the start of a command, and looks at every text
// grapheme by grapheme. Bundled commands load it with the first text that needs it. Neither does one of characters that
// have one cell each (the same that src/tui/text/safe-text.ts knows), painted or not.
const COLOURS = /\u001b\[[\d;]*m/g;
const NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u25ff\u2715]*$/;
let loaded;

module.exports = (text, options) => {
  if (typeof text === 'string' && !options?.countAnsiEscapeCodes) {
    const bare = text.includes('\u001b') ? text.replace(COLOURS, '') : text;
    if (NARROW.test(bare)) return bare.length;
  }
  loaded ??= require('../node_modules/string-width/index.js').default;
  return loaded(text, options);
};
