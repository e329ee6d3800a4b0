// string-width makes its Unicode tables when it is loaded, which is a fifth of the start of a command. Bundled commands
// load it with the first text that is not plain ASCII; plain ASCII is as wide as it is long.
const plain = /^[\x20-\x7e]*$/;
let loaded;

module.exports = (text, options) => {
  if (typeof text === 'string' && plain.test(text)) return text.length;
  loaded ??= require('../node_modules/string-width/index.js').default;
  return loaded(text, options);
};
