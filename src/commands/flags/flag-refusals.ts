import { Fault } from '../../proxy/ops/fault.ts';

/** Everything that is wrong with an argument list, so that it is mended in one go. `line` has a line for each. */
export class FlagRefusals extends Fault {
  readonly refusals: readonly Fault[];

  /** @param refusals at least one */
  constructor(refusals: readonly Fault[]) {
    const [first] = refusals as readonly [Fault];
    super(first.code, first.message, first.remedy);
    this.name = 'FlagRefusals';
    this.refusals = refusals;
  }

  override get line(): string {
    return this.refusals.map((refusal) => refusal.line).join('\n');
  }
}
