// Ink cuts texts that reach out of their box with it; none of ours do. It makes itself a segmenter when it is loaded,
// which takes some 7 ms of the start of `top`.
let loaded;

module.exports = (...args) => {
  loaded ??= require('../node_modules/slice-ansi/index.js').default;
  return loaded(...args);
};
