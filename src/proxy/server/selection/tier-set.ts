import type { PoolMember } from './pool-member.ts';
import type { SelectableStream } from './stream-state.ts';

/** What a choice is made among: `size` streams, one for each agent ID. */
export interface Candidates {
  readonly size: number;
  /** The stream at a position from 0 to size - 1. */
  streamAt(position: number): SelectableStream;
}

// Most sets of a fleet of hosts are empty or hold one agent, and an array made for one takes a fifth of the room
// of an array grown by a first push. These two are never written to.
const NO_MEMBERS: PoolMember[] = [];
const NO_STREAMS: undefined[] = [];

/**
 * The agent IDs of one tier of a pool, as an array without gaps: adding, removing and reading a position are O(1),
 * and a uniform random position is a uniform random agent. Removal moves the last one into the gap. The position
 * is kept in the member, which is in one set at a time; a map in each set would cost a fleet of hosts megabytes.
 */
export class TierSet implements Candidates {
  // The size and the streams are beside the members so that a pick touches as little memory as it can: with 10,000
  // agents each further object on the way is a cache miss.
  #size = 0;
  #members: PoolMember[] = NO_MEMBERS;
  #streams: (SelectableStream | undefined)[] = NO_STREAMS;

  get size(): number {
    return this.#size;
  }

  streamAt(position: number): SelectableStream {
    return this.#streams[position] as SelectableStream;
  }

  memberAt(position: number): PoolMember {
    return this.#members[position] as PoolMember;
  }

  /** Adds a member that is in no set, under its present best stream. */
  add(member: PoolMember): void {
    member.position = this.#size++;
    if (member.position === 0) {
      this.#members = [member];
      this.#streams = [member.best?.stream];
    } else {
      this.#members.push(member);
      this.#streams.push(member.best?.stream);
    }
  }

  /** Takes note that a member of this set has another best stream. */
  update(member: PoolMember): void {
    this.#streams[member.position] = member.best?.stream;
  }

  /** Removes a member of this set. */
  delete(member: PoolMember): void {
    this.#size--;
    if (this.#size === 0) {
      this.#members = NO_MEMBERS;
      this.#streams = NO_STREAMS;
      return;
    }
    const last = this.#members.pop() as PoolMember;
    const stream = this.#streams.pop();
    if (last === member) return;
    this.#members[member.position] = last;
    this.#streams[member.position] = stream;
    last.position = member.position;
  }
}
