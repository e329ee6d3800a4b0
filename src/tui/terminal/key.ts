/** One key press, or a bracketed paste, as the terminal sent it. */
export type Key =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'named'; readonly name: KeyName }
  | { readonly kind: 'paste'; readonly text: string };

export type KeyName =
  | 'enter'
  | 'escape'
  | 'tab'
  | 'shift-tab'
  | 'backspace'
  | 'delete'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  | 'ctrl-a'
  | 'ctrl-c'
  | 'ctrl-e'
  | 'ctrl-k'
  | 'ctrl-l'
  | 'ctrl-u'
  | 'ctrl-w'
  | 'ctrl-z'
  | 'unknown';
