/** So many of a kind and no other make an old kube-apiserver unlikely: it makes a connection for each dial. */
const ENOUGH = 32;

/**
 * Whether the openings of a socket's connections are looked at (accept-http2-preface.ts). That takes a fifth of what a
 * dial costs, and only clients of Kubernetes up to 1.28 need it. So it ends after 32 in a row that did not; it never
 * ends where one did. An old client that comes only then loses its first dial: what is seen of it is a connection
 * without a call, after which openings are looked at again.
 */
export class OpeningWatch {
  #clean = 0;
  #mended = false;

  get on(): boolean {
    return this.#mended || this.#clean < ENOUGH;
  }

  /** An opening was looked at. @param mended whether it had to be changed */
  looked(mended: boolean): void {
    this.#clean++;
    if (mended) this.#mended = true;
  }

  /** A connection that was not looked at ended, and no call ever came. */
  unused(): void {
    this.#clean = 0;
  }
}
